"""The report as a whole: verdicts, JSON, order, and the workflows that everybody knows."""

from __future__ import annotations

import time

import msgspec
import pytest
from tests.flow.checks.workflows import codes, finding, report
from tests.kernel.analysis.nets import branches, net

from penstock.engine.authoring.loader import load
from penstock.flow.checks.checks import check, check_flow, verdict_of
from penstock.flow.checks.findings import Finding, Report
from penstock.flow.model.definition import Definition, Step
from penstock.kernel.proof.trace import Event, Fire
from penstock.steps.kinds import OFFERS

MEDIATHREAD = """
penstock: 1
name: mediathread
external:
  - name: et_job_finished
    from:
      kind: webhook
      verify: sns
      key: {et_job: body.jobId}
      set: "{'s3_output': body.outputs[0].key}"
      id: body.messageId
params:
  type: object
  required: [s3_key, course_id, user]
  properties: {s3_key: {type: string}, course_id: {type: integer}, user: {type: string}}
defaults: {task_list: video, retries: 2}
timeout: 2d
steps:
  extract_metadata:   {task: video.extract_metadata, emits: metadata_extracted, fails: failed}
  create_et_job:      {task: video.create_et_job, emits: et_job_created, fails: failed}
  pull_thumbnails:    {task: video.pull_thumbnails, after: et_job_finished, emits: poster_created, fails: failed}
  copy_to_cunix:      {task: video.copy_to_cunix, after: et_job_finished, emits: uploaded, fails: failed}
  submit:
    task: video.mediathread_submit
    after: [metadata_extracted, poster_created, uploaded]
    emits: submitted
    fails: failed
  email_ok:
    task: mail
    after: submitted
    emits: OK
    fails: failed
    with: {to: "${ data.user }", subject: Your video is ready}
  email_failure:
    task: mail
    after: failed
    emits: FAIL
    fails: FAIL
    with: {to: "${ data.user }", subject: "Sorry: ${ event.data.error.message }"}
"""

BROKEN = """
steps:
  extract metadata: {task: job, emits: metadata extracted, fails: failed}
  create Elastic Transcode Job: {task: job, emits: ET Job created, fails: failed}
  pull down thumbnails: {task: job, after: ET Job finished, emits: poster created, fails: failed}
  copy to cunix: {task: job, after: ET Job finished, emits: uploaded to cunix, fails: failed}
  mediathread submit:
    {task: job, after: [metadata extracted, poster created, uploaded to cunix], emits: submitted, fails: failed}
  email user (success): {task: job, after: submitted, emits: OK, fails: failed}
  email user (failure): {task: job, after: START, emits: FAIL, fails: FAIL}
"""


def test_the_mediathread_workflow_is_proved() -> None:
    found = report(MEDIATHREAD, head="")

    assert found.verdict == "proved"
    assert {one.code for one in found.findings if one.severity != "info"} == {"unknown-task"}


def test_banzais_example_as_listed_is_refuted() -> None:
    assert codes(BROKEN) == [
        ("missing-event", "pull down thumbnails"),
        ("missing-event", "copy to cunix"),
        ("dead-step", "mediathread submit"),
        ("dead-step", "email user (success)"),
        ("fail-without-failure", "email user (failure)"),
        ("isolated-step", "create Elastic Transcode Job"),
        ("unused-event", "extract metadata"),
        ("unused-event", "create Elastic Transcode Job"),
    ]
    assert finding(BROKEN, "fail-without-failure").trace == (Fire("email user (failure)", "done"),)


def test_a_join_below_a_decision_is_mended_by_an_either_or() -> None:
    text = """
steps:
  d: {task: decide, with: {if: "true"}, emits: {then: a, else: b}}
  x: {task: job, after: a, emits: p}
  y: {task: job, after: b, emits: q}
  j: {task: job, after: p | q}
"""
    assert codes(text) == []


def test_a_finding_always_has_every_key() -> None:
    one = Finding(
        code="dead-step",
        severity="error",
        message="m",
        hint="h",
        args={"step": "s"},
        trace=(Event("e"), Fire("s", None)),
    )

    assert one.to_plain() == {
        "code": "dead-step",
        "severity": "error",
        "step": None,
        "event": None,
        "message": "m",
        "hint": "h",
        "args": {"step": "s"},
        "line": None,
        "trace": [{"event": "e"}, {"fire": "s", "port": None}],
        "column": None,
        "path": None,
    }


