"""`penstock import` and `penstock export`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.flow.format.definition_parser import read_definition
from tests.cli.command import EXAMPLES, penstock, write
from tests.cli.served import Place, a_place
from tests.importing.others import PINBALL, VPW, Diagram

JOIN = Diagram(
    "new>which which>a which!>end a>both new>b b>both",
    new="data",
    which="decision",
    a="tag",
    b="tag",
    both="update",
    end="stopper",
)
"""A join of a branch that is always taken and one that is not: it may wait for ever."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with a_place(tmp_path_factory.mktemp("place")) as place:
        yield place


def test_what_is_imported_can_be_checked_and_run(tmp_path: Path) -> None:
    made = tmp_path / "video.yaml"
    said = penstock("import", write(tmp_path, "VPWorkflow.py", VPW), "--from", "viblio", "-o", made)
    checked = penstock("check", made)
    ran = penstock(
        "run", made, "--stub", "--fast", "--input", '{"media_uuid": "m", "user_uuid": "u"}', "--json"
    )

    assert (said.code, said.out, checked.code, ran.json["status"]) == (0, "", 0, "succeeded")
    assert f"VPWorkflow: 5 steps, wrote {made}" in said.err
    assert "note: The locks of 'Transcode' were left out" in said.err


def test_a_file_of_another_engine_does_not_become_the_tasks_of_what_is_made_of_it(tmp_path: Path) -> None:
    """`penstock check video.yaml` would run video.py, which nobody wrote for Penstock."""
    made = tmp_path / "video.yaml"

    said = penstock("import", write(tmp_path, "video.py", VPW), "--from", "viblio", "-o", made)

    assert (said.code, made.exists()) == (2, False)
    assert "which then counts as its tasks and is run: write it under another name with -o" in said.err


def test_without_a_path_the_yaml_goes_to_stdout(tmp_path: Path) -> None:
    said = penstock("import", "-", "--from", "viblio", stdin=VPW)

    assert (said.code, next(iter(read_definition(said.out).steps))) == (0, "Transcode")


def test_json_has_the_definition_and_the_notes(tmp_path: Path) -> None:
    said = penstock("import", "-", "--from", "pinball", "--name", "hourly", "--json", stdin=PINBALL)

    assert (said.json["definition"]["name"], said.json["verdict"]) == ("hourly", "proved")
    assert any("another workflow" in note for note in said.json["notes"])


def test_what_the_checks_refute_is_written_and_told(tmp_path: Path) -> None:
    said = penstock("import", "-", "--from", "zenko", stdin=JOIN.text())

    assert (said.code, "error[deadlock]: " in said.err, "name: zenko" in said.out) == (1, True, True)


def test_strict_refuses_what_was_not_carried_over() -> None:
    assert penstock("import", "-", "--from", "viblio", "--strict", stdin=VPW).code == 1


@pytest.mark.parametrize(
    ("kind", "text", "sentence"),
    [
        (
            "zenco",
            "{}",
            "error: <stdin>: 'zenco' cannot be imported, only zenko, viblio, pinball; did you mean 'zenko'?\n",
        ),
        ("zenko", "", "error: <stdin>: the text is empty: there is nothing to import\n"),
        (
            "viblio",
            "VPW = {\n  'A': {'prerequisites': ['B']}}",
            "error: <stdin>:2:1: 'A' waits for 'B', which is no stage\n",
        ),
    ],
)
def test_what_cannot_be_imported_is_told_with_its_place(kind: str, text: str, sentence: str) -> None:
    said = penstock("import", "-", "--from", kind, stdin=text)

    assert (said.code, said.err.splitlines(keepends=True)[0]) == (2, sentence)


# -- export ------------------------------------------------------------------------------------------------


def test_a_file_is_exported_in_every_format(tmp_path: Path) -> None:
    starts = {}
    for format in ("yaml", "json", "mmd", "pnml", "svg"):
        starts[format] = penstock("export", EXAMPLES / "tea.yaml", "--format", format).out
        assert penstock("export", EXAMPLES / "tea.yaml", "-o", tmp_path / f"tea.{format}").code == 0

    assert starts["yaml"] == (EXAMPLES / "tea.yaml").read_text()
    assert read_definition(starts["json"]) == read_definition(starts["yaml"])
    assert [starts[each][:4] for each in ("mmd", "pnml", "svg")] == ["---\n", "<?xm", "<svg"]
    assert {path.suffix: path.read_text() for path in tmp_path.iterdir()} == {
        f".{format}": text for format, text in starts.items()
    }


def test_a_workflow_of_a_server_is_exported_in_any_version(place: Place) -> None:
    text = "penstock: 1\nname: waiting\nsteps: {greet: {task: greet}}\n"
    before = place("export", "waiting")
    place("publish", write(place.folder, "next.yaml", text))
    newest, first = place("export", "waiting"), place("export", "waiting", "--version", "1")

    assert (newest.out, first.out) == (text, before.out)
    assert place("export", "waiting", "--format", "json", "--json").json["format"] == "json"


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("nothing",), "no workflow 'nothing' is published"),
        (("waiting", "--version", "99"), "has no version 99"),
        (("tea.yaml", "--version", "2"), "--version is for a workflow of a server: a file has only one."),
        (("waiting", "--format", "bpmn"), "--format 'bpmn' is not known: say yaml, json, mmd, pnml, svg."),
        (
            ("waiting", "-o", "x.doc"),
            "'x.doc' does not say what to write: end it in .yaml, .yml, .json, .mmd, .pnml, .svg",
        ),
    ],
)
def test_what_cannot_be_exported_is_told(place: Place, args: tuple[str, ...], sentence: str) -> None:
    said = place("export", *args)

    assert (said.code, sentence in said.err) == (2, True), said.err
