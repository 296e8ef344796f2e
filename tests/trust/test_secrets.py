"""Secrets on several nodes: what any worker says is written without them, and all nodes have one key."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import process, write
from tests.cli.serving import Serving, serving
from tests.cli.test_front import base_of
from tests.databases import new_database
from tests.postgres_server import PostgresServer
from tests.waiting import until_sync

VALUE = 'hunter"22 and more'
KEY, OTHER = (base64.b64encode(bytes([n]) * 32).decode() for n in (1, 2))
LEAKY = """\
from penstock import Context, task


@task
def leak(ctx: Context):
    with open("value") as file:
        value = file.read()
    ctx.log(f"signing in with {value}")
    ctx.heartbeat({"with": value})
    raise RuntimeError(f"no sign-in with {value}")
"""
WORKFLOW = {"penstock": 1, "name": "leaky", "steps": {"only": {"task": "leak", "retries": 0}}}
HOOKED = {
    "penstock": 1,
    "name": "hooked",
    "source": {"kind": "webhook", "verify": {"method": "token", "secret": "hook"}},
    "steps": {"only": {"task": "set"}},
}
SEEN = ("", "/history", "/logs")


@pytest.fixture
def url(server: PostgresServer) -> str:
    return new_database(server)


def ask(url: str, body: object | None = None, method: str | None = None, **headers: str) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url, data, {"content-type": "application/json", **headers}, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@contextmanager
def nodes(folder: Path, url: str, *names: str, key: str | None = None) -> Iterator[list[tuple[Serving, str]]]:
    """Servers on one database, each in a folder of its own, with their addresses."""
    with ExitStack() as stack:
        yield [stack.enter_context(a_node(folder / name, url, key)) for name in names]


@contextmanager
def a_node(folder: Path, url: str, key: str | None = None) -> Iterator[tuple[Serving, str]]:
    folder.mkdir(exist_ok=True)
    with with_key(key, "server", "--db", url, "--port", 0, cwd=folder) as node:
        yield node, base_of(node)


def with_key(key: str | None, *args: object, cwd: Path) -> AbstractContextManager[Serving]:
    if key is None:
        return serving(*args, cwd=cwd, longest=120)
    return serving(*args, cwd=cwd, longest=120, PENSTOCK_SECRET_KEY=key)


def run_leaky(base: str) -> tuple[str, list[str]]:
    """How a run of the leaky workflow ended, and all that is shown of it."""
    _, run = ask(f"{base}/api/workflows/leaky/runs", {})
    status = until_sync(
        lambda: ask(f"{base}/api/runs/{run['id']}")[1]["status"],
        "the end of the run",
        so=lambda it: it != "running",
    )
    return status, [json.dumps(ask(f"{base}/api/runs/{run['id']}{each}")[1]) for each in SEEN]


@pytest.mark.parametrize("how", ["--server", "--db"])
def test_a_secret_set_at_one_node_is_redacted_by_another_and_by_its_worker(
    how: str, tmp_path: Path, url: str
) -> None:
    write(tmp_path, "tasks.py", LEAKY)
    write(tmp_path, "value", VALUE)
    with nodes(tmp_path, url, "a", "b", key=KEY) as [(_, a), (_, b)]:
        where = a if how == "--server" else url
        with with_key(KEY, "worker", how, where, "--tasks", "tasks.py", cwd=tmp_path):
            assert ask(f"{a}/api/workflows/leaky/publish", {"definition": WORKFLOW})[0] == 201
            assert ask(f"{b}/api/secrets/db", {"value": VALUE}, "PUT")[0] == 200
            status, texts = run_leaky(a)

    assert status == "failed"
    assert all("hunter" not in text for text in texts), texts
    assert all("no sign-in with ***" in text for text in texts[:2]), texts
    assert "signing in with ***" in texts[2]


def test_a_worker_without_the_key_writes_nothing_and_says_why(tmp_path: Path, url: str) -> None:
    write(tmp_path, "tasks.py", LEAKY)
    with nodes(tmp_path, url, "a") as [(_, a)]:
        ask(f"{a}/api/secrets/db", {"value": VALUE}, "PUT")
        said = [
            process("worker", "--db", url, "--tasks", "tasks.py", cwd=tmp_path, **variables)
            for variables in ({}, {"PENSTOCK_SECRET_KEY": OTHER})
        ]

    assert [one.code for one in said] == [2, 2]
    assert "and this node has none (the file 'penstock.key')" in said[0].err
    assert (
        "(PENSTOCK_SECRET_KEY): get that key from the node that set them and add it to PENSTOCK"
        in said[1].err
    )


def test_a_worker_that_lacks_a_key_withholds_words_and_its_runs_end(tmp_path: Path, url: str) -> None:
    write(tmp_path, "tasks.py", LEAKY)
    write(tmp_path, "value", VALUE)
    with (
        a_node(tmp_path / "a", url) as (_, a),
        serving("worker", "--db", url, "--tasks", "tasks.py", cwd=tmp_path) as worker,
    ):
        assert ask(f"{a}/api/workflows/leaky/publish", {"definition": WORKFLOW})[0] == 201
        assert ask(f"{a}/api/secrets/db", {"value": VALUE}, "PUT")[0] == 200
        status, texts = run_leaky(a)
        stopped = worker.stop()

    assert (status, stopped.code) == ("failed", 0)
    assert all("hunter" not in text for text in texts), texts
    assert all("withheld: this node lacks the key of the secrets" in text for text in texts)
    assert "what tasks say is withheld: secrets of this database are sealed with the key" in stopped.err


def test_what_a_call_answers_has_no_secret(tmp_path: Path, url: str) -> None:
    write(tmp_path, "tasks.py", LEAKY)
    write(tmp_path, "value", VALUE)
    with serving("up", "--db", url, "--port", 0, "--tasks", "tasks.py", cwd=tmp_path) as node:
        base = base_of(node)
        ask(f"{base}/api/workflows/leaky/publish", {"definition": WORKFLOW})
        ask(f"{base}/api/secrets/db", {"value": VALUE}, "PUT")
        called = ask(f"{base}/api/workflows/leaky/call", {})
        tried = ask(f"{base}/api/workflows/leaky/try", {"definition": WORKFLOW, "real": True})

    assert (called[0], tried[0]) == (200, 200)
    assert called[1]["error"]["message"] == "RuntimeError: no sign-in with ***"
    assert "hunter" not in json.dumps([called, tried]) and "no sign-in with ***" in json.dumps(tried)


LATE = """\
import json
import urllib.request