def test_a_finding_is_read_as_it_was_written() -> None:
    for one in report(BROKEN).findings:
        assert Finding.from_plain(msgspec.json.decode(msgspec.json.encode(one.to_plain()))) == one


def test_a_finding_of_an_older_server_has_no_arguments() -> None:
    plain = {name: value for name, value in report(BROKEN).findings[0].to_plain().items() if name != "args"}

    assert Finding.from_plain(plain).args == {}


def test_a_report_is_json() -> None:
    found = report("steps:\n  a: {task: job}\n")

    assert msgspec.json.decode(msgspec.json.encode(found.to_plain())) == {
        "file": "w.yaml",
        "verdict": "proved",
        "findings": [],
        "states": 2,
        "seconds": found.seconds,
        "covered": "1 step, 2 states, all of them",
        "assumes": [],
        "data": {"expressions": 0, "typed": 0, "unknown": 0},
    }


def test_the_worst_severity_counts() -> None:
    assert report(BROKEN).worst() == "error"
    assert report("steps:\n  a: {task: jab}\n").worst() == "warning"
    assert report("steps:\n  a: {task: job}\n").worst() is None


@pytest.mark.parametrize(
    ("severities", "complete", "verdict"),
    [
        ((), True, "proved"),
        ((), False, "undecided"),
        (("warning", "info"), True, "proved"),
        (("error",), True, "refuted"),
        (("error",), False, "refuted"),
    ],
)
def test_a_verdict_is_never_a_guess(severities: tuple[str, ...], complete: bool, verdict: str) -> None:
    found = [Finding(code="x", severity=severity, message="", hint="") for severity in severities]  # type: ignore[arg-type]

    assert verdict_of(found, complete) == verdict


def timed(budget: float) -> Report:
    """A check under a clock that moves a tenth of a second with each look."""
    big = net(*branches(4, 4, "x"), on_failure="continue")
    definition = Definition(name="w", steps={step.name: Step(task="job") for step in big.steps})
    ticks = iter(range(10**9))
    return check(definition, big, {}, clock=lambda: next(ticks) / 10, budget=budget)


def test_a_check_stops_when_its_time_is_up() -> None:
    cut = timed(budget=1)

    assert cut.verdict == "undecided"
    assert cut.seconds < 2
    assert cut.covered.endswith("more are left")


def test_a_check_with_time_enough_decides() -> None:
    assert timed(budget=1000).verdict == "proved"


def test_a_read_that_asks_first_is_no_missing_data() -> None:
    text = """
penstock: 1
name: w
params: {type: object, properties: {a: {}}}
steps:
  d: {task: decide, with: {if: "has(data.b) && data.b == 1"}, emits: {then: OK, else: OK}}
"""
    asked, plain = (
        check_flow(load(version).flow, OFFERS, clock=time.monotonic)
        for version in (text, text.replace("has(data.b) && ", ""))
    )

    assert [finding.code for finding in asked.findings] == []
    assert [finding.code for finding in plain.findings] == ["unknown-field"]


HOOKED = """
external:
  - {name: told, from: {kind: webhook, verify: {method: token, secret: t}, key: {id: body.id}}}
steps:
  a: {task: job, after: told, emits: OK}
"""


@pytest.mark.parametrize(
    ("name", "user"), [("callback", "functions that call back"), ("s3", "object stores")]
)
def test_a_hook_at_an_address_that_is_taken_is_refused(name: str, user: str) -> None:
    [found] = report(HOOKED, head=f"penstock: 1\nname: {name}\n").findings

    assert (found.code, found.severity, found.event) == ("taken-address", "error", "told")
    assert found.message == f"The hook of 'told' could never be called: /hooks/{name}/… is for {user}."


def test_such_a_name_is_no_harm_without_hooks_of_events() -> None:
    head = "penstock: 1\nname: s3\nsource: {kind: webhook, verify: {method: token, secret: t}}\n"

    assert report("steps: {a: {task: job, emits: OK}}", head=head).findings == ()
    assert report(HOOKED).findings == ()
