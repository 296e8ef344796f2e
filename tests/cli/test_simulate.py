"""`penstock simulate`, `penstock tasks` and `penstock demo --tour`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import EXAMPLES, SHELF, STUCK, penstock, write

NEVER_OK = """\
penstock: 1
name: w
steps:
  which: {task: decide, with: {if: "false"}, emits: {then: a, else: b}}
  good: {task: set, after: a, emits: OK, with: {x: 1}}
  bad: {task: set, after: b, with: {x: 1}}
"""
"""A workflow that stalls where its decision goes the other way."""


def test_the_same_seed_gives_the_same_runs() -> None:
    args = ("simulate", EXAMPLES / "wardenclyffe" / "mediathread.yaml", "--runs", "40", "--json")

    first, again, other = penstock(*args), penstock(*args), penstock(*args, "--seed", "2")

    assert first.code == 0
    assert first.json == again.json
    assert first.json["ends"] != other.json["ends"] or first.json["seconds"] != other.json["seconds"]
    assert (first.json["runs"], first.json["seed"], first.json["file"]) == (40, 1, str(args[1]))


def test_stalled_runs_are_shown_with_who_starves(tmp_path: Path) -> None:
    said = penstock("simulate", write(tmp_path, "stuck.yaml", STUCK), "--runs", "20", "--fail-rate", "0")

    assert said.code == 0
    assert said.out.startswith("stuck: 20 random runs, seed 1\n\nend ")
    assert "stalled    20  100.0%  ████████████████████████\n" in said.out
    assert "step 'join' starves for a\n" in said.out
    assert "step 'join' starves for b\n" in said.out


def test_the_critical_path_and_the_times_are_shown() -> None:
    said = penstock(
        "simulate", EXAMPLES / "pinball" / "pinball_cycle.yaml", "--runs", "20", "--fail-rate", "0"
    )

    assert "\ntime: least " in said.out
    assert "\ncritical path: work " in said.out


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--runs", "0"], "error: --runs 0 is out of range: say 1 to 1,000,000.\n"),
        (["--fail-rate", "2"], "error: --fail-rate 2 is no share: say a number from 0 to 1, such as 0.05.\n"),
        (
            ["--fail-rate", "nan"],
            "error: --fail-rate nan is no share: say a number from 0 to 1, such as 0.05.\n",
        ),
    ],
)
def test_wrong_numbers_exit_2(args: list[str], sentence: str) -> None:
    said = penstock("simulate", EXAMPLES / "zenko" / "authorization.yaml", *args)

    assert (said.code, said.out, said.err) == (2, "", sentence)


def test_tasks_lists_the_built_in_ones_and_those_of_modules() -> None:
    built_in = penstock("tasks", "--json").json
    own = penstock("tasks", EXAMPLES / "mirrors.py").out

    assert [task["name"] for task in built_in] == [
        "decide",
        "switch",
        "tag",
        "set",
        "terminate",
        "fail",
        "wait",
        "emit",
        "http",
        "update",
        "approval",
        "workflow",
        "service",
        "mail",
        "shell",
    ]
    assert own.splitlines()[1].split("  ") == [
        "mirrors.checksum",
        "mirror, file",
        "done, failed",
        "Ask a mirror for the checksum of a file.",
    ]


def test_the_tour_proves_draws_and_runs_every_example(tmp_path: Path) -> None:
    said = penstock("demo", "--tour", "--examples", EXAMPLES, "-o", tmp_path, "--json")

    names = sorted(path.stem for path in SHELF)
    assert said.code == 0
    assert {(each["verdict"], each["status"]) for each in said.json} == {("proved", "succeeded")}
    assert sorted(path.stem for path in tmp_path.glob("*.svg")) == names


def test_the_tour_shows_the_broken_example_and_where_to_go_on(tmp_path: Path) -> None:
    said = penstock("demo", "--tour", "-o", tmp_path)

    assert (said.code, said.err) == (0, ""), (
        "what tasks log is told nowhere: it would stand above the next example"
    )
    assert "And one that is broken" in said.out
    assert "error[fail-without-failure]: " in said.out
    assert "\nGo on with:\n" in said.out


def test_the_demo_without_examples_is_a_sentence(tmp_path: Path) -> None:
    said = penstock("demo", "--examples", tmp_path)

    assert said.code == 2
    assert said.err == (
        f"error: '{tmp_path}' holds no .yaml file: run this in a clone of Penstock, "
        "or name their folder with --examples.\n"
    )


def test_runs_that_never_fire_ok_are_told_so(tmp_path: Path) -> None:
    path = write(tmp_path, "w.yaml", NEVER_OK)

    many, one = penstock("simulate", path, "--runs", "20", "--fail-rate", "0"), penstock("run", path)

    (stalled,) = [line for line in many.out.splitlines() if line.startswith("stalled ") and ":" in line]
    assert stalled.endswith(" runs: nothing is left to do and OK was never fired")
    assert "would help:\n  nothing is left to do and OK was never fired\n" in one.out
