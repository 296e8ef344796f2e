"""The command as a function: what it printed, and its exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
from typer.testing import CliRunner

from penstock.cli.author.example_files import workflows_in
from penstock.cli.main import app

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SHELF = workflows_in(EXAMPLES)
"""Every example but the broken ones."""

STUCK = """\
penstock: 1
name: stuck
steps:
  which: {task: decide, with: {if: "true"}, emits: {then: a, else: b}}
  join: {task: set, after: [a, b], with: {x: 1}}
"""
"""A workflow whose join waits for two events of which only one comes."""


class Said(msgspec.Struct, frozen=True):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.out)


def penstock(*args: object, stdin: str = "") -> Said:
    """Run the command in this process."""
    result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)
    return Said(result.exit_code, result.stdout, result.stderr)


def process(*args: object, cwd: Path = ROOT, **variables: str) -> Said:
    """Run the command in a process of its own."""
    done = subprocess.run(
        command(*args), cwd=cwd, env=environment(**variables), capture_output=True, timeout=60, check=False
    )
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def command(*args: object) -> list[str]:
    return [sys.executable, "-m", "penstock", *map(str, args)]


def environment(**variables: str) -> dict[str, str]:
    kept = {
        name: os.environ[name]
        for name in ("PATH", "HOME", "LANG", "COVERAGE_PROCESS_CONFIG")
        if name in os.environ
    }
    return {**kept, "PYTHONPATH": str(ROOT / "src"), "PENSTOCK_PORT": "0", **variables}


def outside_make() -> dict[str, str]:
    """Ours, not as a part of the `make test` that a test may run in: a `make` of its own would tell of its folder."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


def write(folder: Path, name: str, text: str) -> Path:
    """A file with this text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
