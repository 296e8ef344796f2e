# ruff: noqa: E501  (whole sentences on one line)
"""Each finding word for word: sentence, hint, place and trace."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.flow.checks.workflows import report

from penstock.flow.checks.findings import Finding
from penstock.kernel.proof.trace import Fire

CASES: dict[str, tuple[str, list[Finding]]] = {
    "missing alt": (
        """
steps:
  a: {task: job, emits: p}
  j: {task: job, after: "p | pp"}
""",
        [
            Finding(
                code="missing-event",
                severity="warning",
                message="Step 'j' also takes 'pp', which nothing fires.",
                hint="Let a step fire 'pp' (`emits`), or let it come from outside (`external`). Did you mean 'p'?",
                args={
                    "variant": "also",
                    "step": "j",
                    "event": "pp",
                    "events": ["pp"],
                    "remedy": "fire",
                    "near": "p",
                },
                step="j",
                event="pp",
                line=6,
            ),
        ],
    ),
    "need": (
        """
steps:
  a: {task: job, emits: p}
  j: {task: job, after: [{need: 2, of: [p, q, r]}]}
""",
        [
            Finding(
                code="missing-event",
                severity="error",
                message="Step 'j' needs 2 of 'p', 'q' and 'r', but nothing fires 'q' and 'r'.",
                hint="Let a step fire 'q' (`emits`), or let it come from outside (`external`).",
                args={
                    "variant": "needs",
                    "step": "j",
                    "event": "q",
                    "n": 2,
                    "all": ["p", "q", "r"],
                    "events": ["q", "r"],
                    "remedy": "fire",
                },
                step="j",
                event="q",
                line=6,
            ),
            Finding(
                code="deadlock",
                severity="error",
                message="The run can come to a standstill: 'j' still waits for 'q' and 'r', which will not come.",
                hint="Fire 'q' and 'r' on every path that leads here, or, if one of them is enough, write `p | q | r`.",
                args={
                    "variant": "waits",
                    "step": "j",
                    "event": "q",
                    "events": ["q", "r"],
                    "remedy": "paths",
                    "all": ["p", "q", "r"],
                },
                step="j",
                event="q",
                line=6,
                trace=(Fire(step="a", port="done"),),
            ),
        ],
    ),
    "timeout": (
        """
steps:
  a: {task: job}
  j: {task: job, after: TIMEOUT}
""",
        [
            Finding(
                code="missing-event",
                severity="error",
                message="Step 'j' waits for 'TIMEOUT', which nothing fires.",
                hint="Give the workflow a `timeout`, or let the step wait for CANCEL or FAIL.",
                args={"variant": "waits", "step": "j", "event": "TIMEOUT", "remedy": "timeout"},
                step="j",
                event="TIMEOUT",
                line=6,
            ),
        ],
    ),
    "self": (
        """
steps:
  a: {task: job}
  j: {task: job, after: x, emits: x}
""",
        [
            Finding(
                code="dead-step",
                severity="error",
                message="Step 'j' can never fire: it waits for 'x', which only it fires itself.",
                hint="Let another step fire 'x' first.",
                args={"step": "j", "variant": "itself", "events": ["x"]},
                step="j",
                line=6,
            ),
        ],
    ),
    "ok never": (
        """
steps:
  d: {task: decide, with: {if: "true"}, emits: {then: OK, else: b}}
  e: {task: job, after: b}
""",
        [
            Finding(
                code="deadlock",
                severity="error",
                message="The run can come to a standstill: nothing is left to do, and OK was never fired.",
                hint="Let the last step of this path fire OK, or FAIL if the path is a failure.",
                args={"variant": "end"},
                trace=(Fire(step="d", port="else"), Fire(step="e", port="done")),
            ),
        ],
    ),
    "noend": (
        """
steps:
  a: {task: job, after: START | again, emits: again}
