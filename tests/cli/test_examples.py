"""`penstock examples`: what is there, and a copy that runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.cli.command import penstock


def test_the_examples_are_listed_with_their_titles() -> None:
    said = penstock("examples")

    assert said.code == 0
    assert "tea.yaml" in said.out and "wardenclyffe/mediathread.yaml" in said.out
    assert "broken" not in said.out


def test_a_copy_has_tasks_and_data_and_runs(tmp_path: Path) -> None:
    said = penstock("examples", "--to", tmp_path / "mine", "--json")

    told = json.loads(said.out)
    assert told["folder"] == str(tmp_path / "mine")
    assert {each["path"] for each in told["examples"]} >= {"tea.yaml", "viblio/viblio.yaml"}
    assert (tmp_path / "mine/wardenclyffe/README.md").is_file()
    assert penstock("run", tmp_path / "mine/tea.yaml", "--fast").code == 0


def test_the_links_of_a_copy_lead_to_what_is_in_it(tmp_path: Path) -> None:
    home = tmp_path / "mine"
    penstock("examples", "--to", home)

    links = [
        (page.parent / link).resolve()
        for page in home.rglob("*.md")
        for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    ]
    assert len(links) > 5
    assert [link for link in links if not (link.is_file() and link.is_relative_to(home.resolve()))] == []


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")

    said = penstock("examples", "--to", tmp_path)
    assert said.code == 2
    assert said.err == (
        f"error: '{tmp_path}' is there already and not an empty folder: name one that is new.\n"
    )
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]
