"""What the kernel refuses.

KernelError
└── NotEnabled    a step was told to fire that does not hold what it needs
"""

from __future__ import annotations


class KernelError(Exception):
    """The kernel was asked for something that its rules do not allow."""

    code = "kernel"


class NotEnabled(KernelError):
    """The step does not hold what it needs, so it cannot fire."""

    code = "not_enabled"

    def __init__(self, step: str) -> None:
        super().__init__(f"step '{step}' cannot fire: not every slot holds what it needs")
        self.step = step