""",
        [
            Finding(
                code="no-end",
                severity="error",
                message="The run can reach a point from which it never ends, as long as no step fails.",
                hint="Give the loop a way out that leads to an end, or write `endless: true` if it is meant to run forever.",
                args={"variant": "loop"},
            ),
        ],
    ),
    "many": (
        """
external: [{name: e, many: true}]
steps:
  a: {task: job, after: e}
""",
        [
            Finding(
                code="no-end",
                severity="error",
                message="The run never ends: it waits forever for 'e', which may come again and again.",
                hint="Let a step fire OK when the run is done, or write `endless: true` if it is meant to run forever.",
                args={"variant": "many", "events": ["e"]},
            ),
        ],
    ),
    "unb": (
        """
steps:
  a: {task: job, after: START | again, emits: [again, more]}
  b: {task: job, after: more, emits: again}
""",
        [
            Finding(
                code="unbounded",
                severity="error",
                message="Event 'more' can pile up at step 'b' without limit: each turn of a loop leaves more of them behind.",
                hint="Let each turn of the loop fire only what it uses up, or let 'b' be part of the loop.",
                args={"step": "b", "event": "more"},
                step="b",
                event="more",
                line=6,
                trace=(Fire(step="a", port="done"),),
            ),
        ],
    ),
    "twice": (
        """
steps:
  a: {task: job, emits: p}
  b: {task: job, emits: q}
  j: {task: job, after: p | q}
""",
        [
            Finding(
                code="fires-twice",
                severity="warning",
                message="Step 'j' can fire more than once in a run.",
                hint="To wait for all of them write `after: [p, q]`; to take only the first write `after: [{need: 1, of: [p, q]}]`.",
                args={"remedy": "join", "step": "j", "events": ["p", "q"]},
                step="j",
                line=7,
                trace=(
                    Fire(step="a", port="done"),
                    Fire(step="b", port="done"),
                    Fire(step="j", port="done"),
                    Fire(step="j", port="done"),
                ),
            ),
        ],
    ),
    "floop": (
        """
steps:
  a: {task: job, after: START | fixed, fails: broken}
  b: {task: job, after: broken, emits: fixed}
  c: {task: job, after: START | oops, fails: oops}
""",
        [
            Finding(
                code="failure-loop",
                severity="warning",
                message="When 'a' fails, it leads back to itself through 'b': it may fail forever.",
                hint="Use `retries` to try again, and let another step, or FAIL, take the failure.",
                args={"variant": "through", "step": "a", "event": "broken", "steps": ["b"]},
                step="a",
                event="broken",
                line=5,
            ),
            Finding(
                code="failure-loop",
                severity="warning",
                message="When 'c' fails, it starts itself again: it may fail forever.",
                hint="Use `retries` to try again, and let another step, or FAIL, take the failure.",
                args={"variant": "itself", "step": "c", "event": "oops"},
                step="c",
                event="oops",
                line=7,
            ),
        ],
    ),
    "left": (
        """
steps:
  a: {task: job, emits: [p, OK]}
  d: {task: decide, with: {if: "true"}, emits: {then: q, else: z}}
  j: {task: job, after: [p, q]}
  t: {task: terminate, after: z}
""",
        [
            Finding(
                code="leftover-events",
                severity="warning",
                message="The run can succeed and leave 'p' waiting at 'j'.",
                hint="Fire OK only after 'j', or end that branch with a step that takes what waits.",
                args={"step": "j", "event": "p", "events": ["p"]},
                step="j",
                event="p",
                line=7,
                trace=(Fire(step="a", port="done"), Fire(step="d", port="else"), Fire(step="t", port=None)),
            ),
        ],
    ),
    "port": (
        """
steps:
  d: {task: decide, with: {if: "true"}, emits: {then: q}}
  j: {task: job, after: q}
""",
        [
            Finding(
                code="unhandled-port",
                severity="warning",
                message="Nothing happens when 'd' ends on 'else': no step waits for it.",
                hint="Let a step wait for 'd.else', or list OK or FAIL for port 'else'; a step with task `terminate` says that the branch is meant to end here.",
                args={"step": "d", "event": "d.else", "port": "else"},
                step="d",
                event="d.else",
                line=5,
            ),
        ],
    ),
    "task": (
        """
