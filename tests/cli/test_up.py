"""Processes that stay: what they say, what they do, and how they end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from penstock.cli.serve.process import _serve, read_post
from penstock.cli.serve.up import publish_file
from penstock.engine.services import EngineServices
from penstock.server.build import Front
from penstock.store.sqlite.connection import MIGRATIONS
from tests.cli.command import penstock, write
from tests.cli.serving import GATED, GREETER, HELLO, serving, shown, started
from tests.waiting import until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a folder of one workflow and its tasks."""
    (tmp_path / "flows").mkdir()
    write(tmp_path, "flows/hello.yaml", HELLO)
    write(tmp_path, "flows/hello.py", GREETER)
    return tmp_path


def gated(folder: Path) -> Path:
    """Let the task wait for a pipe."""
    gate = folder / "gate"
    os.mkfifo(gate)
    write(folder, "flows/hello.py", GATED.format(gate=str(gate)))
    return gate


def test_a_folder_with_a_workflow_that_is_refuted_is_told_which_and_where(folder: Path) -> None:
    stuck = "penstock: 1\nname: stuck\nsteps: {a: {task: set, after: b}}\n"
    write(folder, "flows/stuck.yaml", stuck)

    said = penstock("up", "--workflows", folder / "flows", "--db", folder / "own.db")

    assert (said.code, said.err.startswith(f"error: {folder / 'flows' / 'stuck.yaml'}:3: ")) == (2, True)
    assert "steps: {a: {task: set, after: b}}" in said.err
    assert not (folder / "own.db").exists()


def test_up_says_what_is_where_and_goes_on_with_what_was_begun(folder: Path) -> None:
    db = str(folder / "penstock.db")
    run = started(db, folder / "flows" / "hello.yaml")

    with serving("up", "--workflows", "flows", "--stats", "stats.json", cwd=folder) as up:
        up.until("greeted")
        up.until("greeted")
        stopped = up.stop()

    assert (stopped.code, shown(db, run)["status"]) == (0, "succeeded")
    lines = [line.split(maxsplit=1) for line in stopped.out.splitlines()]
    assert [name for name, _ in lines] == ["server", "store", "workflow", "worker", "lists", "tasks", "stop"]
    assert dict(lines)["store"] == f"penstock.db (schema {len(MIGRATIONS)})"
    assert dict(lines)["workflow"] == "hello version 2 (flows/hello.yaml)"
    assert (dict(lines)["lists"], dict(lines)["tasks"]) == ("default", "greet")
    assert [line.split(maxsplit=3)[3] for line in stopped.err.splitlines()[-2:]] == [
        "SIGTERM: stopping; what runs has 30s to end, the rest is given back",
        "penstock up has stopped",
    ]
    counted = json.loads((folder / "stats.json").read_text())
    assert (counted["worker"]["worker.reported"], counted["reports"]["rejected"]) == (2, 0)


def test_up_logs_for_machines_where_it_is_asked_to(folder: Path) -> None:
    with serving("up", "--workflows", "flows", "--log-format", "json", cwd=folder) as up:
        stopped = up.stop()

    said = [json.loads(line) for line in stopped.err.splitlines() if line.startswith("{")]
    assert (said[-1]["level"], said[-1]["logger"], said[-1]["message"]) == (
        "info",
        "penstock.process",
        "penstock up has stopped",
    )


def test_a_workflow_that_did_not_change_gets_no_new_version(folder: Path) -> None:
    versions = []
    for text in (HELLO, HELLO, f"{HELLO}  third: {{task: greet, after: again}}\n"):
        write(folder, "flows/hello.yaml", text)
        with serving("up", "--workflows", "flows", "--json", cwd=folder, PENSTOCK_DB="own.db") as up:
            said = up.stop().json
            versions.append(said["workflows"][0]["version"])

    assert versions == [1, 1, 2]
    assert (said["db"], said["task_lists"], said["tasks"]) == ("own.db", ["default"], ["greet"])


@pytest.mark.parametrize("processes", [0, 1])
def test_a_stop_lets_what_runs_finish_and_gives_back_the_rest(folder: Path, processes: int) -> None:
    gate, db = gated(folder), str(folder / "penstock.db")
    run = started(db, folder / "flows" / "hello.yaml")

    with serving("up", "--workflows", "flows", "--processes", processes, cwd=folder) as up:
        up.until("begun")
        up.signal(signal.SIGTERM)
        up.until("stopping")
        gate.write_text("in time")
        ended = up.end()

    steps = shown(db, run)["steps"]
    assert ended.err.count("begun") == 1
    assert (ended.code, steps["greet"]["status"], steps["greet"]["attempts"]) == (0, "complete", 1)
    assert (steps["again"]["status"], steps["again"]["reason"]) == ("ready", "no worker")


