"""Looking after runs on every store: markings, repairs, incidents, reasons, and the same done to many."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock import Context, Engine, Fatal
from penstock.runtime.commands import tokens
from penstock.runtime.errors import (
    BadCursor,
    Changed,
    Invalid,
    NotRetryable,
    NotSkippable,
    RunEnded,
    UnknownRun,
    UnknownStep,
    UnknownToken,
    UnknownWorkflow,
)
from penstock.runtime.queries import workflow_stats
from penstock.store.rows.rows import ClaimRequest
from tests.durable.conftest import Place

JOIN = """
penstock: 1
name: join
steps:
  a: {task: echo, with: {x: {k: 1}}}
  b: {task: echo, with: {x: {k: 2}}}
  c: {task: echo, after: [a, b], match: event.data.k, with: {x: "${ events['b'].n }"}}
"""
"""Nothing that `a` and `b` fire has the same key: `c` starves."""


async def echo(ctx: Context, x: Any = None) -> Any:
    return x


async def broken(ctx: Context) -> None:
    raise Fatal("it is broken")


TASKS = {"echo": echo, "broken": broken}


async def stalled(engine: Engine) -> str:
    await engine.publish(JOIN)
    run = await engine.start("join")
    assert (await engine.wait(run))["status"] == "stalled"
    return run


def waiting_at(marking: dict[str, Any], step: str) -> list[list[str]]:
    return [[event["event"] for event in slot["events"]] for slot in marking["slots"] if slot["step"] == step]


def test_the_marking_says_of_steps_what_the_run_says(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(
            {"penstock": 1, "name": "nobody", "steps": {"far": {"task": "far", "task_list": "far"}}}
        )
        run = await engine.start("nobody")

        shown, marked = (await engine.show(run))["steps"]["far"], (await engine.marking(run))["steps"]["far"]

        assert (marked["status"], marked["reason"]) == (shown["status"], shown["reason"])
        assert marked == {"status": "ready", "reason": "no worker", "firings": 1, "live": 1}

    place.run(main, TASKS)


def test_the_marking_is_read_now_and_at_any_entry(place: Place) -> None:
    async def main(engine: Engine) -> None:
        run = await stalled(engine)
        now = await engine.marking(run)
        assert waiting_at(now, "c") == [["a"], ["b"]]
        assert [event["data"] for slot in now["slots"] for event in slot["events"]] == [{"k": 1}, {"k": 2}]
        assert now["steps"]["b"] == {"status": "complete", "reason": None, "firings": 1, "live": 0}
        assert now["seq"] == len(await engine.history(run))
        for at in range(now["seq"] + 1):
            then = await engine.marking(run, at=at)
            assert then["seq"] == at
        assert {name: then[name] for name in ("seq", "steps")} == {
            name: now[name] for name in ("seq", "steps")
        }
        assert waiting_at(then, "c") == waiting_at(now, "c")
        assert waiting_at(await engine.marking(run, at=1), "a") == [["START"]]
        for at in (-1, now["seq"] + 1):
            with pytest.raises(Invalid, match="has history entries"):
                await engine.marking(run, at=at)
        with pytest.raises(UnknownRun):
            await engine.marking("none")

    place.run(main, TASKS)


def test_a_stalled_run_is_repaired_and_goes_on(place: Place) -> None:
    async def main(engine: Engine) -> None:
        run = await stalled(engine)
        seq = (await engine.marking(run))["seq"]
        put = [{"step": "c", "slot": 1, "event": "b", "data": {"k": 1, "n": 5}}]
        tried = await engine.repair(run, put=put, dry_run=True)
        assert (tried["will_fire"], (await engine.show(run))["status"]) == (["c"], "stalled")
        with pytest.raises(Changed):
            await engine.repair(run, put=put, expect=seq - 1)
        with pytest.raises(Invalid, match="takes b, not 'a'"):
            await engine.repair(run, put=[{"step": "c", "slot": 1, "event": "a"}])
        with pytest.raises(Invalid, match="`put` is a list"):
            await engine.repair(run, put=[{"stepp": "c"}])
        with pytest.raises(Invalid, match="no event 999 waits"):
            await engine.repair(run, take=[{"step": "c", "number": 999}])
        with pytest.raises(Invalid, match="up to 1,000 events"):
            await engine.repair(run, put=put * 1_001, dry_run=True)
        done = await engine.repair(run, put=put, expect=seq, reason="paid by cheque")
        assert done["will_fire"] == ["c"]
        view = await engine.wait(run)
        assert (view["status"], view["steps"]["c"]["output"]) == ("stalled", 5)
        [left] = [event for slot in (await engine.marking(run))["slots"] for event in slot["events"]]
        await engine.repair(run, take=[{"step": "c", "slot": 1, "number": left["number"]}])
        assert (await engine.wait(run))["status"] == "succeeded"
        [entry, _] = [each for each in await engine.history(run) if each["kind"] == "repaired"]
        assert entry["data"] == {"put": 1, "data": {"k": 1, "n": 5}, "reason": "paid by cheque"}
        with pytest.raises(RunEnded):
            await engine.repair(run, put=put)

    place.run(main, TASKS)


CHAIN = """
penstock: 1
name: chain
steps:
  a: {task: broken}
  b: {task: echo, after: a, with: {x: "${ steps.a.output }"}}
