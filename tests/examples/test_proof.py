"""What `penstock check` and `penstock run` say of the examples, and that the claims of their comments hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import penstock, write
from tests.examples.shelf import BEYOND, BROKEN, FOLDER, NAMES, path_of

from penstock.engine.authoring.loader import load

TASKS = ("--tasks", FOLDER / "wardenclyffe" / "mediathread.py")


def changed(folder: Path, path: Path, *changes: tuple[str, str]) -> Path:
    """A copy of an example with some of its lines written otherwise."""
    text = path.read_text()
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return write(folder, path.name, text)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_proved_without_a_warning(name: str) -> None:
    said = penstock("check", "--strict", "--json", path_of(name))

    findings = said.json["findings"]
    assert (said.code, said.json["verdict"]) == (0, "proved")
    assert {finding["severity"] for finding in findings} <= {"info"}


def test_the_check_finds_the_slip_and_its_other_end() -> None:
    said = penstock("check", BROKEN, *TASKS, "--json")

    found = {(each["code"], each["severity"], each["step"], each["event"]) for each in said.json["findings"]}
    assert (said.code, said.json["verdict"]) == (1, "refuted")
    assert found == {
        ("missing-event", "error", "pull down thumbnails", "ET Job finished"),
        ("missing-event", "error", "copy from S3 output bucket to cunix", "ET Job finished"),
        ("dead-step", "error", "mediathread submit", None),
        ("dead-step", "error", "email user (success)", None),
        ("fail-without-failure", "error", "email user (failure)", "FAIL"),
        ("isolated-step", "warning", "create Elastic Transcode Job", None),
        ("unused-event", "info", "extract metadata", "failed"),
        ("unused-event", "info", "create Elastic Transcode Job", "ET Job created"),
    }


def test_the_trace_to_the_unasked_failure_is_one_firing() -> None:
    said = penstock("check", BROKEN, "--json")

    traces = {each["code"]: each["trace"] for each in said.json["findings"]}
    assert said.code == 1
    assert traces["fail-without-failure"][-1] == {"fire": "email user (failure)", "port": "done"}
    assert [part for part in traces["fail-without-failure"] if "fire" in part] == [
        {"fire": "email user (failure)", "port": "done"}
    ]


def test_two_lines_repair_it(tmp_path: Path) -> None:
    repaired = changed(
        tmp_path,
        BROKEN,
        ("after: START\n    emits: FAIL", "after: failed\n    emits: FAIL"),
        ("\nsteps:\n", "\nexternal: [ET Job finished]\nsteps:\n"),
    )

    said = penstock("check", "--strict", "--json", repaired, *TASKS)

    assert (said.code, said.json["verdict"]) == (0, "proved")


def test_a_plain_join_below_the_decision_of_auto_tag_is_a_deadlock(tmp_path: Path) -> None:
    stuck = changed(
        tmp_path, path_of("auto_tag"), ("marked_private | marked_public", "[marked_private, marked_public]")
    )

    said = penstock("check", "--json", stuck, "--tasks", FOLDER / "zenko" / "auto_tag.py")

    [deadlock] = [each for each in said.json["findings"] if each["code"] == "deadlock"]
    assert said.code == 1
    assert deadlock["trace"]


def test_a_cycle_that_feeds_itself_twice_piles_events_up(tmp_path: Path) -> None:
    twice = changed(
        tmp_path,
        path_of("pinball_cycle"),
        ("{then: again, else: enough}", "{then: [again, more], else: enough}"),
        ("after: START | again", "after: START | again | more"),
    )

    said = penstock("check", "--json", twice, "--tasks", FOLDER / "pinball" / "pinball_cycle.py")

    assert said.code == 1
    assert "unbounded" in {each["code"] for each in said.json["findings"]}


def test_the_mediathread_example_runs_to_its_end_with_the_event_from_outside() -> None:
    said = penstock("run", path_of("mediathread"), "--event", 'et_job_finished={"s3_key": "x"}', "--json")

    assert (said.code, said.json["status"]) == (0, "succeeded")
    assert said.json["steps"]["submit"]["output"]["path"] == "cunix/x"


def test_without_the_event_it_waits_and_says_for_what() -> None:
    said = penstock("run", path_of("mediathread"), "--json")

    assert (said.code, said.json["status"], said.json["waiting_for"]) == (1, "waiting", ["et_job_finished"])


@pytest.mark.parametrize("name", NAMES)
def test_every_example_runs_from_its_file_alone(name: str) -> None:
    declared = load(path_of(name)).definition.external or ()
    outside = [part for event in declared if not event.optional for part in ("--event", event.name)]
    beyond = ["--stub"] if name in BEYOND else []  # people and other machines are not asked here

    said = penstock("run", path_of(name), "--json", *beyond, *outside)

    assert (said.code, said.json["status"]) == (0, "succeeded")