steps:
  d: {task: jab}
""",
        [
            Finding(
                code="unknown-task",
                severity="warning",
                message="No worker has offered the task 'jab' yet.",
                hint="Start a worker that has it, or, on the command line, name its module with `--tasks`. Did you mean 'job'?",
                args={"step": "d", "task": "jab", "near": "job"},
                step="d",
                line=5,
            ),
        ],
    ),
    "times": (
        """
timeout: 1h
steps:
  a: {task: job, timeouts: {start_to_close: 20m, schedule_to_close: 10m}}
  b: {task: job, timeouts: {schedule_to_start: 10m, schedule_to_close: 10m}}
  c: {task: job, timeouts: {start_to_close: 1m, heartbeat: 2m}}
  d: {task: job, timeouts: {schedule_to_start: 6m, start_to_close: 6m, schedule_to_close: 10m}}
  e: {task: job, warn_after: 5m, timeouts: {start_to_close: 5m}}
  f: {task: job, timeouts: {start_to_close: 2h}}
""",
        [
            Finding(
                code="time-outs",
                severity="warning",
                message="Step 'a': `start_to_close` (20m) never matters, because `schedule_to_close` (10m) ends first.",
                hint="Make `start_to_close` shorter than `schedule_to_close`, or leave one of them out.",
                args={
                    "step": "a",
                    "variant": "beyond",
                    "inner": "start_to_close",
                    "outer": "schedule_to_close",
                    "time": "20m",
                    "limit": "10m",
                },
                step="a",
                line=6,
            ),
            Finding(
                code="time-outs",
                severity="warning",
                message="Step 'b': `schedule_to_start` (10m) never matters, because `schedule_to_close` (10m) ends first.",
                hint="Make `schedule_to_start` shorter than `schedule_to_close`, or leave one of them out.",
                args={
                    "step": "b",
                    "variant": "beyond",
                    "inner": "schedule_to_start",
                    "outer": "schedule_to_close",
                    "time": "10m",
                    "limit": "10m",
                },
                step="b",
                line=7,
            ),
            Finding(
                code="time-outs",
                severity="warning",
                message="Step 'c': `heartbeat` (2m) never matters, because `start_to_close` (1m) ends first.",
                hint="Make `heartbeat` shorter than `start_to_close`, or leave one of them out.",
                args={
                    "step": "c",
                    "variant": "beyond",
                    "inner": "heartbeat",
                    "outer": "start_to_close",
                    "time": "2m",
                    "limit": "1m",
                },
                step="c",
                line=8,
            ),
            Finding(
                code="time-outs",
                severity="warning",
                message="Step 'd': `schedule_to_start` and `start_to_close` add up to 12m, longer than `schedule_to_close` (10m).",
                hint="Raise `schedule_to_close` to their sum.",
                args={
                    "step": "d",
                    "variant": "sum",
                    "inner": "start_to_close",
                    "outer": "schedule_to_close",
                    "time": "12m",
                    "limit": "10m",
                    "first": "schedule_to_start",
                },
                step="d",
                line=9,
            ),
            Finding(
                code="time-outs",
                severity="warning",
                message="Step 'e': `warn_after` (5m) comes only after the attempt has timed out (5m).",
                hint="Make `warn_after` shorter than 5m.",
                args={"step": "e", "variant": "warn", "inner": "warn_after", "time": "5m", "limit": "5m"},
                step="e",
                line=10,
            ),
            Finding(
                code="time-outs",
                severity="warning",
                message="Step 'f': an attempt may take 2h, longer than the whole run (`timeout: 1h`).",
                hint="Raise the workflow's `timeout` or lower the step's time-outs.",
                args={"step": "f", "variant": "run", "time": "2h", "limit": "1h"},
                step="f",
                line=11,
            ),
        ],
    ),
    "clock": (
        """