"""


def test_a_failed_step_is_skipped_with_a_value(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(CHAIN)
        run = await engine.start("chain")
        assert (await engine.wait(run))["status"] == "failed"
        with pytest.raises(NotSkippable, match="the run has ended as failed"):
            await engine.skip(run, "b")
        with pytest.raises(UnknownStep, match="no step 'x'"):
            await engine.skip(run, "x")
        with pytest.raises(Invalid, match="its ports are done"):
            await engine.skip(run, "a", "elsewhere")
        await engine.skip(run, "a", output={"by": "hand"})
        view = await engine.wait(run)
        assert (view["status"], view["steps"]["b"]["output"]) == ("succeeded", {"by": "hand"})
        with pytest.raises(NotSkippable, match="ended as succeeded"):
            await engine.skip(run, "a")
        with pytest.raises(
            NotRetryable, match="is succeeded, and only a failed run can be retried: rerun it"
        ):
            await engine.retry(run)

    place.run(main, TASKS)


WAITS = "penstock: 1\nname: w\nexternal: [go]\nsteps:\n  a: {task: echo, after: go, emits: OK}\n"


def test_a_waiting_run_says_why_and_can_be_let_fail(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(WAITS)
        run = await engine.start("w")
        await engine.wait(run, rest=True)
        said = await engine.why(run)
        assert (said["status"], said["waiting_for"]) == ("waiting", ["go"])
        assert said["text"] == "The run waits for 'go' from outside."
        with pytest.raises(Invalid, match="no step 'x'"):
            await engine.why(run, "x")
        view = await engine.fail(run, "nobody came")
        assert (view["status"], view["error"]["message"]) == ("failed", "nobody came")
        with pytest.raises(RunEnded):
            await engine.fail(run)

    place.run(main, TASKS)


def test_a_step_whose_tasks_nobody_has_taken_is_ready_and_has_no_attempt(place: Place) -> None:
    text = """
penstock: 1
name: n
steps:
  a: {task: elsewhere, task_list: gpu}
  b: {task: elsewhere, task_list: gpu, each: "[1, 2]"}
"""

    async def main(engine: Engine) -> None:
        await engine.publish(text)
        run = await engine.start("n")
        keys = ("status", "reason", "firings", "attempts")
        steps = (await engine.show(run))["steps"]
        assert [tuple(steps[name][key] for key in keys) for name in "ab"] == [
            ("ready", "no worker", 1, 0)
        ] * 2

        paused = (await engine.pause(run))["steps"]
        assert [tuple(paused[name][key] for key in keys) for name in "ab"] == [("ready", "pause", 1, 0)] * 2
        await engine.resume(run)

        wish = ClaimRequest(worker="w", task_lists=("gpu",), tasks=None, limit=2)
        gate = (await engine.running()).node.dispatch
        assert len(await gate.claim(wish, timedelta(seconds=5))) == 2
        steps = (await engine.show(run))["steps"]
        assert [tuple(steps[name][key] for key in keys) for name in "ab"] == [("running", None, 1, 1)] * 2

    place.run(main, TASKS)


def test_a_task_that_nobody_does_is_told_and_lists_as_stuck(place: Place) -> None:
    text = "penstock: 1\nname: n\nsteps:\n  a: {task: elsewhere, task_list: gpu, warn_after: 0.01s}\n"

    async def main(engine: Engine) -> None:
        await engine.publish(text)
        run = await engine.start("n")
        await asyncio.sleep(0.05)  # longer than its `warn_after`
        [said] = (await engine.why(run))["steps"]
        assert (said["reason"], said["task_list"]) == ("no worker", "gpu")
        assert (await engine.why_task_list("gpu"))["reason"] == "no worker"
        [task] = (await engine.stuck())["tasks"]
        assert (task["task_list"], task["task"], task["count"]) == ("gpu", "elsewhere", 1)
        assert [(each["run"], each["step"]) for each in await engine.slow()] == [(run, "a")]

    place.run(main, TASKS)


MATCH = """
penstock: 1
name: m
endless: true
external: [{name: x, many: true}]
steps:
  a: {task: echo, after: x, match: event.data.k}