def test_what_does_not_end_within_the_grace_is_given_up(folder: Path) -> None:
    gated(folder)
    run = started(db := str(folder / "penstock.db"), folder / "flows" / "hello.yaml")

    with serving("up", "--workflows", "flows", "--grace", "0", cwd=folder) as up:
        up.until("begun")
        code = up.stop().code

    assert (code, shown(db, run)["steps"]["greet"]["status"]) == (0, "running")


def test_a_second_signal_ends_it_at_once(folder: Path) -> None:
    gated(folder)
    started(str(folder / "penstock.db"), folder / "flows" / "hello.yaml")

    with serving("up", "--workflows", "flows", cwd=folder) as up:
        up.until("begun")
        up.signal(signal.SIGINT)
        up.until("stopping")
        up.signal(signal.SIGTERM)
        ended = up.end()

    assert ended.code == 130
    assert ended.err.endswith("SIGTERM again: ended at once; what ran is done again by others\n")


def test_a_file_that_another_process_has_is_told_in_one_sentence(folder: Path) -> None:
    with serving("up", cwd=folder) as up:
        others = [
            penstock("up", "--port", "0", "--db", folder / "penstock.db"),
            penstock("server", "--port", "0", "--db", folder / "penstock.db"),
            penstock("worker", "--db", folder / "penstock.db", "--tasks", folder / "flows" / "hello.py"),
        ]
        holder = up.process.pid

    path = folder / "penstock.db"
    assert [(said.code, said.out) for said in others] == [(2, "")] * 3
    assert {said.err for said in others} == {
        f"error: '{path}' is in use by process {holder}: only one process may open a SQLite database; "
        "stop it, or use PostgreSQL.\n"
    }


def test_what_cannot_be_served_is_told_before_anything_is_opened(folder: Path) -> None:
    write(folder, "flows/twin.yaml", HELLO)
    (folder / "empty").mkdir()
    (folder / "wrong").mkdir()
    wrong = write(folder, "wrong/w.yaml", "penstock: 1\nname: w\nsteps:\n  a: {tsk: x}\n")
    db = folder / "new.db"

    def told(*args: object) -> str:
        said = penstock("up", "--db", db, *args)
        assert (said.code, said.out) == (2, "")
        return said.err

    assert told("--workflows", folder / "none") == (
        f"error: --workflows '{folder}/none' is no folder: name one with workflows in YAML or JSON.\n"
    )
    assert told("--workflows", folder / "empty") == (
        f"error: --workflows '{folder}/empty' has no workflow: put a .yaml or .json file into it.\n"
    )
    assert told("--workflows", folder / "flows").endswith(
        "twin.yaml are both named 'hello': give one of them another name.\n"
    )
    assert told("--workflows", folder / "wrong").startswith(f"error: {wrong}:4:")
    assert told("--tasks", folder / "none.py") == (
        f"error: {folder}/none.py: the tasks file does not exist: look at the path.\n"
    )
    assert told("--log-level", "loud") == (
        "error: --log-level 'loud' is not known: say debug, info, warning, error.\n"
    )
    assert told("--log-format", "xml") == ("error: --log-format 'xml' is not known: say text or json.\n")
    assert told("--grace", "soon").startswith("error: --grace 'soon' ")
    assert not db.exists()


@pytest.mark.parametrize(
    ("db", "sentence"),
    [
        ("mysql://x/y", "error: 'mysql://x/y' is an address of a kind that is not known: "),
        ("postgresql://nobody:secret@127.0.0.1:1/none", "error: the database does not answer ("),
    ],
)
def test_a_database_that_cannot_be_used_is_told_in_one_sentence(db: str, sentence: str) -> None:
    said = penstock("server", "--port", "0", "--db", db)

    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith(sentence)
    assert "secret" not in said.err


def test_a_server_is_ready_once_its_workflows_are_started(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = read_post(str(folder / "p.db"), grace="0s", front=Front("127.0.0.1", 0))
    found: list[Any] = []

    async def main() -> None:
        stop = asyncio.Event()
        monkeypatch.setattr("penstock.cli.serve.process.stop_on_signals", lambda grace: stop)

        async def ask(base: str | None) -> int:
            async with aiohttp.ClientSession() as session, session.get(f"{base}/ready") as answer:
                return answer.status

        async def publish(running: EngineServices, base: str | None) -> None:
            found.append(await ask(base))
            await publish_file(running, folder / "flows" / "hello.yaml")
            found.append(asyncio.create_task(later(base)))

        async def later(base: str | None) -> None:
            await until(lambda: ask(base), "an answer", so=lambda status: status == 200)
            stop.set()

        await _serve(post, publish, "penstock up")

    asyncio.run(main())
    assert (found[0], found[1].exception()) == (503, None)
