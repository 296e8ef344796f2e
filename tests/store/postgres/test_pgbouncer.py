"""Through a real PgBouncer in transaction mode: every transaction may be done by another server process."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from penstock import Engine
from penstock.store.postgres.store import PostgresStore
from tests.postgres_server import free_port
from tests.store.postgres.making import with_store
from tests.store.postgres.test_pooling import LIFE, live
from tests.waiting import listens, until_sync

CONFIG = """\
[databases]
* = host=127.0.0.1 port={server} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 60
ignore_startup_parameters = extra_float_digits
"""


@pytest.fixture
def pooled(url: str, tmp_path: Path) -> Iterator[str]:
    """The address of the empty database by way of a pooler with three connections."""
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    port = free_port()
    config = tmp_path / "pgbouncer.ini"
    database = urlsplit(url)
    config.write_text(CONFIG.format(server=database.port, user=database.username, port=port))
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)  # as root it reads its settings as somebody else
    who = ["-u", "nobody"] if os.geteuid() == 0 else []
    with (tmp_path / "log").open("wb") as log:
        running = subprocess.Popen([program, *who, str(config)], stderr=log, stdout=log)
    try:
        _wait(port, tmp_path / "log")
        yield database._replace(netloc=f"{database.username}@127.0.0.1:{port}").geturl()
    finally:
        running.kill()
        running.wait()


def _wait(port: int, log: Path) -> None:
    try:
        until_sync(lambda: listens(port), "PgBouncer")
    except AssertionError as error:
        raise RuntimeError(f"{error}; it said:\n{log.read_text()}") from None


def test_n9_a_life_goes_well_through_a_transaction_pooler(pooled: str) -> None:
    assert with_store(pooled, live) == LIFE


def test_the_pooler_is_seen(pooled: str) -> None:
    async def facts(store: PostgresStore) -> object:
        return (await store.facts())["pooler"]

    assert with_store(pooled, facts) is True


def test_two_engines_behind_one_pooler_bring_every_run_to_its_end(pooled: str) -> None:
    chain = {
        "penstock": 1,
        "name": "chain",
        "steps": {"one": {"task": "nothing"}, "two": {"task": "nothing", "after": "one"}},
    }

    async def nothing() -> None:
        """It does nothing."""

    async def main() -> tuple[Counter[str], int]:
        tasks = {"nothing": nothing}
        async with Engine(pooled, tasks=tasks) as one, Engine(pooled, tasks=tasks) as two:
            await one.publish(chain)
            runs = await asyncio.gather(*((one, two)[n % 2].start("chain") for n in range(60)))
            ends = await asyncio.gather(*((two, one)[n % 2].wait(run, 60) for n, run in enumerate(runs)))
            counts = await one.counts(workflow="chain")
            return Counter(run["status"] for run in ends), counts["succeeded"]

    assert asyncio.run(main()) == ({"succeeded": 60}, 60)
