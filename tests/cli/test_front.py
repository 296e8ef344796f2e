"""`penstock up` as a server: where it listens, who may come in, and that it leaves nothing behind."""

from __future__ import annotations

import json
import re
import socket
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import penstock, process
from tests.cli.serving import Serving, serving

TOKEN = "0123456789abcdef0123456789abcdef"


def base_of(up: Serving) -> str:
    """The address that it said, at this machine."""
    assert up.process.stdout is not None
    line = up.process.stdout.readline()
    found = re.search(r"http://\S+:(\d+)", line)
    assert found, line
    return f"http://127.0.0.1:{found[1]}"


def ask(url: str, token: str | None = None, **headers: str) -> tuple[int, Any]:
    """Status and body."""
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_on_loopback_nobody_needs_to_sign_in(tmp_path: Path) -> None:
    with serving("up", cwd=tmp_path) as up:
        base = base_of(up)
        answers = [ask(f"{base}/health"), ask(f"{base}/api/queues")]
        stranger = ask(f"{base}/api/queues", Host="evil.example")
        up.stop()

    assert answers == [(200, {"status": "ok", "detail": None}), (200, {"items": [], "next": None})]
    assert (stranger[0], stranger[1]["code"]) == (403, "wrong_host")


def test_beyond_loopback_a_token_is_needed(tmp_path: Path) -> None:
    with serving("up", "--host", "0.0.0.0", cwd=tmp_path, PENSTOCK_TOKEN=TOKEN) as up:
        base = base_of(up)
        statuses = [ask(f"{base}/api/queues", token)[0] for token in (None, f"{TOKEN}x", TOKEN)]
        health = ask(f"{base}/health")[0]
        up.stop()

    assert (statuses, health) == ([401, 401, 200], 200)


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({}, "error: 0.0.0.0 can be reached from other machines, so sign-in is needed: make a token with"),
        ({"PENSTOCK_TOKEN": "short"}, "error: PENSTOCK_TOKEN is too short to be a token: "),
    ],
)
def test_without_a_token_nothing_is_opened_beyond_loopback(
    tmp_path: Path, variables: dict[str, str], sentence: str
) -> None:
    said = process("up", "--host", "0.0.0.0", cwd=tmp_path, **variables)

    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith(sentence)
    assert list(tmp_path.iterdir()) == []


def test_a_token_that_the_database_has_is_enough(tmp_path: Path) -> None:
    db = tmp_path / "penstock.db"
    token = penstock("access", "create", "--role", "viewer", "--db", db).out.strip()

    with serving("up", "--host", "0.0.0.0", cwd=tmp_path) as up:
        base = base_of(up)
        statuses = [ask(f"{base}/api/queues", token)[0], ask(f"{base}/api/queues")[0]]
        up.stop()

    assert statuses == [200, 401]


def test_a_port_that_is_taken_is_told_before_a_database_is_made(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = process("up", "--port", port, cwd=tmp_path)

    assert (said.code, said.err) == (
        2,
        f"error: 127.0.0.1:{port} cannot be used (Address already in use): choose another --port, or stop what is "
        "there.\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_wrong_settings_are_told_a_sentence_each(tmp_path: Path) -> None:
    (tmp_path / "penstock.toml").write_text('port = "high"\nhots = "x"\n')

    said = process("up", cwd=tmp_path, PENSTOCK_PORT="")

    assert (said.code, said.err.splitlines()) == (
        2,
        [
            "error: penstock.toml sets 'hots', which is no setting; did you mean 'host'?",
            "error: port in penstock.toml 'high' must be a port, 0 to 65535.",
        ],
    )
