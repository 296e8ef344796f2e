"""`penstock draw`: formats, files, wrong names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import EXAMPLES, penstock

CYCLE = EXAMPLES / "pinball" / "pinball_cycle.yaml"


def test_without_a_path_mermaid_goes_to_stdout() -> None:
    said = penstock("draw", CYCLE)

    assert said.code == 0
    assert said.out.startswith('---\ntitle: "Work until it is enough"\n---\nflowchart LR\n')


@pytest.mark.parametrize(("ending", "begins"), [("svg", "<svg "), ("mmd", "---\ntitle"), ("pnml", "<?xml ")])
def test_the_ending_of_the_path_says_what_to_draw(tmp_path: Path, ending: str, begins: str) -> None:
    path = tmp_path / f"out.{ending}"

    said = penstock("draw", CYCLE, "-o", path)

    assert (said.code, said.out) == (0, "")
    assert said.err.endswith(f"wrote {path}\n")
    assert path.read_text().startswith(begins)


def test_the_format_can_be_said() -> None:
    assert penstock("draw", CYCLE, "--format", "svg").out.startswith("<svg ")


def test_built_in_tasks_are_known_to_the_drawing() -> None:
    assert "unknown task" not in penstock("draw", CYCLE).out


def test_json_tells_the_format_and_where_the_drawing_is(tmp_path: Path) -> None:
    path = tmp_path / "out.pnml"

    assert penstock("draw", CYCLE, "-o", path, "--json").json == {
        "file": str(CYCLE),
        "format": "pnml",
        "output": str(path),
    }
    assert list(penstock("draw", CYCLE, "--json").json) == ["file", "format", "output", "drawing"]


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (
            ["-o", "out.png"],
            "error: 'out.png' does not say what to draw: end it in .svg, .mmd or .pnml, or give --format.\n",
        ),
        (["--format", "gif"], "error: --format 'gif' is not known: say svg, mermaid or pnml.\n"),
        (
            ["-o", "/no/such/folder/out.svg"],
            "error: '/no/such/folder/out.svg' cannot be written: No such file or directory.\n",
        ),
    ],
)
def test_what_cannot_be_drawn_exits_2_with_a_sentence(args: list[str], sentence: str) -> None:
    said = penstock("draw", CYCLE, "--no-tasks", *args)

    assert (said.code, said.out, said.err) == (2, "", sentence)
