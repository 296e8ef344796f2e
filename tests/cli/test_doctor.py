"""`penstock doctor`: what it looks at, and what it says."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Said, penstock, process, write
from tests.cli.serving import HELLO, serving, started
from tests.cli.test_front import base_of


@pytest.fixture
def closed() -> str:
    """An address where nothing answers."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{other.getsockname()[1]}"


def found(said: Said) -> dict[str, Any]:
    return {each["about"]: (each["state"], each["text"]) for each in said.json["findings"]}


def test_in_an_empty_folder_nothing_is_wrong(tmp_path: Path, closed: str) -> None:
    said = process("doctor", "--server", closed, "--json", cwd=tmp_path)

    states = {about: state for about, (state, _) in found(said).items()}
    assert (said.code, states) == (
        0,
        {"sign-in": "fine", "database": "note", "disk": "fine", "server": "note", "port": "fine"},
    )
    assert list(tmp_path.iterdir()) == []


def test_every_setting_is_shown_with_its_origin_and_without_secrets(tmp_path: Path, closed: str) -> None:
    write(tmp_path, "penstock.toml", 'retention_days = 3\nrelease_token = "x"\n')

    said = process(
        "doctor",
        "--db",
        "postgresql://ann:pw@127.0.0.1:1/x",
        cwd=tmp_path,
        PENSTOCK_TOKEN="very-secret-token-0001",
        PENSTOCK_SERVER=closed,
    )

    lines = {line.split()[0]: line.split()[1:] for line in said.out.splitlines() if line}
    assert said.code == 1
    assert lines["db"] == ["postgresql://ann:***@127.0.0.1:1/x", "--db"]
    assert lines["token"] == ["(set)", "PENSTOCK_TOKEN"]
    assert lines["release_token"] == ["(set)", "penstock.toml"]
    assert lines["retention_days"][0] == "succeeded=3d,"
    assert lines["release_task_timeout"] == ["1h", "default"]
    assert "very-secret" not in said.out
    assert "✗ database the database does not answer" in said.out


def test_a_task_list_that_nobody_serves_is_wrong(tmp_path: Path) -> None:
    db = str(tmp_path / "penstock.db")
    started(db, write(tmp_path, "hello.yaml", HELLO))

    with serving("up", cwd=tmp_path) as up:
        said = process("doctor", "--server", base_of(up), "--json", cwd=tmp_path)
        up.stop()

    assert said.code == 1
    assert found(said)["workers"] == (
        "wrong",
        "no worker serves task list 'default' (1 waiting)",
    )
    assert found(said)["clock"][0] == "fine"


def test_variables_and_hosts_that_are_wrong_are_told(tmp_path: Path, closed: str) -> None:
    said = process(
        "doctor", "--json", cwd=tmp_path, PENSTOCK_PROT="1", PENSTOCK_HOST="0.0.0.0", PENSTOCK_SERVER=closed
    )

    assert said.code == 1
    assert found(said)["settings"] == (
        "wrong",
        "the variable PENSTOCK_PROT is set, which is no setting; did you mean 'port'?",
    )
    assert found(said)["sign-in"][0] == "wrong"


def test_a_server_that_is_not_there_is_told_by_every_command(closed: str) -> None:
    said = penstock("runs", "--server", closed)

    assert (said.code, said.err) == (
        2,
        f"error: there is no Penstock at {closed}: start one with `penstock up`, or name one with --server.\n",
    )
