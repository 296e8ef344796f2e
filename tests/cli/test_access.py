"""Tokens and secrets in a database, from the command line."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.cli.command import penstock, process, write
from tests.cli.serving import GREETER, serving
from tests.cli.test_front import base_of

TOKEN = "an-admin-token-of-these-tests"


@pytest.fixture
def db(tmp_path: Path) -> str:
    return str(tmp_path / "penstock.db")


def test_a_token_is_shown_once_listed_and_revoked(db: str) -> None:
    made = penstock("access", "create", "--role", "worker", "--task-list", "gpu", "--name", "box", "--db", db)
    [listed] = penstock("access", "list", "--db", db, "--json").json
    revoked = penstock("access", "revoke", listed["id"], "--db", db)
    again = penstock("access", "list", "--db", db)

    assert made.out.startswith("ps_worker_")
    assert (listed["name"], listed["task_lists"], listed["state"]) == ("box", ["gpu"], "live")
    assert revoked.out == f"{listed['id']} is revoked\n"
    assert "revoked" in again.out
    assert made.out.strip() not in again.out


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--role", "king"], "--role 'king' is not known: say viewer, operator, author, admin, worker."),
        (
            ["--role", "viewer", "--expires", "soon"],
            "--expires 'soon' is no number of days: write 30, or never.",
        ),
        (
            ["--role", "viewer", "--task-list", "gpu"],
            "'task_lists' and 'concurrency' are for workers: leave them out, or use the role worker.",
        ),
    ],
)
def test_a_token_that_cannot_be_is_told(db: str, args: list[str], sentence: str) -> None:
    said = penstock("access", "create", *args, "--db", db)

    assert (said.code, said.err) == (2, f"error: {sentence}\n")


def test_a_worker_whose_token_may_not_work_is_told_so_and_does_not_begin(tmp_path: Path) -> None:
    tasks = write(tmp_path, "own.py", GREETER)
    with serving("up", cwd=tmp_path, PENSTOCK_TOKEN=TOKEN) as up:
        base = base_of(up)
        viewer = penstock(
            "access", "create", "--role", "viewer", "--name", "vic", "--server", base, "--token", TOKEN
        )
        worker = ("worker", "--server", base, "--tasks", tasks)
        said = [
            process(*worker, PENSTOCK_TOKEN=token).err
            for token in ("nobody-has-this-token", viewer.out.strip())
        ]
        up.stop()

    assert said[0].startswith("error: what was sent is no token of Penstock: give a token of ")
    assert said[1] == (
        "error: the token of 'vic' is for the role viewer: "
        "a worker needs one of `penstock access create --role worker`.\n"
    )


def test_a_list_that_no_step_can_name_is_told(tmp_path: Path) -> None:
    tasks = write(tmp_path, "own.py", GREETER)

    said = penstock("worker", "--db", tmp_path / "own.db", "--tasks", tasks, "--task-list", "a b")

    why = "has the character U+0020; only A-Z a-z 0-9 _ . - are allowed"
    assert (said.code, said.err) == (2, f"error: --task-list 'a b' {why}.\n")


def test_a_secret_is_read_from_stdin_and_never_shown(db: str, tmp_path: Path) -> None:
    said = penstock("secret", "set", "mail.password", "--db", db, stdin="open sesame\n")
    listed = penstock("secret", "list", "--db", db, "--json")
    kept = (tmp_path / "penstock.db").read_bytes()
    removed = penstock("secret", "rm", "mail.password", "--db", db, "--json")

    assert said.out == "mail.password is set, version 1\n"
    assert [each["name"] for each in listed.json] == ["mail.password"]
    assert b"open sesame" not in kept
    assert "open sesame" not in listed.out
    assert removed.json == {"name": "mail.password", "removed": True}


def test_a_secret_needs_a_value(db: str) -> None:
    said = penstock("secret", "set", "x", "--db", db)

    assert (said.code, said.err) == (
        2,
        "error: stdin is empty: pipe the value into it, or type it at a terminal.\n",
    )


def test_a_new_key_seals_every_secret_and_old_keys_stay(db: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        penstock("secret", "set", name, "--db", db, stdin="open sesame\n")
    [old] = (tmp_path / "penstock.key").read_text().split()
    said = penstock("secret", "rotate", "--db", db)
    again = penstock("secret", "rotate", "--db", db, "--reseal", "--json")

    keys = (tmp_path / "penstock.key").read_text().split()
    assert (said.code, said.out, again.json) == (0, "2 secrets sealed anew\n", {"sealed": 0})
    assert (len(keys), keys[1], keys[0] == old) == (2, old, False)


def test_a_server_rotates_its_key(tmp_path: Path) -> None:
    with serving("up", cwd=tmp_path) as up:
        base = base_of(up)
        penstock("secret", "set", "a", "--server", base, stdin="open sesame\n")
        said = penstock("secret", "rotate", "--server", base, "--json")
        up.stop()

    assert (said.json, len((tmp_path / "penstock.key").read_text().split())) == ({"sealed": 1}, 2)


def test_keys_in_the_variable_are_sealed_with_the_first(
    db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (base64.b64encode(bytes([number]) * 32).decode() for number in (1, 2))
    monkeypatch.setenv("PENSTOCK_SECRET_KEY", one)
    penstock("secret", "set", "a", "--db", db, stdin="open sesame\n")
    monkeypatch.setenv("PENSTOCK_SECRET_KEY", f"{two},{one}")
    refused = penstock("secret", "rotate", "--db", db)
    said = penstock("secret", "rotate", "--reseal", "--db", db, "--json")

    assert (refused.code, "a new key must be on every node" in refused.err, said.json) == (
        2,
        True,
        {"sealed": 1},
    )