"""


def test_incidents_are_what_waits_for_a_person(place: Place) -> None:
    async def main(engine: Engine) -> None:
        hungry = await stalled(engine)
        await engine.publish(CHAIN)
        failed = await engine.start("chain")
        await engine.wait(failed)
        await engine.publish(MATCH)
        odd = await engine.start("m")
        await engine.emit("x", {}, run=odd)
        await engine.emit("x", key={"k": "1"})
        page = await engine.incidents()
        assert [(item["kind"], item["run"]) for item in page["items"]] == [
            ("failed", failed),
            ("stalled", hungry),
            ("set_aside", odd),
            ("undelivered", None),
        ]
        assert page["next"] is None
        assert page["items"][0]["text"] == "The run failed at step 'a': it is broken"
        assert page["items"][1]["starving"] == [{"step": "c", "missing": ["a", "b"]}]
        assert page["items"][2]["reason"] in page["items"][2]["text"]
        paged, cursor = [], None
        while True:
            part = await engine.incidents(limit=1, cursor=cursor)
            paged += part["items"]
            if (cursor := part["next"]) is None:
                break
        assert paged == page["items"]
        assert [item["run"] for item in (await engine.incidents(workflows=("ch*",)))["items"]] == [failed]
        with pytest.raises(BadCursor):
            await engine.incidents(cursor="abc")

    place.run(main, TASKS)


def test_the_same_is_done_to_many_runs(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(WAITS)
        await engine.publish(CHAIN)
        waiting = [await engine.start("w", subject=f"s{n}") for n in range(7)]
        failed = await engine.start("chain")
        await engine.wait(failed)
        for run in waiting:
            await engine.wait(run, rest=True)
        assert await engine.bulk("cancel", {"workflow": "w"}, dry_run=True) == {
            "action": "cancel",
            "count": 7,
            "statuses": {"waiting": 7},
        }
        told: list[Any] = []
        done = await engine.bulk("pause", {"workflow": "w"}, tell=told.append)
        assert (done["done"], done["refused"], done["more"], told[-1]) == (7, 0, False, done)
        assert (await engine.bulk("resume", {"subject": "s3"}))["done"] == 1
        assert (await engine.counts(workflow="w"))["paused"] == 6
        assert (await engine.bulk("cancel", {"workflow": "w"}, force=True))["done"] == 7
        assert (await engine.bulk("cancel", {"workflow": "w"}))["done"] == 0
        assert (await engine.bulk("retry", {}))["done"] == 1
        assert (await engine.wait(failed))["status"] == "failed"
        again = await engine.bulk("rerun", {"workflow": "w", "statuses": ("canceled",)}, most=3)
        assert (again["done"], len(again["made"]), again["more"]) == (3, 3, True)
        with pytest.raises(Invalid, match="cannot be done to many"):
            await engine.bulk("dance", {})

    place.run(main, TASKS)


async def all_tokens(engine: Engine, prefix: str, limit: int = 100) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        page = await engine.tokens(prefix, limit=limit, cursor=cursor)
        assert len(page["items"]) <= limit
        found += page["items"]
        if (cursor := page["next"]) is None:
            return found


def test_the_state_of_runs_is_read_as_tokens(place: Place) -> None:
    async def main(engine: Engine) -> None:
        run = await stalled(engine)
        root = f"/runs/join/{run}"
        [seq] = {token["version"] for token in await all_tokens(engine, root)}
        names = [token["name"] for token in await all_tokens(engine, root)]
        events = [name for name in names if "/slots/" in name]
        assert names == sorted([*events, *(f"{root}/steps/{step}" for step in "abc")])
        assert [name.rsplit("/", 1)[0] for name in events] == [f"{root}/slots/c/0", f"{root}/slots/c/1"]
        assert (await engine.marking(run))["seq"] == seq
        assert [token["name"] for token in await all_tokens(engine, f"{root}/slots/c/1/")] == events[1:]
        second = await stalled(engine)
        for prefix in ("/runs/", "/runs/jo", "/runs/join/", f"/runs/join/{run[:3]}"):
            every = [token["name"] for token in await all_tokens(engine, prefix)]
            assert (len(every), set(names) <= set(every)) == (10, True)
            for limit in (1, 2, 3, 7):
                assert [token["name"] for token in await all_tokens(engine, prefix, limit)] == every
        assert await all_tokens(engine, "/runs/other/") == []
        assert await all_tokens(engine, "/history/") == []
        await engine.cancel(second)
        assert len(await all_tokens(engine, f"/history/join/{second}/")) == 5
        with pytest.raises(Invalid, match="begins no token"):
            await engine.tokens("/etc/")
        for part in ("steps/a/", "sloths", "slots/c/x", "slots/c/0/1/", "slots/c//1", "data", "/steps"):
            with pytest.raises(Invalid, match="no token begins with"):
                await engine.tokens(f"{root}/{part}")
        for begins in ("", "/", "/s", "/st", "/steps/", "/steps/a", "/slots/c/0", "/slots/c/0/"):
            assert await all_tokens(engine, root + begins) != []
        for wrong in ("/runs//", "/runs//x", "/runs/join//steps"):
            with pytest.raises(Invalid, match="no token begins with"):
                await engine.tokens(wrong)
        with pytest.raises(BadCursor):
            await engine.tokens("/runs/", cursor="x")

    place.run(main, TASKS)


def test_one_call_reads_so_many_runs_however_few_tokens_fit(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MAX_RUNS_READ", 20)

    async def main(engine: Engine) -> None:
        for _ in range(25):
            run = await stalled(engine)
        prefix = f"/runs/join/{run[:3]}"
        page = await engine.tokens(prefix, limit=1000)
        assert (len(page["items"]), page["next"] is None) == (100, False)
        assert len(await all_tokens(engine, prefix, 1000)) == 125

    place.run(main, TASKS)


def test_a_run_is_repaired_through_its_tokens(place: Place) -> None:
    async def main(engine: Engine) -> None:
        run = await stalled(engine)
        root = f"/runs/join/{run}"
        before = await all_tokens(engine, root)
        _, event = [token for token in before if "/slots/" in token["name"]]
        wrong = [{"name": event["name"], "version": event["version"] - 1}]
        with pytest.raises(Changed):
            await engine.edit_tokens(delete=wrong)
        with pytest.raises(Invalid, match="skip a step instead"):
            await engine.edit_tokens(delete=[{"name": f"{root}/steps/a", "version": 1}])
        with pytest.raises(Invalid, match="is history"):
            await engine.edit_tokens(delete=[{"name": "/history/x/y/steps/z", "version": 1}])
        with pytest.raises(Invalid, match="not both"):
            await engine.edit_tokens(delete=wrong, insert=[{"name": "/custom/a"}])
        with pytest.raises(UnknownRun):
            await engine.edit_tokens(
                insert=[{"name": f"/runs/other/{run}/slots/c/1/new", "data": {"event": "b"}}]
            )
        assert await all_tokens(engine, root) == before
        renewed = {"name": event["name"], "version": event["version"], "data": {"data": {"k": 1, "n": 8}}}
        done = await engine.edit_tokens(update=[renewed], reason="typing error")
        assert done["will_fire"] == ["c"]
        view = await engine.wait(run)
        assert (view["status"], view["steps"]["c"]["output"]) == ("succeeded", 8)

    place.run(main, TASKS)


def test_custom_tokens_are_changed_as_a_whole_and_claimed(place: Place) -> None:
    async def main(engine: Engine) -> None:
        wanted = [{"name": f"/custom/q/{n}", "data": {"n": n}, "priority": n} for n in range(3)]
        made = (await engine.edit_tokens(insert=wanted))["items"]
        assert [(token["name"], token["data"], token["owner"]) for token in made] == [
            (f"/custom/q/{n}", {"n": n}, None) for n in range(3)
        ]
        with pytest.raises(UnknownToken, match="there is no token '/custom/none'"):
            await engine.edit_tokens(delete=[{"name": "/custom/none", "version": 1}])
        with pytest.raises(Changed, match="token '/custom/none' was at 1, and there is none any more"):
            await engine.edit_tokens(update=[{"name": "/custom/none", "version": 1}])
        with pytest.raises(Changed, match="token '/custom/q/1' exists already, at"):
            await engine.edit_tokens(insert=[{"name": "/custom/x"}, {"name": "/custom/q/1"}])
        assert await all_tokens(engine, "/custom/", 2) == made
        mine = await engine.claim_tokens("amy", "/custom/q/", lease=timedelta(minutes=1), limit=2)
        assert [(token["name"], token["owner"]) for token in mine] == [
            ("/custom/q/2", "amy"),
            ("/custom/q/1", "amy"),
        ]
        done = [{"name": token["name"], "version": token["version"]} for token in mine]
        assert (
            await engine.edit_tokens(
                delete=done, update=[{**done[0], "name": "/custom/q/0", "version": made[0]["version"]}]
            )
        )["items"][0]["name"] == "/custom/q/0"
        with pytest.raises(Invalid, match="each once"):
            await engine.edit_tokens(delete=[done[0], done[0]])
        with pytest.raises(Invalid, match="is no name of a token"):
            await engine.claim_tokens("amy", "/runs/", lease=timedelta(minutes=1))
        with pytest.raises(Invalid, match="a claim needs"):
            await engine.claim_tokens("", "/custom/", lease=timedelta(minutes=1))

    place.run(main, TASKS)


def two_hours(place: Place) -> tuple[datetime, dict[str, Any]]:
    """Now, and an hour on either side of it."""
    now = datetime.now(UTC) if not place.virtual else datetime(2026, 1, 1, tzinfo=UTC)
    return now, {"since": now - timedelta(hours=1), "until": now + timedelta(hours=1)}


def test_a_workflow_tells_how_it_does(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(CHAIN)
        await engine.publish(CHAIN.replace("broken", "echo"))
        for version in (1, 2, 2):
            await engine.wait(await engine.start("chain", version=version))
        now, asked = two_hours(place)
        said = await engine.stats("chain", **asked)
        assert said["runs"]["statuses"] == {"failed": 1, "succeeded": 2}
        assert (said["runs"]["started"], said["runs"]["per_hour"]) == (3, 1.5)
        assert said["versions"] == {1: {"failed": 1}, 2: {"succeeded": 2}}
        assert {name: (step["firings"], step["failed"]) for name, step in said["steps"].items()} == {
            "a": (3, 1),
            "b": (2, 0),
        }
        assert (await engine.stats("chain", version=2, **asked))["runs"]["statuses"] == {"succeeded": 2}
        assert said["sampled"] == {"runs": 3, "of": 3}
        with pytest.raises(Invalid, match="must be before"):
            await engine.stats("chain", since=now, until=now)
        with pytest.raises(UnknownWorkflow):
            await engine.stats("none")

    place.run(main, TASKS)


@pytest.mark.parametrize(
    ("few", "looked_at"), [(workflow_stats.MAX_HISTORIES, 40), (0, workflow_stats.MAX_HISTORIES_PER_SLICE)]
)
def test_the_counts_of_a_step_are_those_of_all_runs(
    place: Place, monkeypatch: pytest.MonkeyPatch, few: int, looked_at: int
) -> None:
    monkeypatch.setattr(workflow_stats, "MAX_HISTORIES", few)  # with more runs some are looked at

    async def main(engine: Engine) -> dict[str, Any]:
        await engine.publish("penstock: 1\nname: once\nsteps: {a: {task: set, with: {x: 1}}}\n")
        await asyncio.gather(*(engine.start("once") for _ in range(40)))
        return await engine.stats("once", **two_hours(place)[1])

    said = place.run(main, TASKS)

    step = said["steps"]["a"]
    assert (said["sampled"], step["firings"], step["per_run"]) == ({"runs": looked_at, "of": 40}, 40, 1.0)


FROM = """
penstock: 1
name: f
steps:
  a: {task: echo, with: {x: 1}}
  s: {task: set, after: a, with: {kept: "${ data.n }"}}
  o: {task: echo, with: {x: 7}}
  b: {task: echo, after: [s, o], with: {x: "${ [steps.a.output, events['o'], data.kept] }"}}
  c: {task: echo, after: b, with: {x: "${ steps.b.output }"}}
