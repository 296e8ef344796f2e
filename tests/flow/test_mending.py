"""A person mends a run: every repair is in its history, whole or not at all, and the run goes on by the usual rules."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.flow.model.run_input import GivenUp, Paused, Put, Repaired, Skipped, Take
from tests.flow.driver import Drive, flow_of

JOIN = flow_of(
    "a: {task: t}\nb: {task: t, fails: oops}\nc: {task: t, after: [a, b]}\nd: {task: t, after: oops}"
)


def stalled() -> Drive:
    """`c` has what `a` fired and waits for `b` for ever."""
    drive = Drive(JOIN)
    drive.done("a", 1)
    drive.fail("b")
    drive.done("d")
    assert drive.status == "stalled"
    return drive


def test_an_event_put_into_a_slot_lets_a_stalled_run_go_on() -> None:
    drive = stalled()

    answer = drive.happen(Repaired(put=(Put(step="c", slot=1, event="b", data=2),), reason="by hand"))

    assert (answer, drive.status, drive.fired("c")) == ("accepted", "running", 1)
    [entry] = drive.entries("repaired")
    assert (entry.step, entry.event, entry.data) == ("c", "b", {"put": 1, "data": 2, "reason": "by hand"})
    assert drive.tasks["c"].taken.tokens()[1].load.data == 2
    drive.done("c")
    assert drive.status == "succeeded"


def test_an_event_taken_out_is_gone() -> None:
    drive = Drive(JOIN)
    drive.done("a")
    [number] = [entry.seq for entry in drive.entries("event") if entry.event == "a"]

    drive.happen(Repaired(take=(Take(step="c", slot=0, number=number),)))
    drive.done("b")

    assert (drive.fired("c"), drive.status) == (0, "stalled")
    assert [(entry.event, entry.data["number"]) for entry in drive.entries("repaired")] == [("a", number)]


@pytest.mark.parametrize(
    "wish",
    [
        Repaired(put=(Put(step="c", slot=0, event="a"), Put(step="c", slot=5, event="b"))),
        Repaired(put=(Put(step="c", slot=0, event="b"),)),
        Repaired(put=(Put(step="none", event="a"),)),
        Repaired(put=(Put(step="c", slot=1, event="b"),), take=(Take(step="c", number=999),)),
    ],
)
def test_a_repair_that_does_not_fit_changes_nothing(wish: Repaired) -> None:
    drive = stalled()
    before = drive.snapshot

    assert (drive.happen(wish), drive.snapshot) == ("refused", before)


def test_a_repair_expects_the_run_where_it_was_looked_at() -> None:
    drive = stalled()
    seq, put = drive.snapshot.seq, (Put(step="c", slot=1, event="b"),)

    assert drive.happen(Repaired(put=put, expect=seq - 1)) == "superseded"
    assert drive.happen(Repaired(put=put, expect=seq)) == "accepted"


def test_an_ended_run_is_not_repaired() -> None:
    drive = Drive(flow_of("a: {task: t}"))
    drive.done("a")

    assert drive.happen(Repaired(put=(Put(step="a", event="START"),))) == "refused"
    assert drive.happen(Skipped(step="a")) == "refused"
    assert drive.happen(GivenUp()) == "refused"


def test_an_event_put_at_a_step_with_match_has_its_key() -> None:
    flow = flow_of(
        "a: {task: t, after: [x, y], match: event.data.k}",
        "external: [{name: x, many: true}, {name: y, many: true}]",
    )
    drive = Drive(flow)
    drive.event("x", {"k": 1})

    assert drive.happen(Repaired(put=(Put(step="a", slot=1, event="y", data={}),))) == "refused"
    assert drive.happen(Repaired(put=(Put(step="a", slot=1, event="y", data={"k": 2}),))) == "accepted"
    assert drive.fired("a") == 0
    drive.happen(Repaired(put=(Put(step="a", slot=1, event="y", data={"k": 1}),)))
    assert drive.fired("a") == 1


def after_skip(drive: Drive, step: str = "a", **more: Any) -> tuple[str, str]:
    answer = drive.happen(Skipped(step=step, **more))
    return answer, drive.status


TWO = flow_of("a: {task: t, retries: 1}\nb: {task: t, after: a, with: {x: '${ steps.a.output }'}}")


def test_a_step_under_way_is_skipped_and_its_worker_is_told() -> None:
    drive = Drive(TWO)

    assert after_skip(drive, output=7) == ("accepted", "running")
    assert drive.plans[-1].withdrawn == ((drive.step("a").latest, None),)
    assert (drive.step("a").status, drive.step("a").output, list(drive.tasks)) == ("complete", 7, ["b"])
    assert drive.tasks["b"].params == {"x": 7}


def test_a_step_in_backoff_is_skipped() -> None:
    drive = Drive(TWO)
    drive.fail("a")

    assert after_skip(drive, output=7) == ("accepted", "running")
    assert drive.ring() == "superseded"


def test_the_failed_step_of_a_failed_run_is_skipped_and_what_failed_with_it_goes_on() -> None:
    drive = Drive(flow_of("a: {task: t}\no: {task: t}\nb: {task: t, after: [a, o]}"))
    drive.fail("a")
    assert drive.status == "failed"

    assert after_skip(drive, output=7, paused=()) == ("accepted", "running")
    assert (drive.step("a").output, list(drive.tasks)) == (7, ["o"])
    drive.done("o")
    drive.done("b")
    assert drive.status == "succeeded"


def test_a_step_held_by_a_pause_is_skipped() -> None:
    drive = Drive(TWO)
    drive.happen(Paused())
    drive.done("a")

    assert after_skip(drive, "b") == ("accepted", "paused")
    assert drive.step("b").status == "complete"


def test_a_starving_step_is_skipped_only_where_the_run_is_stalled() -> None:
    early = Drive(JOIN)
    early.done("a")
    assert after_skip(early, "c") == ("refused", "running")

    assert after_skip(stalled(), "c") == ("accepted", "succeeded")
    assert after_skip(stalled(), "b") == ("refused", "stalled")


@pytest.mark.parametrize("port", ["failed", "none"])
def test_a_step_is_skipped_only_to_a_port_where_it_went_well(port: str) -> None:
    assert after_skip(Drive(TWO), port=port) == ("refused", "running")


def test_a_fan_is_skipped_as_a_whole() -> None:
    drive = Drive(flow_of("a: {task: t, each: data.xs}\nb: {task: t, after: a}"), {"xs": [1, 2, 3]})
    drive.done("a[1]")

    assert after_skip(drive, output=["x"]) == ("accepted", "running")
    assert (list(drive.tasks), dict(drive.snapshot.results)) == (["b"], {})


def test_a_run_is_given_up_and_cleans_up() -> None:
    drive = Drive(flow_of("a: {task: t, after: go}\nz: {task: t, after: FAIL}", "external: [go]"))
    assert drive.status == "waiting"

    assert drive.happen(GivenUp("no one pays")) == "accepted"
    assert drive.happen(GivenUp()) == "duplicate"
    drive.done("z")

    assert (drive.status, drive.snapshot.error and drive.snapshot.error.message) == ("failed", "no one pays")
