"""Pinball's workflow configuration: what it becomes, and what is wrong with one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.boxes.shell import shell_task
from penstock.flow.format.yaml_writer import to_plain
from penstock.flow.model.problems import DefinitionError, Problem
from penstock.importing.pinball import import_pinball
from tests.importing.others import PINBALL, errors, played

MODEL = """
WORKFLOWS = {'model': WorkflowConfig(
    jobs={
        'parent': JobConfig(CommandJobTemplate('parent', 'echo PINBALL:EVENT_ATTR:a=1'), []),
        'child': JobConfig(CommandJobTemplate('child', 'echo "got %(a)s"; true'), ['parent']),
    },
    final_job_config=JobConfig(CommandJobTemplate('final', 'echo success')))}
"""


def plain(text: str, name: str | None = None) -> dict[str, Any]:
    return to_plain(import_pinball(text, name).definition)


def problems(text: str, name: str | None = None) -> list[Problem]:
    with pytest.raises(DefinitionError) as error:
        import_pinball(text, name)
    return list(error.value.problems)


def scheduled(schedule: str) -> dict[str, Any]:
    job = "{'a': JobConfig(CommandJobTemplate('a', 'true'), [])}"
    source: dict[str, Any] = plain(
        f"W = {{'w': WorkflowConfig(jobs={job}, schedule=ScheduleConfig({schedule}))}}"
    )["source"]
    return source


def test_a_configuration_imports_checks_and_runs() -> None:
    made = import_pinball(PINBALL, "nightly")

    run = played(made)
    assert (made.definition.name, errors(made), run["status"]) == ("nightly", [], "succeeded")
    assert run["steps"]["final"]["output"]["input"] == ["count", "rank"]


def test_jobs_keep_their_attempts_their_limits_and_their_priority() -> None:
    found = plain(PINBALL, "nightly")

    assert found["steps"]["fetch"] == {
        "task": "FetchLogs",
        "retries": 2,
        "backoff": {"initial": "5s", "factor": 1, "max": "5s", "jitter": 0},
    }
    assert found["steps"]["rank"] == {"task": "RankPins", "after": "fetch", "priority": 7, "warn_after": "1m"}
    assert found["steps"]["count"]["timeouts"] == {"start_to_close": "10m"}
    assert found["steps"]["final"] == {
        "task": "shell",
        "after": ["count", "rank"],
        "emits": "OK",
        "with": {"command": ["sh", "-c", "exec 1>&2\necho success"]},
    }
    assert found["on_failure"] == "continue"
    assert found["steps"]["mail failure"] == {
        "task": "mail",
        "after": "FAIL",
        "with": {
            "to": ["a@example.org", "b@example.org"],
            "subject": "FAILURE for workflow ${ run.workflow }",
        },
    }


def test_attributes_of_the_jobs_before_come_in_as_variables_of_the_environment() -> None:
    made = import_pinball(MODEL)

    run = played(made)
    assert run["steps"]["child"]["output"]["given"] == {
        "command": ["sh", "-c", 'exec 1>&2\necho "got ${ATTR_a}"; true'],
        "env": {"ATTR_a": ""},
    }
    assert any("takes 'a' from what the jobs before it printed" in note for note in made.notes)


@pytest.mark.parametrize("command", ["", "echo a \\", "echo a # b", "cat <<E\nthere\nE", "true &"])
def test_a_command_of_any_form_is_one_that_a_shell_can_read(command: str) -> None:
    job = f"JobConfig(CommandJobTemplate('n', command={command!r}), [])"
    found = plain(f"WORKFLOWS = {{'w': WorkflowConfig(jobs={{'a': {job}}})}}", "w")

    said = found["steps"]["a"]["with"]["command"]
    assert subprocess.run(said, capture_output=True).returncode == 0


def test_commands_run_in_a_shell_and_their_attributes_reach_the_next_one(tmp_path: Path) -> None:
    text = MODEL.replace("echo PINBALL:EVENT_ATTR:a=1", 'echo \\\'{"a": "some words"}\\\'')
    text = text.replace("; true", " > said")

    with Engine.sync("memory:", tasks={"shell": shell_task(tmp_path)}) as engine:
        engine.publish(import_pinball(text).yaml())
        run = engine.wait(engine.start("model"), 10)

    assert (run["status"], run["error"]) == ("succeeded", None)
    assert (tmp_path / "said").read_text() == "got some words\n"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo 'X%(a)s'", "X$(id)  b"),
        ("echo 'X%(a)s and %(a)s'", "X$(id)  b and $(id)  b"),
        ('echo "X%(a)s"', "X$(id)  b"),
        ("echo it\\'s \"it's %(a)s\"", "it's it's $(id)  b"),
        ("echo \"$(echo 'in: %(a)s')\"", "in: $(id)  b"),
        ("# don't\necho '%(a)s'", "$(id)  b"),
        ("(echo 'a'); echo \"x)'%(a)s'\"", "a\nx)'$(id)  b'"),
    ],
)
def test_attributes_reach_a_command_in_any_quotes(command: str, said: str) -> None:
    text = MODEL.replace("'echo \"got %(a)s\"; true'", repr(command))
    step = plain(text)["steps"]["child"]["with"]["command"]
    done = subprocess.run(
        [each.replace("$${", "${") for each in step],
        capture_output=True,
        env={"ATTR_a": "$(id)  b"},
        text=True,
    )

    assert (done.stderr.strip(), done.returncode) == (said, 0)


def test_a_job_of_another_workflow_is_an_event_from_outside() -> None:
    made = import_pinball(PINBALL, "hourly")

    assert errors(made) == []
    assert (played(made)["status"], played(made, events=["nightly/rank"])["status"]) == (
        "waiting",
        "succeeded",
    )


@pytest.mark.parametrize(
    ("schedule", "source"),
    [
        (
            "recurrence=timedelta(days=1), reference_timestamp=datetime(2015, 2, 1, 4, 30)",
            {"cron": "30 4 * * *", "tz": "UTC"},
        ),
        (
            "recurrence=timedelta(hours=1), reference_timestamp=datetime(year=2015, month=2, day=1, minute=5)",
            {"cron": "5 * * * *", "tz": "UTC"},
        ),
        (
            "recurrence=timedelta(weeks=1), reference_timestamp=datetime(2015, 2, 1)",
            {"cron": "0 0 * * 0", "tz": "UTC"},
        ),
        ("recurrence=timedelta(minutes=90), reference_timestamp=datetime(2015, 2, 1)", {"every": "90m"}),
        ("recurrence=timedelta(days=1), overrun_policy=OverrunPolicy.SKIP", {"every": "1d"}),
        (
            "recurrence=timedelta(days=1), overrun_policy=OverrunPolicy.START_NEW",
            {"every": "1d", "overrun": "start", "max_running": 3},
        ),
        (
            "recurrence=timedelta(days=1), overrun_policy=OverrunPolicy.ABORT_RUNNING, max_running_instances=5",
            {"every": "1d", "overrun": "abort", "max_running": 5},
        ),
        ("recurrence=timedelta(days=1), overrun_policy='DELAY'", {"every": "1d", "overrun": "delay"}),
    ],
)
def test_a_schedule_becomes_a_source_on_a_clock(schedule: str, source: dict[str, Any]) -> None:
    assert scheduled(schedule) == {"kind": "schedule", **source}


def test_the_same_is_read_from_json() -> None:
    text = json.dumps(
        {
            "jobs": {"a": {"command": "true", "max_attempts": 2}, "b": {"class": "Rank", "parents": ["a"]}},
            "schedule": {"recurrence_seconds": 3600},
        }
    )

    found = plain(text, "w")
    assert (found["source"], found["steps"]["b"]) == (
        {"kind": "schedule", "every": "1h"},
        {"task": "Rank", "after": "a"},
    )
    assert found["steps"]["a"]["retries"] == 1


def test_json_with_an_apostrophe_is_json() -> None:
    job = {"command": "echo 'a'", "disabled": True, "parents": []}
    found = plain(json.dumps({"jobs": {"a": job}}))["steps"]["a"]

    assert (found["disabled"], "echo 'a'" in found["with"]["command"][2]) == (True, True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"jobs": {"a": {"command": "echo \'a\'"},,}}', "This is not JSON: "),
        ("{'jobs': {'a': {'command': \"echo\"},,}}", "this is not Python: "),
    ],
)
def test_what_is_neither_is_told_as_what_it_began(text: str, sentence: str) -> None:
    assert problems(text)[0].message.startswith(sentence)


def test_a_condition_has_its_own_attempts() -> None:
    text = "W = {'w': WorkflowConfig(jobs={'there': JobConfig(CommandConditionTemplate('there', 'test -f x'), [])})}"

    assert plain(text)["steps"]["there"]["retries"] == 9


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (PINBALL, "there are 2 workflows here (nightly, hourly): say which by its name"),
        ("WORKFLOWS = 3", "there is no workflow configuration here: "),
        ("def f(:", "this is not Python: "),
        ("W = {'w': WorkflowConfig(jobs={})}", "the workflow 'w' has no `jobs`: a map from name to job"),
        (
            MODEL.replace("['parent']", "['paren']"),
            "job 'child' waits for 'paren', which is no job; did you mean 'parent'?",
        ),
        (
            MODEL.replace("JobConfig(CommandJobTemplate('parent', 'echo PINBALL:EVENT_ATTR:a=1'), [])", "5"),
            "the job 'parent' is no JobConfig(template, [parents])",
        ),
        (MODEL.replace("a=1'), [])", "a=1'), ['child'])"), "these jobs wait for each other, "),
        (MODEL.replace("['parent']", "'parent'"), "the parents of job 'child' must be a list of names"),
        (
            MODEL.replace("final_job_config=", "schedule=ScheduleConfig(), final_job_config="),
            "the schedule says no `recurrence`, such as timedelta(days=1)",
        ),
    ],
)
def test_what_is_wrong_with_a_configuration_is_told(text: str, sentence: str) -> None:
    assert problems(text)[0].message.startswith(sentence)


def test_a_problem_has_its_line() -> None:
    [problem] = problems(MODEL.replace("['parent']", "['paren']"))

    assert problem.line == 5


def test_nothing_of_the_text_is_run() -> None:
    text = "import os\nos.abort()\n" + MODEL

    assert list(import_pinball(text).definition.steps) == ["parent", "child", "final"]


def test_a_command_that_a_program_works_out_is_told_as_such() -> None:
    job = "{'dyn': JobConfig(CommandJobTemplate('dyn', f('date')), [])}"
    made = import_pinball(f"W = {{'w': WorkflowConfig(jobs={job})}}")

    assert any("The command of 'dyn' is worked out by a program" in note for note in made.notes)
    assert not any("a class becomes a function" in note for note in made.notes)


@pytest.mark.parametrize(
    "template",
    [
        "ShellJobTemplate('dyn', f('date'))",
        "ShellJobTemplate(name='dyn', command=BASE + ' x')",
        "JobTemplate('dyn', command=f('date'))",
        "JobTemplate(command=f('date'))",
        "ShellConditionTemplate('dyn', f('date'))",
    ],
)
def test_a_command_of_any_template_that_a_program_works_out_is_told(template: str) -> None:
    made = import_pinball(f"W = {{'w': WorkflowConfig(jobs={{'dyn': JobConfig({template}, [])}})}}")

    told = [note for note in made.notes if "The command of 'dyn' is worked out by a program" in note]
    assert [note.endswith("offer it as the task 'dyn', or write a `shell` step.") for note in told] == [True]


def test_a_command_of_a_shell_template_is_a_command() -> None:
    found = plain("W = {'w': WorkflowConfig(jobs={'a': JobConfig(ShellJobTemplate('a', 'true'), [])})}")

    assert found["steps"]["a"]["task"] == "shell"


@pytest.mark.parametrize(
    "template",
    ["JobTemplate(RankPins)", "JobTemplate(jobs.ranking.RankPins)", "JobTemplate(job_class=RankPins)"],
)
def test_a_class_that_is_imported_is_the_task(template: str) -> None:
    found = plain(f"W = {{'w': WorkflowConfig(jobs={{'a': JobConfig({template}, [])}})}}")

    assert found["steps"]["a"] == {"task": "RankPins"}


def test_what_a_template_of_ones_own_is_given_is_told() -> None:
    job = "JobConfig(HiveTemplate('rank', 'rank.hql', DATABASE), [])"
    made = import_pinball(f"W = {{'w': WorkflowConfig(jobs={{'rank': {job}}})}}")

    told = "Job 'rank' says 'argument 2' and 'argument 3', which has no counterpart here: see `with`."
    assert told in made.notes


@pytest.mark.parametrize(
    ("emails", "to", "left"),
    [
        ("['a@example.org', 'b@example.org']", ["a@example.org", "b@example.org"], None),
        ("['a@example.org, b@example.org', boss()]", ["a@example.org", "b@example.org"], "(boss)"),
        ("TEAM + ',x@example.org'", None, "(TEAM + ',x@example.org')"),
        ("None", None, None),
    ],
)
def test_who_is_mailed_may_be_a_list_and_who_is_left_out_is_told(
    emails: str, to: list[str] | None, left: str | None
) -> None:
    job = "{'a': JobConfig(CommandJobTemplate('a', 'true'), [])}"
    made = import_pinball(f"W = {{'w': WorkflowConfig(jobs={job}, notify_emails={emails})}}")

    mail = to_plain(made.definition)["steps"].get("mail failure", {"with": {"to": None}})
    told = [note for note in made.notes if note.startswith("Whom to mail is worked out by a program")]
    assert mail["with"]["to"] == to
    assert [left in note for note in told if left is not None] == ([] if left is None else [True])
    assert bool(told) == bool(left)


def test_a_schedule_from_elsewhere_is_told_as_such() -> None:
    made = import_pinball(MODEL.replace("final_job_config=", "schedule=NIGHTLY, final_job_config="))

    assert any("The schedule is not in this text (NIGHTLY), and was left out" in note for note in made.notes)
    assert not any("There is no schedule" in note for note in made.notes)
