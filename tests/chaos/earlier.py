"""The release before this one: its code out of the repository, and a store that it left in the middle of its work.

`python -m tests.chaos.earlier` records such a store anew, for the next release to be tried on.
"""

from __future__ import annotations

import asyncio
import gzip
import io
import os
import signal
import subprocess
import tarfile
import tempfile
from pathlib import Path

import apsw

from penstock.remote.engine import RemoteEngine
from tests.chaos.client import Client, Nodes
from tests.chaos.crew import Member
from tests.cli.command import ROOT
from tests.postgres_server import free_port
from tests.waiting import until

HERE = Path(__file__).parent
RECORDED = HERE / "earlier.db.gz"
RUNS = 12
MIGRATIONS = ("src/penstock/store/postgres/migrations", "src/penstock/store/sqlite/migrations")


def earlier() -> str | None:
    """The latest release with the schema of today; before there is one, the oldest state with it.

    None: this clone does not have it.
    """
    tags = _git("tag", "--merged", "HEAD", "--sort=-creatordate", "--list", "v[0-9]*").split()
    head = _git("rev-parse", "HEAD:" + MIGRATIONS[0]).strip()
    for tag in tags:
        if _git("rev-parse", f"{tag}:{MIGRATIONS[0]}").strip() == head:
            return tag
    first = _git("log", "-1", "--format=%H", "--", *MIGRATIONS).strip()
    is_whole = _git("rev-parse", "--is-shallow-repository").strip() == "false"
    return first if first and is_whole and first != _git("rev-parse", "HEAD").strip() else None


def _git(*args: str) -> str:
    """What it says; nothing where there is no repository, or no git."""
    try:
        done = subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def unpack(revision: str, folder: Path) -> Path:
    """The code of a revision; where it can be imported from."""
    packed = subprocess.run(["git", "archive", revision, "src"], cwd=ROOT, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def unrecord(folder: Path) -> Path:
    """The store that was recorded, as a file to work on."""
    path = folder / "penstock.db"
    path.write_bytes(gzip.decompress(RECORDED.read_bytes()))
    return path


async def record(folder: Path, code: Path) -> None:
    """Runs of the earlier release, killed when some have ended and some have not."""
    (folder / "ledger").mkdir()
    variables = {
        "PENSTOCK_DB": str(folder / "penstock.db"),
        "PENSTOCK_PORT": str(free_port()),
        "PYTHONPATH": f"{code}{os.pathsep}{ROOT}",
        "CHAOS_LEDGER": str(folder / "ledger"),
    }
    url = f"http://127.0.0.1:{variables['PENSTOCK_PORT']}"
    up, client = Member("up", ("up", "--tasks", HERE / "carrying.py"), folder, variables), Client(1)
    nodes, engine = Nodes([url], None), RemoteEngine(url)
    up.start()
    await until(lambda: up.ready or not up.alive, "the earlier release to work", 60)
    await engine.publish("carry", (HERE / "carry.yaml").read_text())
    for number in range(1, RUNS + 1):
        await client.start(nodes, number)
        await asyncio.sleep(0.15)  # some runs end and some do not
    up.send(signal.SIGKILL)
    up.wait()
    await nodes.close()
    await engine.connection.close()
    db = apsw.Connection(variables["PENSTOCK_DB"])
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    db.close()
    RECORDED.write_bytes(gzip.compress(Path(variables["PENSTOCK_DB"]).read_bytes(), mtime=0))


def main() -> None:
    """Record it, of the release before this one."""
    revision = earlier()
    assert revision is not None, "this clone does not have the release before this one"
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(record(Path(folder), unpack(revision, Path(folder) / "code")))
    print(f"{RECORDED}: {RECORDED.stat().st_size:,} bytes of {revision}")


if __name__ == "__main__":
    main()
