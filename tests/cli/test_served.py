"""Commands against a server over HTTP: the same sentences and exit codes as on a database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import penstock, write
from tests.cli.served import Place, a_place


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with a_place(tmp_path_factory.mktemp("served")) as place:
        yield place


def test_what_did_not_change_is_not_published_again(at: Place) -> None:
    again = at("publish", at.folder / "waiting.yaml", "--json")
    listed = at("workflows", "--json").json

    assert [(each["name"], each["version"]) for each in again.json] == [("waiting", 1)]
    assert {row["name"]: row["published_version"] for row in listed} == {"failing": 1, "waiting": 1}


STUCK = "penstock: 1\nname: stuck\nsteps: {a: {task: set, with: {x: 1}, after: b}}\n"


def test_a_definition_that_is_wrong_is_shown_in_its_file(at: Place) -> None:
    broken = write(at.folder, "broken.yaml", "penstock: 1\nname: broken\nsteps: {a: {task: set, aftr: b}}\n")

    unread = at("publish", broken, "--no-tasks")

    assert (unread.code, unread.err.startswith(f"error: {broken}:3:")) == (2, True)


@pytest.mark.parametrize("on", ["server", "database"])
def test_a_workflow_that_is_refuted_is_told_as_check_tells_it(at: Place, on: str) -> None:
    stuck, plain = (
        write(at.folder, "stuck.yaml", STUCK),
        write(at.folder, "plain.yaml", "penstock: 1\nname: plain\nsteps: {a: {task: set}}\n"),
    )
    db = ("--db", at.folder / "own.db", "--no-tasks")
    publish = at if on == "server" else penstock
    where = ("--no-tasks",) if on == "server" else db

    said = publish("publish", plain, stuck, plain, *where)
    as_json = publish("publish", stuck, "--json", *where)
    checked = penstock("check", stuck, "--no-tasks", "--json").json

    assert (said.code, said.out.splitlines()[0]) == (1, "plain version 1")
    assert f" --> {stuck}:3" in said.out.splitlines()
    assert [line for line in said.out.splitlines() if line.startswith(" = hint: ")]
    assert said.err.startswith("error: 'stuck' is not published: ")
    assert said.err.splitlines()[-1].strip() == "1 file named after it: not published either"
    assert (as_json.code, as_json.json) == (
        1,
        [{"name": "stuck", "version": None, "findings": checked["findings"]}],
    )


def test_a_run_is_started_watched_and_sent_an_event(at: Place) -> None:
    run = at.run("waiting", "--subject", "A7", "--label", "x=y")

    sent = [at("emit", run, "go", '{"by": "ann"}', "--id", "1", "--json").json["answer"] for _ in range(2)]
    watched = at("watch", run)
    shown = at("show", run, "--json").json

    assert sent == ["accepted", "duplicate"]
    assert (watched.code, watched.out.splitlines()[-4].startswith("waiting succeeded after")) == (0, True)
    assert [line.split(maxsplit=1)[1] for line in watched.out.splitlines() if "again" in line][:2] == [
        "again begins",
        "again ends on done",
    ]
    assert (shown["subject"], shown["labels"], shown["status"]) == ("A7", {"x": "y"}, "succeeded")


def test_a_run_that_is_waited_for_tells_how_it_ended(at: Place) -> None:
    said = at("start", "failing", "--wait")
    as_json = at("start", "failing", "--wait", "--json")

    assert (said.code, as_json.code, as_json.json["status"]) == (1, 1, "failed")
    assert said.out.splitlines()[-1] == "error: RuntimeError: no"
    assert at("watch", as_json.json["id"], "--json").code == 1


def test_a_key_gives_the_first_run(at: Place) -> None:
    assert at.run("waiting", "--key", "k") == at.run("waiting", "--key", "k")


def test_history_and_logs_are_read(at: Place) -> None:
    run = at("start", "failing", "--wait", "--json").json["id"]
    other = at.run()
    at("emit", other, "go")
    at("watch", other)

    kinds = [entry["kind"] for entry in at("history", run, "--json").json]
    later = [entry["seq"] for entry in at("history", run, "--after", 2, "--json").json]
    lines = at("logs", other, "--follow")

    assert (kinds[:2], kinds[-1], later[0]) == (["event", "fired"], "run_ended", 3)
    assert [line.split(maxsplit=2)[2] for line in lines.out.splitlines()] == [
        "greet: hello from greet",
        "again: hello from greet",
    ]


def test_a_run_is_paused_resumed_cancelled_and_run_again(at: Place) -> None:
    run = at.run()

    statuses = [at(name, run, "--json").json["status"] for name in ("pause", "resume", "cancel")]
    again = at("rerun", run, "--json").json

    assert (statuses[0], statuses[2]) == ("paused", "canceled")
    assert (again["rerun_of"], again["id"] != run) == (run, True)


def test_a_failed_run_is_tried_again(at: Place) -> None:
    run = at("start", "failing", "--wait", "--json").json["id"]

    assert at("retry", run, "only", "--json").json["status"] in ("running", "failed")


def test_workflows_are_held_and_let_go(at: Place) -> None:
    def state(name: str) -> tuple[bool, bool]:
        [row] = [row for row in at("workflows", "--json").json if row["name"] == name]
        return row["started"], row["paused"]

    said = [at("pause", "failing").out, at("stop-source", "failing").out]
    held = state("failing")
    said += [at("resume", "failing").out, at("start-source", "failing").out]
    at("pause", "--all")
    everything = state("waiting")
    at("resume", "--all")

    assert said == [
        "failing is paused\n",
        "failing is stopped\n",
        "failing is resumed\n",
        "failing is started\n",
    ]
    assert (held, state("failing"), everything, state("waiting")) == (
        (False, True),
        (True, False),
        (True, True),
        (True, False),
    )


def test_workers_and_task_lists_are_listed(at: Place) -> None:
    [worker] = at("workers", "--json").json

    assert (worker["task_lists"], sorted(worker["tasks"])) == (["default"], ["breaks", "greet"])
    assert at("workers").out.splitlines()[0].split() == [
        "worker",
        "task",
        "lists",
        "concurrency",
        "started",
        "seen",
        "tasks",
    ]
    assert at("queues").code == 0


def test_tokens_and_secrets_are_kept(at: Place) -> None:
    made = at("access", "create", "--role", "viewer", "--name", "ann", "--json").json
    listed = at("access", "list", "--json").json
    revoked = at("access", "revoke", made["id"])
    secret = at("secret", "set", "mail", stdin="open sesame")
    names = [each["name"] for each in at("secret", "list", "--json").json]
    removed = at("secret", "rm", "mail")

    assert [(each["id"], each["name"]) for each in listed] == [(made["id"], "ann")]
    assert (revoked.out, removed.out) == (f"{made['id']} is revoked\n", "mail is removed\n")
    assert (secret.out, names) == ("mail is set, version 1\n", ["mail"])


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["start", "wating"], "no workflow 'wating' is published; did you mean 'waiting'?"),
        (["show", "0" * 20], f"there is no run '{'0' * 20}'."),
        (["watch", "0" * 20], f"there is no run '{'0' * 20}'."),
        (["emit", "0" * 20, "go"], f"there is no run '{'0' * 20}'."),
        (["stop-source", "nope"], "no workflow 'nope' is published."),
        (["cancel"], "name a run, or many with --filter NAME=VALUE."),
        (["pause"], "name a run or a workflow, or say --all for the whole installation."),
        (["runs", "--status", "odd"], "--status 'odd' is not known: say "),
        (
            ["runs", "--since", "soon"],
            "--since 'soon' is no time: write 2026-03-02T15:30:00Z, 2026-03-02, or 2h ",
        ),
        (["cancel", "--filter", "colour=red"], "--filter 'colour=red' is not known: use "),
        (["runs", "--db", "x.db"], "--server and --db contradict each other: give one of them."),
    ],
)
def test_what_cannot_be_done_is_told_in_one_sentence(at: Place, args: list[str], sentence: str) -> None:
    said = at(*args)

    assert (said.code, said.out, said.err.startswith(f"error: {sentence}")) == (2, "", True), said.err


@pytest.mark.parametrize(
    ("server", "sentence"),
    [
        ("ftp://x", "'ftp://x' is no address of a server: write --server http://host:port."),
        ("http://ann:pw@x", "'x' came with a password: pass a token with --token instead: write --server "),
    ],
)
def test_an_address_that_cannot_be_is_told(server: str, sentence: str, tmp_path: Path) -> None:
    from tests.cli.command import penstock

    said = penstock("workflows", "--server", server)

    assert (said.code, said.err.startswith(f"error: {sentence}")) == (2, True), said.err
