"""`penstock check`: findings as compilers print them, verdicts, JSON, exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.cli.author.check import SHORT_TRACE, trace_words, verdict_words
from penstock.flow.checks.findings import Report
from penstock.kernel.proof.trace import Event, Fire
from tests.cli.command import STUCK, penstock, write

CLEAN = "penstock: 1\nname: clean\nsteps: {a: {task: set, with: {x: 1}}}\n"
WARNED = "penstock: 1\nname: warned\nsteps: {a: {task: nobody.has}}\n"


def test_a_proof_is_one_line_and_exits_0(tmp_path: Path) -> None:
    said = penstock("check", write(tmp_path, "clean.yaml", CLEAN))

    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"{tmp_path}/clean.yaml: proved: every run can finish (")
    assert said.out.endswith(" ms)\n")


def test_a_finding_shows_its_line_a_mark_its_trace_and_a_hint(tmp_path: Path) -> None:
    path = write(tmp_path, "stuck.yaml", STUCK)

    said = penstock("check", path)

    lines = said.out.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("error[deadlock]: "))
    assert said.code == 1
    assert lines[first + 1 : first + 5] == [
        f" --> {path}:5",
        "  | ",
        "5 |   join: {task: set, after: [a, b], with: {x: 1}}",
        "  |                                ^",
    ]
    assert lines[first + 5].startswith(" = trace: START → which (")
    assert lines[first + 6].startswith(" = hint: ")
    assert lines[-2].startswith(f"{path}: refuted: 2 errors")
    assert lines[-1].startswith("  covered: ")


def test_the_mark_is_below_the_whole_name_of_an_event(tmp_path: Path) -> None:
    path = write(tmp_path, "w.yaml", "penstock: 1\nname: w\nsteps:\n  task a: {task: set, after: a}\n")

    said = penstock("check", path)

    assert "4 |   task a: {task: set, after: a}\n  |        ^\n" in said.out


def test_the_mark_stands_below_wide_letters(tmp_path: Path) -> None:
    path = write(tmp_path, "w.yaml", "penstock: 1\nname: w\nsteps:\n  日本: {task: set, after: no}\n")

    said = penstock("check", path)

    cells = 2 + 4 + len(": {task: set, after: ")
    assert f"4 |   日本: {{task: set, after: no}}\n  | {' ' * cells}^^\n" in said.out


def test_a_long_line_is_cut_around_the_mark(tmp_path: Path) -> None:
    title = "x" * 300
    text = f"penstock: 1\nname: w\nsteps:\n  a: {{task: set, title: {title}, after: nope}}\n"

    said = penstock("check", write(tmp_path, "w.yaml", text))

    assert "4 | x, after: nope}\n  |           ^^^^\n" in said.out


def test_a_long_trace_is_numbered(tmp_path: Path) -> None:
    steps = "".join(
        f"  s{n}: {{task: set, after: s{n - 1}, with: {{x: 1}}}}\n" for n in range(1, SHORT_TRACE + 1)
    )
    text = (
        "penstock: 1\nname: long\nsteps:\n  s0: {task: set, with: {x: 1}}\n"
        f"{steps}  which: {{task: decide, after: s{SHORT_TRACE}, with: {{if: 'true'}}, emits: {{then: a, else: b}}}}\n"
        "  join: {task: set, after: [a, b], with: {x: 1}}\n"
    )

    said = penstock("check", write(tmp_path, "long.yaml", text))

    assert " = trace: \n       1. START\n       2. s0 (done)\n" in said.out


def test_the_json_has_the_keys_of_the_contract(tmp_path: Path) -> None:
    path = write(tmp_path, "stuck.yaml", STUCK)

    report = penstock("check", path, "--json").json

    assert list(report) == ["file", "verdict", "findings", "states", "seconds", "covered", "assumes", "data"]
    assert list(report["findings"][0]) == [
        "code",
        "severity",
        "step",
        "event",
        "message",
        "hint",
        "line",
        "trace",
        "column",
        "path",
        "args",
    ]
    assert report["file"] == str(path)


def test_a_warning_exits_0_and_with_strict_1(tmp_path: Path) -> None:
    path = write(tmp_path, "warned.yaml", WARNED)

    assert penstock("check", path).code == 0
    assert penstock("check", path, "--strict").code == 1
    assert penstock("check", path, "--json").json["findings"][0]["code"] == "unknown-task"


def test_stdin_is_read_for_a_dash() -> None:
    said = penstock("check", "-", stdin=CLEAN)

    assert said.code == 0
    assert said.out.startswith("<stdin>: proved: ")


def test_tasks_make_their_names_known(tmp_path: Path) -> None:
    path = write(tmp_path, "warned.yaml", WARNED)
    module = write(
        tmp_path, "other.py", "from penstock import task\n\n\n@task('nobody.has')\ndef it(): ...\n"
    )

    assert penstock("check", path, "--strict", "--tasks", module).code == 0


def test_the_file_beside_is_used_and_said(tmp_path: Path) -> None:
    path = write(tmp_path, "warned.yaml", WARNED)
    module = write(
        tmp_path, "warned.py", "from penstock import task\n\n\n@task('nobody.has')\ndef it(): ...\n"
    )

    said = penstock("check", path, "--strict")

    assert (said.code, said.err) == (0, f"tasks: {module}\n")
    assert penstock("check", path, "--strict", "--no-tasks").code == 1


def test_several_files_are_all_checked_and_the_worst_decides(tmp_path: Path) -> None:
    files = [
        write(tmp_path, "clean.yaml", CLEAN),
        write(tmp_path, "stuck.yaml", STUCK),
        tmp_path / "missing.yaml",
        write(tmp_path, "warned.yaml", WARNED),
    ]

    said = penstock("check", *files)

    assert said.code == 2
    assert said.out.splitlines()[-1] == "4 files: 2 proved, 1 refuted, 1 unreadable"
    assert penstock("check", *files[:2]).code == 1


def test_the_json_of_several_files_has_those_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "missing.yaml"

    said = penstock("check", write(tmp_path, "clean.yaml", CLEAN), missing, "--json")

    assert said.json[0]["verdict"] == "proved"
    assert said.json[1] == {
        "file": str(missing),
        "problems": [
            {
                "code": "unreadable",
                "path": "",
                "message": "the file does not exist: look at the path",
                "line": None,
                "column": None,
            }
        ],
    }


def test_broken_tasks_are_a_sentence_with_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path, "warned.yaml", WARNED)
    module = write(tmp_path, "warned.py", "x = 1\n1 / 0\n")

    said = penstock("check", path)

    assert (said.code, said.out) == (2, "")
    assert said.err == (
        f"error: {module}:2: the tasks cannot be imported: ZeroDivisionError: division by zero: correct this line.\n"
    )


def test_an_exhausted_budget_is_undecided_and_tells_what_was_covered(tmp_path: Path) -> None:
    branches = "".join(
        f"  b{n}-{m}: {{task: x, after: {f'b{n}-{m - 1}' if m else 'START'}}}\n"
        for n in range(14)
        for m in range(6)
    )
    events = ", ".join(f"e{n}" for n in range(14))
    waits = "".join(f"  w{n}: {{task: x, after: [e{n}, b{n}-5]}}\n" for n in range(14))
    path = write(
        tmp_path, "big.yaml", f"penstock: 1\nname: big\nexternal: [{events}]\nsteps:\n{branches}{waits}"
    )

    said = penstock("check", path, "--budget", "0s")

    assert said.code == 0
    assert "undecided: no error in what was searched (" in said.out
    assert "\n  covered: " in said.out


@pytest.mark.parametrize(
    ("budget", "sentence"),
    [
        (
            "soon",
            "error: --budget 'soon' is no duration; write it like 500ms, 0.5s, 90s, 15m, 10h or 2d, "
            "or as a number of seconds.\n",
        ),
        ("40000d", "error: --budget '40000d' is too long; 36500d at most.\n"),
    ],
)
def test_a_wrong_budget_exits_2(tmp_path: Path, budget: str, sentence: str) -> None:
    said = penstock("check", write(tmp_path, "clean.yaml", CLEAN), "--budget", budget)

    assert (said.code, said.out, said.err) == (2, "", sentence)


def test_control_characters_of_a_file_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = write(tmp_path, "evil.yaml", 'penstock: 1\nname: "a\\eb"\nsteps: {a: {tsk: "\u0085\u202e"}}\n')

    said = penstock("check", path)

    assert said.code == 2
    assert not {"\x1b", "\u0085", "\u202e"} & set(said.err)


def test_words_of_traces_and_verdicts() -> None:
    trace = (Event("paid"), Fire("ship", "failed"), Fire("stop", None))
    report = Report(
        file="f", verdict="undecided", findings=(), states=1200, seconds=2, covered="a part", assumes=()
    )

    assert trace_words(trace) == ["START", "paid", "ship (failed)", "stop"]
    assert trace_words(()) == []
    assert verdict_words(report).plain == "undecided: no error in what was searched (1,200 states, 2000 ms)"
