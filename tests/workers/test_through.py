"""Attempts done within the decision that makes them: the run comes to the same as when each is decided apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.cli.author.example_files import workflows_in
from penstock.engine.authoring.loader import load
from penstock.flow.model.run import Snapshot
from penstock.runtime.inmemory.engine import InMemoryEngine
from penstock.runtime.inmemory.play import play_out
from penstock.runtime.node.clock import VirtualClock
from penstock.workers.execute.inline import InlineExecutor
from penstock.workers.task import tasks_of
from penstock.workers.worker.task_loader import beside, load_tasks

EXAMPLES = Path(__file__).parents[2] / "examples"
EACH = """\
penstock: 1
name: w
steps:
  all: {task: double, each: data.items, with: {n: "${ item }"}, parallel: 3}
  sum: {task: total, after: all, with: {of: "${ steps.all.output }"}}
"""
FLAKY = """\
penstock: 1
name: w
steps:
  a: {task: flaky, retries: 2}
  b: {task: fails, after: a, fails: missed}
  c: {task: double, after: missed, with: {n: 2}}
"""
TURNS = 2_500
LOOP = """\
penstock: 1
name: w
steps:
  work: {task: count, after: START | again}
  enough: {task: decide, after: work, with: {if: "data.n < data.turns"}, emits: {then: again, else: over}}
  end: {task: count, after: over, emits: OK}
"""


def played(text: Any, tasks: Any, input: Any, through: bool) -> Snapshot:
    """A run to its end, its tasks done within decisions or between them."""
    clock, executor = VirtualClock(), InlineExecutor(tasks)
    host = InMemoryEngine(clock, executor, lambda: "r")
    if through:
        host.does = executor.outcome
    try:
        return play_out(host, clock, host.start(load(text, tasks).flow, input=input))
    finally:
        executor.close()


def same(text: Any, tasks: Any, input: Any = None) -> Snapshot:
    """The run, which is the same both ways but for the number of its decisions."""
    ends = [played(text, tasks() if callable(tasks) else tasks, input, through) for through in (False, True)]
    seen = [(end.status, end.data, end.tags, end.result, end.error, end.steps, end.seq) for end in ends]
    assert seen[0] == seen[1]
    assert ends[1].revision <= ends[0].revision
    return ends[1]


@pytest.mark.parametrize(
    "name", ["authorization", "auto_tag", "mediathread", "pinball_cycle", "tea", "youtube"]
)
def test_an_example_comes_to_the_same(name: str) -> None:
    [file] = (path for path in workflows_in(EXAMPLES) if path.stem == name)
    own = beside(file)
    params = load(file).definition.params
    assert isinstance(params, dict)

    same(file, load_tasks([str(own)]) if own else {}, params["examples"][0])


def test_elements_of_an_each_are_done_as_they_come() -> None:
    tasks = tasks_of({"double": lambda n: 2 * n, "total": lambda of: sum(of)})

    end = same(EACH, tasks, {"items": list(range(50))})

    assert (end.status, end.steps["sum"].output) == ("succeeded", 2450)


def test_failures_are_tried_again_and_handled() -> None:
    def tasks() -> Any:
        left = iter([True, True])

        def flaky() -> int:
            if next(left, False):
                raise ValueError("not yet")
            return 1

        def fails() -> None:
            raise ValueError("never")

        return tasks_of({"flaky": flaky, "fails": fails, "double": lambda n: 2 * n})

    end = same(FLAKY, tasks)

    assert (end.status, end.steps["a"].attempts, end.steps["c"].output) == ("succeeded", 3, 4)


def test_a_loop_of_very_many_turns_is_decided_in_parts() -> None:
    def count(ctx: Any) -> Any:
        from penstock import Out

        return Out(set={"n": ctx.data.get("n", 0) + 1})

    end = same(LOOP, tasks_of({"count": count}), {"turns": TURNS})

    assert (end.status, end.data["n"], 1 < end.revision < TURNS) == ("succeeded", TURNS + 1, True)


def test_what_is_called_off_is_not_done() -> None:
    text = """\
penstock: 1
name: w
steps:
  first: {task: done}
  second: {task: never}
  stop: {task: done, after: first, cancels: [second]}
"""
    done = []
    tasks = tasks_of({"done": lambda: None, "never": lambda: done.append(1)})

    end = played(text, tasks, None, through=True)

    assert (end.status, end.steps["second"].status, done) == ("succeeded", "canceled", [])