"""


def test_a_run_is_done_again_from_a_step_on(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(FROM)
        first = await engine.start("f", input={"n": 3}, subject="s")
        assert (await engine.wait(first))["steps"]["c"]["output"] == [1, 7, 3]
        again = await engine.rerun(first, start_at="b")
        view = await engine.wait(again)
        assert (view["status"], view["rerun_of"], view["subject"]) == ("succeeded", first, "s")
        assert view["steps"]["c"]["output"] == [1, 7, 3]
        fired = [entry["step"] for entry in await engine.history(again) if entry["kind"] == "fired"]
        assert fired == ["b", "c"]
        assert (view["data"], view["steps"]["a"]["reason"]) == ({"n": 3, "kept": 3}, "rerun")
        assert waiting_at(await engine.marking(again, at=3), "b") == [["s"], ["o"]]
        with pytest.raises(Invalid, match="never began"):
            await engine.rerun(first, start_at="none")
        await engine.publish(FROM.replace("after: [s, o]", "after: s").replace("events['o']", "1"))
        with pytest.raises(Invalid, match="cannot begin at step 'b'"):
            await engine.rerun(first, start_at="b")
        assert (await engine.wait(await engine.rerun(first, start_at="c")))["status"] == "succeeded"

    place.run(main, TASKS)
