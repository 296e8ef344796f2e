"""Looking after runs from the command line: lists, reasons, many at once, incidents, tokens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.cli.runs.why import reason_line
from tests.cli.served import Place, a_place


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with a_place(tmp_path_factory.mktemp("served")) as place:
        yield place


def ids(at: Place, *filters: str) -> list[str]:
    return [row["id"] for row in at("runs", *filters, "--json").json]


def settled(at: Place, *more: object) -> str:
    """A run that waits for `go`."""
    run = at.run("waiting", *more)
    while at("show", run, "--json").json["status"] != "waiting":
        pass
    return run


def test_runs_are_found_by_every_filter(at: Place) -> None:
    run = settled(at, "--subject", "order-77", "--label", "customer=7")
    other = at("start", "failing", "--wait", "--json").json["id"]

    for filters in (
        ["--subject", "order-77"],
        ["--label", "customer=7"],
        ["--q", "order-7"],
        ["--q", run],
        ["--waiting-for", "go", "--workflow", "waiting", "--since", "1h", "--label", "customer=7"],
        ["--status", "waiting", "--status", "running", "--label", "customer=7", "--version", "1"],
    ):
        assert ids(at, *filters) == [run], filters
    assert ids(at, "--status", "failed", "--limit", "1") == [other]
    assert ids(at, "--sort", "ended", "--limit", "1") == [other]
    assert ids(at, "--until", "1h") == []
    assert run not in ids(at, "--waiting-for", "go", "--waiting-since", "1h")


def test_more_runs_than_a_page_are_listed(at: Place) -> None:
    for _ in range(3):
        at.run()

    listed = at("runs", "--limit", 2)

    assert listed.out.splitlines()[0].split() == ["run", "workflow", "status", "started", "ago", "subject"]
    assert len(listed.out.splitlines()) == 3


def test_it_is_said_why_a_run_waits(at: Place) -> None:
    run = settled(at)

    said, found = at("why", run), at("why", run, "again", "--json").json

    assert said.out.splitlines()[0] == "The run waits for 'go' from outside."
    assert [each["step"] for each in found["steps"]] == ["again"]


def test_why_tells_how_far_a_worker_is_and_its_lines_stand_below_each_other() -> None:
    running = {"reason": "running", "text": "'a' runs.", "progress": {"percent": 40}}
    missing = {"reason": "missing events", "text": "'b' waits for 'paid'."}

    lines = [reason_line(each).plain for each in (running, missing)]

    assert lines[0].endswith("""'a' runs. Progress: {"percent": 40}""")
    assert lines[0].index("'a'") == lines[1].index("'b'")


def test_an_event_says_that_it_is_kept_for_a_run_that_is_not_there(at: Place) -> None:
    kept, wrong = at("emit", "--key", "job=none", "go"), at("emit", "--key", "job=none", "gone")

    assert (kept.code, kept.out) == (
        0,
        "accepted: no run has the key yet; the event is kept for it, for seven days\n",
    )
    assert (wrong.code, "no published workflow takes the event 'gone'" in wrong.err) == (2, True)


def test_many_runs_are_acted_on_after_a_preview(at: Place) -> None:
    runs = [settled(at, "--label", "many=1") for _ in range(3)]
    filters = ("--filter", "label=many=1", "--filter", "status=waiting")

    unsaid = at("cancel", "--filter", " ".join(filters[1::2]))
    said = at("cancel", *filters, "--yes")
    again = at("cancel", *filters, "--yes", "--json").json

    assert (unsaid.code, unsaid.err) == (
        2,
        "error: 3 runs would be acted on by cancel: say --yes to do it.\n",
    )
    assert (said.code, said.out) == (0, "cancel: 3 runs\n")
    assert again["done"] == 0
    assert {at("show", run, "--json").json["status"] for run in runs} == {"canceled"}


def test_a_failed_run_is_an_incident_and_its_step_can_be_skipped(at: Place) -> None:
    run = at("start", "failing", "--wait", "--json").json["id"]

    [incident] = [each for each in at("incidents", "--json").json if each["run"] == run]
    skipped = at("skip", run, "only", "--output", "7", "--reason", "by hand", "--json").json

    assert (incident["kind"], incident["actions"]) == ("failed", ["retry", "skip", "rerun"])
    assert (skipped["status"], skipped["steps"]["only"]["output"]) == ("succeeded", 7)
    assert at("incidents", "--workflow", "waiting", "--json").json == []


def test_a_run_begins_again_at_a_step(at: Place) -> None:
    run = settled(at)
    at("emit", run, "go")
    at("watch", run)

    again = at("rerun", run, "--from", "again", "--json").json
    watched = at("watch", again["id"])
    unknown = at("rerun", run, "--from", "nowhere")

    assert (again["rerun_of"], watched.code, unknown.code) == (run, 0, 2)
    assert "greet begins" not in watched.out


def test_tokens_of_a_run_are_read_and_repaired(at: Place) -> None:
    run = settled(at)

    names = [each["name"] for each in at("tokens", "ls", f"/runs/waiting/{run}/", "--json").json]
    step = at("tokens", "cat", f"/runs/waiting/{run}/steps/again")
    put = at(
        "tokens", "put", f"/runs/waiting/{run}/slots/again/1/1", '{"event": "go"}', "--reason", "by hand"
    )
    ended = at("start", "failing", "--wait", "--json").json["id"]

    assert f"/runs/waiting/{run}/steps/greet" in names
    assert step.json["status"] == "blocked"
    assert put.out.splitlines()[1:] == ["now begins: again"]
    assert at("tokens", "ls", f"/history/failing/{ended}/").code == 0


def test_tokens_of_ones_own_are_put_changed_and_removed(at: Place) -> None:
    name = "/custom/mine/1"

    put = at("tokens", "put", name, '{"page": 7}', "--priority", 2)
    twice = at("tokens", "put", name, "1")
    version = put.out.split()[-1]
    changed = at("tokens", "put", name, '{"page": 8}', "--version", version, "--owner", "ann")
    [token] = at("tokens", "ls", "/custom/", "--json").json
    removed = at("tokens", "rm", name)

    assert (put.out, changed.code, twice.code) == (f"{name} is put, version {version}\n", 0, 2), changed.err
    assert (token["data"], token["owner"], token["version"] > int(version)) == ({"page": 8}, "ann", True)
    assert (removed.out, at("tokens", "cat", name).code) == (f"{name} is removed\n", 2)