source: {kind: schedule, every: 1h}
params: {type: object, required: [user]}
steps:
  a: {task: wait, with: {for: 1s}}
""",
        [
            Finding(
                code="wrong-type",
                severity="warning",
                message='Ticks make no runs: `params` rejects the input that a clock gives ("user" is a required property).',
                hint="A scheduled run has `scheduled_at`, `previous` and `timezone`: let `params` take them, and no more.",
                args={"variant": "ticks", "problem": '"user" is a required property'},
                step=None,
                event=None,
                line=5,
                trace=(),
            ),
        ],
    ),
    "decision": (
        """
steps:
  d: {task: decide, with: {if: "true"}, emits: {then: a, else: b}}
  x: {task: job, after: a, emits: p}
  y: {task: job, after: b, emits: q}
  j: {task: job, after: [p, q]}
""",
        [
            Finding(
                code="dead-step",
                severity="error",
                message="Step 'j' can never fire: no run brings 'p' and 'q' together.",
                hint="If one of them is enough, make this an either/or join: write `p | q`.",
                args={"step": "j", "variant": "apart", "events": ["p", "q"]},
                step="j",
                line=8,
            ),
            Finding(
                code="deadlock",
                severity="error",
                message="The run can come to a standstill: 'j' still waits for 'q', which will not come.",
                hint="'p' and 'q' come from different ports of 'd', so only one of them comes: make this an either/or join: write `p | q`.",
                args={
                    "variant": "waits",
                    "step": "j",
                    "event": "q",
                    "events": ["q"],
                    "remedy": "decision",
                    "decision": "d",
                    "rivals": ["p", "q"],
                },
                step="j",
                event="q",
                line=8,
                trace=(Fire(step="d", port="then"), Fire(step="x", port="done")),
            ),
        ],
    ),
    "unasked": (
        """
steps:
  a: {task: job, emits: OK}
  mail it: {task: job, emits: FAIL}
""",
        [
            Finding(
                code="fail-without-failure",
                severity="error",
                message="The run can fail although no step failed: 'mail it' fires FAIL when all steps before it are done.",
                hint="Let 'mail it' wait for the event that your steps fire when they fail, or fire OK instead.",
                args={"step": "mail it", "event": "FAIL"},
                step="mail it",
                event="FAIL",
                line=6,
                trace=(Fire(step="mail it", port="done"),),
            ),
        ],
    ),
    "unused": (
        """
steps:
  a: {task: job, emits: thing}
""",
        [
            Finding(
                code="unused-event",
                severity="info",
                message="Event 'thing' is fired by 'a', but no step waits for it.",
                hint="Let a step wait for 'thing', or leave it out if it is only for the history.",
                args={"variant": "few", "step": "a", "event": "thing", "steps": ["a"]},
                step="a",
                event="thing",
                line=5,
            ),
        ],
    ),
    "chain": (
        """
steps:
  a: {task: job, after: nowhere}
  b: {task: job, after: a}
""",
        [
            Finding(
                code="missing-event",
                severity="error",
                message="Step 'a' waits for 'nowhere', which nothing fires.",
                hint="Let a step fire 'nowhere' (`emits`), or let it come from outside (`external`).",
                args={"variant": "waits", "step": "a", "event": "nowhere", "remedy": "fire"},
                step="a",
                event="nowhere",
                line=5,
            ),
            Finding(
                code="dead-step",
                severity="error",
                message="Step 'b' can never fire: it waits for 'a', which only 'a' fires, and 'a' can never fire.",
                hint="Fix 'a' first.",
                args={"step": "b", "variant": "one", "remedy": "fix", "events": ["a"], "steps": ["a"]},
                step="b",
                line=6,
            ),
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_findings_word_for_word(case: str) -> None:
    text, expected = CASES[case]

    found = [
        one for one in report(text).findings if one.code != "isolated-step"
    ]  # most of these steps stand alone
    assert [replace(one, path=None, column=None) for one in found] == expected
