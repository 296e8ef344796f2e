"""Viblio's stage dictionary: what it becomes, and what is wrong with one."""

from __future__ import annotations

import json

import pytest

from penstock.flow.format.yaml_writer import to_plain
from penstock.flow.model.problems import DefinitionError, Problem
from penstock.importing.viblio import import_viblio
from tests.importing.others import VPW, errors, played

IDS = {"media_uuid": "m", "user_uuid": "u"}
DOCUMENT = """
    'FaceDetect' : {
        'name'            : 'FaceDetect',
        'domain'          : domain,
        'version'         : version,
        'task_list'       : 'FaceDetectTask',
        'prerequisites'   : [ ],
        'failure_retries' : 1,
        'timeout_retries' : [1, 2, 4],
        'default_task_schedule_to_close_timeout' : str( 15*60*60 ),
        'default_task_schedule_to_start_timeout' : str( 15*60*60),
        'default_task_start_to_close_timeout' : str( 10*60*60 ),
        'default_task_heartbeat_timeout' : 'NONE',
        },
"""
"""A stage as the document shows it: a part of a dictionary."""


def problems(text: str) -> list[Problem]:
    with pytest.raises(DefinitionError) as error:
        import_viblio(text)
    return list(error.value.problems)


def test_the_dictionary_imports_checks_and_runs() -> None:
    made = import_viblio(VPW, "video")

    run = played(made, IDS)
    assert (made.definition.name, errors(made), run["status"]) == ("video", [], "succeeded")
    assert run["steps"]["NotifyComplete"]["output"]["input"] == ["ActivityDetect", "FaceRecognize"]


def test_a_stage_keeps_its_list_its_budgets_and_its_time_outs() -> None:
    found = to_plain(import_viblio(VPW).definition)["steps"]

    assert found["Transcode"] == {
        "task": "Transcode",
        "task_list": "TranscodeTask",
        "retries": 1,
        "timeout_retries": [1, 2, 4],
        "timeouts": {"start_to_close": "10h", "schedule_to_close": "15h", "heartbeat": "5m"},
    }
    assert found["NotifyComplete"]["after"] == ["FaceRecognize", "ActivityDetect"]


def test_a_stage_as_the_document_shows_it_is_read() -> None:
    made = import_viblio(DOCUMENT)

    assert list(made.definition.steps) == ["FaceDetect"]


def test_the_dictionary_is_read_from_json_too() -> None:
    text = json.dumps({"A": {"name": "A", "prerequisites": []}, "B": {"name": "B", "prerequisites": ["A"]}})

    assert to_plain(import_viblio(text).definition)["steps"] == {
        "A": {"task": "A"},
        "B": {"task": "B", "after": "A"},
    }


def test_what_is_done_in_another_way_is_told() -> None:
    notes = " ".join(import_viblio(VPW).notes)

    for words in (
        "The locks of 'Transcode'",
        "task_list_suffix",
        "`domain` and `version`",
        "heartbeat of NONE",
    ):
        assert words in notes


@pytest.mark.parametrize(
    ("was", "becomes", "sentence"),
    [
        (
            "[ 'FaceDetect' ]",
            "[ 'FaceDetct' ]",
            "'FaceRecognize' waits for 'FaceDetct', which is no stage; did you mean 'FaceDetect'?",
        ),
        ("[ 'FaceDetect' ]", "'FaceDetect'", "`prerequisites` of 'FaceRecognize' must be a list of stages"),
        (
            "'prerequisites'   : []",
            "'prerequisites'   : ['NotifyComplete']",
            "these stages wait for each other, so that none would ever begin: ",
        ),
        (
            "'failure_retries' : 1",
            "'failure_retries' : -1",
            "`failure_retries` of 'Transcode' must be a whole number from 0 on, not -1",
        ),
        (
            "'timeout_retries' : [1, 2, 4]",
            "'timeout_retries' : 3",
            "`timeout_retries` of 'Transcode' must be a list of numbers above 0, not 3",
        ),
        (
            "str( 15*60*60 )",
            "hours(15)",
            "`default_task_schedule_to_close_timeout` of 'Transcode' must be seconds as a text, or NONE, not ",
        ),
        (
            "'name'            : 'FaceDetect'",
            "'name'            : 'Other'",
            "the stage 'FaceDetect' is called 'Other' inside: make them the same",
        ),
    ],
)
def test_what_is_wrong_with_a_stage_is_told_with_its_line(was: str, becomes: str, sentence: str) -> None:
    found = problems(VPW.replace(was, becomes, 1))

    assert found[0].message.startswith(sentence)
    assert found[0].line is not None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("VPW = {", "this is not Python: "),
        ("x = 1", "there is no dictionary of stages here: "),
        ("VPW = {'A': 3}", "there is no dictionary of stages here: "),
    ],
)
def test_what_is_no_dictionary_of_stages_is_told(text: str, sentence: str) -> None:
    [problem] = problems(text)

    assert problem.message.startswith(sentence)


def test_nothing_of_the_text_is_run() -> None:
    text = "import os\nos.abort()\nVPW = {'A': {'prerequisites': [], 'task_list': __import__('os').abort()}}"

    assert list(import_viblio(text).definition.steps) == ["A"]


def test_a_stage_without_another_try_after_a_time_out_keeps_none() -> None:
    stage = {"name": "A", "prerequisites": [], "timeout_retries": []}

    found = to_plain(import_viblio(json.dumps({"A": stage})).definition)["steps"]["A"]

    assert found["timeout_retries"] == []


def test_json_with_an_apostrophe_is_json() -> None:
    made = import_viblio('{"A": {"prerequisites": [], "failure_retries": null, "note": "it\'s"}}')

    assert to_plain(made.definition)["steps"]["A"] == {"task": "A"}
