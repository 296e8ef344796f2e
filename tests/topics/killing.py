"""Nodes that are killed: what a crash leaves behind is what there is, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def node(db: str, bus: str) -> Iterator[subprocess.Popen[str]]:
    """A node that is ready; killed at the end, if not before."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.topics.node", db, bus], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
