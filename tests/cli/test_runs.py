"""Workflows and runs in a database, one command at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock import Context, Engine
from tests.cli.command import penstock, write
from tests.cli.serving import HELLO, serving

WAITING = """\
penstock: 1
name: hello
external: [go]
steps:
  greet: {task: greet, after: go}
"""


@pytest.fixture
def db(tmp_path: Path) -> str:
    """A database with one workflow."""
    path = str(tmp_path / "penstock.db")
    assert penstock("publish", write(tmp_path, "hello.yaml", WAITING), "--db", path).code == 0
    return path


def test_what_did_not_change_is_not_published_again(db: str, tmp_path: Path) -> None:
    again = penstock("publish", tmp_path / "hello.yaml", "--db", db)
    changed = penstock("publish", write(tmp_path, "hello.yaml", HELLO), "--db", db, "--json")
    listed = penstock("workflows", "--db", db, "--json")

    assert again.out.splitlines()[0] == "hello version 1"
    assert [(each["name"], each["version"]) for each in changed.json] == [("hello", 2)]
    assert [each["code"] for each in changed.json[0]["findings"]] == ["unknown-task"]
    assert listed.json == [{"name": "hello", "published_version": 2, "started": True, "paused": False}]


def test_a_start_with_the_same_key_gives_the_first_run(db: str) -> None:
    first, second = (penstock("start", "hello", "--key", "k", "--db", db) for _ in range(2))
    listed = penstock("runs", "--workflow", "hello", "--status", "waiting", "--db", db, "--json")

    assert first.out == second.out
    assert [row["id"] for row in listed.json] == [first.out.strip()]


def test_a_run_is_shown_sent_an_event_paused_and_cancelled(db: str) -> None:
    run = penstock("start", "hello", "--db", db).out.strip()

    statuses = [penstock("show", run, "--db", db, "--json").json["status"]]
    answer = penstock("emit", run, "go", '{"by": "ann"}', "--id", "1", "--db", db)
    twice = penstock("emit", run, "go", '{"by": "ann"}', "--id", "1", "--db", db, "--json")
    for name in ("pause", "resume", "cancel"):
        statuses.append(penstock(name, run, "--db", db, "--json").json["status"])
    kinds = [entry["kind"] for entry in penstock("history", run, "--db", db, "--json").json]

    assert (answer.out, twice.json) == ("accepted\n", {"answer": "duplicate"})
    assert statuses == ["waiting", "paused", "running", "canceled"]
    assert kinds[:3] == ["event", "event", "fired"]
    assert penstock("show", run, "--db", db).out.startswith("hello canceled after ")


def test_a_failed_run_is_tried_again(db: str, tmp_path: Path) -> None:
    def fail() -> None:
        raise RuntimeError("no")

    write(tmp_path, "hello.yaml", "penstock: 1\nname: hello\nsteps: {greet: {task: greet}}\n")
    with Engine.sync(db, tasks={"greet": fail}) as engine:
        engine.publish(tmp_path / "hello.yaml")
        run = engine.start("hello")
        assert engine.wait(run, 30)["status"] == "failed"

    assert penstock("retry", run, "greet", "--db", db, "--json").json["status"] == "running"


def test_the_history_says_why_attempts_failed_and_how_the_run_ended(db: str, tmp_path: Path) -> None:
    def fail(ctx: Context) -> None:
        raise RuntimeError(f"no bread, try {ctx.attempt}")

    steps = "steps: {greet: {task: greet, retries: 1, backoff: {initial: 1ms}}}"
    write(tmp_path, "hello.yaml", f"penstock: 1\nname: hello\n{steps}\n")
    with Engine.sync(db, tasks={"greet": fail}) as engine:
        engine.publish(tmp_path / "hello.yaml")
        run = engine.start("hello")
        engine.wait(run, 30)

    shown = penstock("history", run, "--db", db).out.splitlines()
    assert [line.split()[-1] for line in shown if " run_ended " in line] == ["failed"]
    assert [line for line in shown if line.endswith("  attempt 1: RuntimeError: no bread, try 1")]
    assert [line for line in shown if line.endswith("  failed  RuntimeError: no bread, try 2")]


def test_a_run_that_is_waited_for_tells_how_it_ended(tmp_path: Path) -> None:
    db = str(tmp_path / "penstock.db")
    write(tmp_path, "hello.yaml", "penstock: 1\nname: hello\nsteps: {set: {task: set, with: {x: 1}}}\n")
    penstock("publish", tmp_path / "hello.yaml", "--db", db)

    said = penstock("start", "hello", "--wait", "--db", db, "--json")

    assert (said.code, said.json["status"]) == (0, "succeeded")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["show", "none"], "there is no run 'none'."),
        (["start", "none"], "no workflow 'none' is published."),
        (["runs", "--status", "odd"], "--status 'odd' is not known: say "),
        (["emit", "--key", "odd", "go"], "--key 'odd' is no pair: write --key NAME=VALUE."),
        (
            ["emit", "run"],
            "say which event: penstock emit RUN EVENT [JSON], or --key NAME=VALUE EVENT [JSON].",
        ),
    ],
)
def test_what_cannot_be_done_is_told_in_one_sentence(db: str, args: list[str], sentence: str) -> None:
    said = penstock(*args, "--db", db)

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"error: {sentence}")
    assert said.err.count("\n") == 1


def test_a_file_that_a_process_serves_is_left_to_it(db: str, tmp_path: Path) -> None:
    with serving("up", cwd=tmp_path):
        said = penstock("runs", "--db", db)

    assert (said.code, "is in use by process" in said.err) == (2, True)
