"""The interpreter's switch interval, shortened while rows are written next to a loop that decides."""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType

SWITCH_INTERVAL = 0.0001
"""Seconds after which a thread that waits for the interpreter gets it. A batch is few statements, and after each of
them the writing thread must have it for a moment: by Python's own measure it would wait for most of its time."""


ROUNDING = 0.0000005
"""Half of the microsecond to which Python rounds down; without it, the interval would shrink now and then."""


class ShortSwitchInterval:
    """Turns are short as long as anybody is in here; what they were before is how they are again afterwards.

    Not always: threads that compute would take turns all the time, and each change of hands costs.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._inside = 0
        self._before = 0.0

    def __enter__(self) -> None:
        with self._guard:
            self._inside += 1
            if self._inside == 1:
                self._before = sys.getswitchinterval()
                sys.setswitchinterval(min(SWITCH_INTERVAL, self._before))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._guard:
            self._inside -= 1
            if self._inside == 0:
                sys.setswitchinterval(self._before + ROUNDING)

    def forget(self) -> None:
        """In a fork: whoever was inside is not there and never leaves, and may have held the guard."""
        self._guard = threading.Lock()
        if self._inside:
            self._inside = 0
            sys.setswitchinterval(self._before + ROUNDING)


SHORT_SWITCH_INTERVAL = ShortSwitchInterval()
"""That of the process: all stores share it, as they share the interpreter."""

os.register_at_fork(after_in_child=SHORT_SWITCH_INTERVAL.forget)