from penstock import task


@task
def leak(node: str, value: str):
    body, plain = json.dumps({"value": value}).encode(), {"content-type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(f"{node}/api/secrets/db", body, plain, method="PUT"))
    raise RuntimeError(f"no sign-in with {value}")
"""


def test_a_secret_that_another_node_sets_during_a_call_is_not_in_its_answer(tmp_path: Path, url: str) -> None:
    write(tmp_path, "tasks.py", LATE)
    with (
        a_node(tmp_path / "b", url, KEY) as (_, b),
        with_key(KEY, "up", "--db", url, "--port", 0, "--tasks", "tasks.py", cwd=tmp_path) as node,
    ):
        base = base_of(node)
        step = {"task": "leak", "retries": 0, "with": {"node": b, "value": "${ data.value }"}}
        late = {"penstock": 1, "name": "late", "steps": {"only": step}}
        ask(f"{base}/api/workflows/late/publish", {"definition": late})
        called = ask(f"{base}/api/workflows/late/call", {"input": {"value": "first-of-two"}})
        body = {"definition": late, "real": True, "input": {"value": "second-of-two"}}
        tried = ask(f"{base}/api/workflows/late/try", body)

    assert called[1]["error"]["message"] == "RuntimeError: no sign-in with ***"
    assert tried[1]["run"]["error"]["message"] == "RuntimeError: no sign-in with ***"


def test_all_nodes_of_an_installation_have_one_key(tmp_path: Path, url: str) -> None:
    key = tmp_path / "b" / "penstock.key"
    with nodes(tmp_path, url, "a", "b") as [(_, a), (node, b)]:
        assert ask(f"{a}/api/workflows/hooked/publish", {"definition": HOOKED, "start": True})[0] == 201
        before = ask(f"{b}/ready")[0]
        assert ask(f"{a}/api/secrets/hook", {"value": VALUE}, "PUT")[0] == 200
        hook, ready = ask(f"{b}/hooks/hooked", {}, Authorization=f"Bearer {VALUE}"), _soon(b, 503)
        second = ask(f"{b}/api/secrets/other", {"value": VALUE}, "PUT")
        made = key.exists()
        doctor = process("doctor", "--db", url, "--json", cwd=tmp_path / "b")
        node.stop()
        refused = process("server", "--db", url, "--port", 0, cwd=tmp_path / "b")
        key.write_bytes((tmp_path / "a" / "penstock.key").read_bytes())
        key.chmod(0o600)
        with a_node(tmp_path / "b", url) as (_, again):
            healed = [ask(f"{again}/ready")[0], ask(f"{again}/api/secrets/other", {"value": VALUE}, "PUT")[0]]
        fine = process("doctor", "--db", url, "--json", cwd=tmp_path / "b")

    assert (before, ready) == (200, "locked")
    assert (hook[0], hook[1]["code"]) == (503, "secret_key")
    assert "penstock.key" not in hook[1]["detail"]
    assert (second[0], second[1]["code"], made) == (503, "secret_key", False)
    assert (refused.code, "are sealed with the key" in refused.err) == (2, True)
    assert _state(doctor.json) == "wrong" and _state(fine.json) == "fine"
    assert healed == [200, 200]


def _soon(base: str, status: int) -> str:
    """What `/ready` says once it has looked again: it looks once a second."""
    _, said = until_sync(
        lambda: ask(f"{base}/ready"), f"/ready to answer {status}", so=lambda it: it[0] == status
    )
    return str(said["status"])


def _state(doctor: dict[str, Any]) -> str:
    [found] = [str(each["state"]) for each in doctor["findings"] if each["about"] == "secrets"]
    return found
