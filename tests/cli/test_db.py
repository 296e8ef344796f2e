"""`penstock db`: schema, checks, backups and old runs."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from penstock import Engine
from penstock.store.sqlite.connection import MIGRATIONS
from tests.cli.command import penstock, write
from tests.cli.serving import HELLO, serving, shown, started
from tests.postgres_server import PostgresServer


@pytest.fixture(params=["sqlite", "postgresql"])
def urls(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Two databases that are not there yet, or empty."""
    if request.param == "sqlite":
        return str(tmp_path / "one.db"), str(tmp_path / "two.db")
    server: PostgresServer = request.getfixturevalue("server")
    return server.create_database(), server.create_database()


def rows_of(path: Path, change: str) -> None:
    """Change a SQLite file behind the back of Penstock."""
    db = apsw.Connection(str(path))
    db.execute(change)
    db.close()


def test_migrate_makes_a_database_once(urls: tuple[str, str]) -> None:
    first, second = (penstock("db", "migrate", "--db", urls[0]) for _ in range(2))
    as_json = penstock("db", "migrate", "--db", urls[1], "--json").json

    assert (first.code, second.code) == (0, 0)
    assert first.out == f"{urls[0]} is made, with schema {len(MIGRATIONS)}\n"
    assert second.out == f"{urls[0]} has schema {len(MIGRATIONS)}: nothing to do\n"
    assert as_json == {"db": urls[1], "from": 0, "to": len(MIGRATIONS)}


def test_a_backup_is_restored_into_an_empty_database_only(urls: tuple[str, str], tmp_path: Path) -> None:
    run = started(urls[0], write(tmp_path, "hello.yaml", HELLO))
    copy = str(tmp_path / "copy")

    made = penstock("db", "backup", copy, "--db", urls[0], "--json")
    again = penstock("db", "backup", copy, "--db", urls[0])
    restored = penstock("db", "restore", copy, "--db", urls[1], "--json")
    refused = penstock("db", "restore", copy, "--db", urls[1])

    assert made.json == {"db": urls[0], "file": copy, "bytes": Path(copy).stat().st_size}
    assert restored.json == {"db": urls[1], "file": copy, "moved_to": None}
    assert (again.code, refused.code) == (2, 2)
    assert again.err.endswith("is written only to a new file: use another file name.\n")
    lost = penstock("db", "backup", tmp_path / "none" / "copy", "--db", urls[0])
    assert (lost.code, lost.err) == (
        2,
        f"error: '{tmp_path}/none/copy' cannot be written: the folder '{tmp_path}/none' is not there.\n",
    )
    assert shown(urls[1], run) == shown(urls[0], run)
    with Engine.sync(urls[1], tasks={"greet": lambda: "hello"}) as engine:
        assert engine.wait(run, 30)["status"] == "succeeded"


def test_what_is_no_backup_is_not_restored(urls: tuple[str, str], tmp_path: Path) -> None:
    other = write(tmp_path, "copy", "this is no backup, it is a letter to a friend\n" * 100)

    said = [penstock("db", "restore", name, "--db", urls[0]) for name in (other, tmp_path / "none")]

    assert [(each.code, each.out, each.err.count("\n")) for each in said] == [(2, "", 1)] * 2


def test_a_damaged_file_is_moved_aside_and_restored(tmp_path: Path) -> None:
    db, copy = tmp_path / "one.db", tmp_path / "copy"
    run = started(str(db), write(tmp_path, "hello.yaml", HELLO))
    penstock("db", "backup", copy, "--db", db)
    db.write_bytes(b"\0" * 100_000)

    damaged = penstock("db", "check", "--db", db)
    said = penstock("db", "restore", copy, "--db", db)

    assert damaged.code == 2
    assert f"`penstock db restore BACKUP --db {db}`" in damaged.err
    assert said.out == f"what was there is now {db}.before-1\n{db} is restored from {copy}\n"
    assert shown(str(db), run)["status"] == "running"


def test_a_database_in_use_is_checked_and_copied_beside_it(tmp_path: Path) -> None:
    db, copy = tmp_path / "penstock.db", tmp_path / "copy"
    run = started(str(db), write(tmp_path, "hello.yaml", HELLO))

    with serving("up", cwd=tmp_path):
        checked = penstock("db", "check", "--db", db)
        copied = penstock("db", "backup", copy, "--db", db)
        restored = penstock("db", "restore", copy, "--db", db)

    assert (checked.code, checked.out) == (0, f"{db}: all is well\n")
    assert copied.out.startswith(f"{db} is copied to {copy} (")
    assert (restored.code, "is in use by process" in restored.err) == (2, True)
    assert shown(str(copy) if copy.suffix else f"sqlite://{copy}", run)["status"] == "running"


def test_check_names_what_is_wrong_and_exits_1(tmp_path: Path) -> None:
    db = tmp_path / "one.db"
    run = started(str(db), write(tmp_path, "hello.yaml", HELLO))
    rows_of(db, "DELETE FROM task")

    said = penstock("db", "check", "--db", db)
    as_json = penstock("db", "check", "--db", db, "--json")

    assert said.code == as_json.code == 1
    [problem] = as_json.json["problems"]
    assert problem.startswith(f"run {run}: it runs, but no task")
    assert said.out == f"{problem}\n{db}: 1 problem\n"


def test_check_tells_that_the_audit_was_tampered_with(tmp_path: Path) -> None:
    db = tmp_path / "one.db"
    started(str(db), write(tmp_path, "hello.yaml", HELLO))
    for _ in range(3):
        assert penstock("access", "create", "--role", "viewer", "--db", db).code == 0
    whole = penstock("db", "check", "--db", db)
    rows_of(db, "DELETE FROM audit WHERE number = 2")

    said = penstock("db", "check", "--db", db)

    assert (whole.code, said.code) == (0, 1)
    assert said.out == f"audit: entry 2 is missing\n{db}: 1 problem\n"


def test_retention_deletes_what_is_old_and_can_explain_it_first(tmp_path: Path) -> None:
    db = tmp_path / "one.db"
    with Engine.sync(str(db), tasks={"greet": lambda: "hello"}) as engine:
        engine.publish(write(tmp_path, "hello.yaml", HELLO))
        runs = [engine.start("hello") for _ in range(3)]
        assert [engine.wait(run, 30)["status"] for run in runs] == ["succeeded"] * 3
    rows_of(db, "UPDATE run SET ended_at = 0 WHERE id > (SELECT min(id) FROM run)")

    explained = penstock("db", "retention", "--explain", "--db", db, "--json").json
    done = penstock("db", "retention", "--db", db)
    after = penstock("db", "retention", "--db", db, "--json").json

    assert (explained["explained"], explained["rows"]["run"]) == (True, 2)
    assert done.out.endswith(f"{db}: {sum(explained['rows'].values())} rows deleted\n")
    assert after["rows"]["run"] == 0
    with Engine.sync(str(db), tasks={}) as engine:
        assert [row["id"] for row in engine.runs()] == runs[:1]


@pytest.mark.parametrize("name", ["check", "retention"])
def test_a_mistyped_path_makes_no_database(name: str, tmp_path: Path) -> None:
    db = tmp_path / "none.db"

    said = penstock("db", name, "--db", db)

    assert (said.code, said.err) == (2, f"error: there is no database '{db}': look at --db.\n")
    assert not db.exists()
