"""The pages do what they say: every console block is run, every example is read."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import pytest
from scripts.reference.command_line import reference_text

from penstock.engine.authoring.loader import load
from penstock.flow.checks.checks import check_flow
from penstock.steps.kinds import KINDS, OFFERS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_PART = re.compile(
    r"^```(?P<kind>\w+)\n(?P<text>.*?)^```$|^<!-- edit (?P<file>\S+): (?P<old>.+) => (?P<new>.+) -->$",
    re.M | re.S,
)


def parts(page: Path) -> Iterator[re.Match[str]]:
    """Files, edits and commands, in the order of the page."""
    return _PART.finditer(page.read_text(encoding="utf-8"))


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with what is shown below it."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def plain(text: str) -> str:
    """Without what differs from run to run, or as the proof gets better: times, ids, numbers of states, blanks."""
    text = re.sub(r"\b[0-9.]+ ?m?s\b", "TIME", text)
    text = re.sub(r"run [0-9a-f]{20}", "run ID", text)
    text = re.sub(r"[0-9,]+ states", "N states", text)
    return re.sub(r"[ \t]+$", "", re.sub(r" {2,}", " ", text), flags=re.M).strip()


def matches(shown: str, said: str) -> bool:
    """Whether the page shows what was said; `…` stands for anything."""
    pattern = re.escape(plain(shown)).replace("…", ".*")
    return re.fullmatch(pattern, plain(said), re.S) is not None


ACTIVATE = ". .venv/bin/activate"
"""What a reader types in every new terminal, in a clone."""


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a reader does in a new terminal."""
    variables = {**os.environ, "PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT / 'src'}:{folder}"}
    return subprocess.run(
        ["bash", "-c", f"cd .clone && {ACTIVATE} && cd .. || exit\n{command}"],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder, with a clone out of sight that is set up."""
    (tmp_path / ".clone").mkdir()
    (tmp_path / ".clone" / ".venv").symlink_to(sys.prefix)
    return tmp_path


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md", "docs/tutorial/first.md"])
def test_a_page_for_newcomers_says_how_a_terminal_finds_the_command(page: str) -> None:
    first = next(part["text"] for part in parts(ROOT / page) if "make install" in (part["text"] or ""))

    assert first == f"make install\n{ACTIVATE}\n"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_where_make_test_is_named_stands_what_it_installs(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")

    packages = runpy.run_path(str(ROOT / "scripts" / "debian.py"))["PACKAGES"]

    assert [name for name in (*packages, "apt-get", "sudo -n") if name not in text] == []


def play(page: Path, folder: Path) -> int:
    """Write the files of a page, run its commands and compare what they say; how many there were."""
    ran = 0
    for part in parts(page):
        if part["file"]:
            file = folder / part["file"]
            before = file.read_text()
            assert part["old"] in before
            file.write_text(before.replace(part["old"], part["new"]))
        elif part["kind"] == "console":
            for command, shown in commands(part["text"]):
                done = run(command, folder)
                assert "Traceback" not in done.stderr, done.stderr
                assert matches(shown, done.stdout), f"$ {command}\n{done.stdout}{done.stderr}"
                ran += 1
        elif name := re.match(r"# (\S+\.(?:yaml|py))\n", part["text"]):
            (folder / name[1]).write_text(part["text"])
    return ran


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(ROOT / "README.md", id="README"),
        pytest.param(
            DOCS / "tutorial.md",
            id="tutorial",
            marks=pytest.mark.long(
                "test_every_command_on_a_page_is_one_that_penstock_has",
                "test_every_whole_workflow_on_the_pages_can_be_read",
            ),
        ),
    ],
)
def test_every_command_says_what_the_page_shows(page: Path, folder: Path) -> None:
    assert play(page, folder) >= 3


def test_the_reference_of_the_command_line_is_current() -> None:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")

    assert page == reference_text(), "run `make reference`"


def test_every_built_in_task_has_its_heading_and_parameters() -> None:
    page = (DOCS / "reference" / "tasks.md").read_text(encoding="utf-8")

    for name, kind in KINDS.items():
        assert f"\n## `{name}`\n" in page
        section = page.split(f"\n## `{name}`\n")[1].split("\n## ")[0]
        for parameter in kind.offer.parameters.get("properties", {}):
            assert f"| `{parameter}` |" in section
        for port in kind.offer.ports:
            assert f"`{port}`" in section


def test_every_example_of_a_built_in_task_is_a_workflow() -> None:
    page = DOCS / "reference" / "tasks.md"

    examples = [part["text"] for part in parts(page) if part["kind"] == "yaml"]
    used = {
        step.task
        for text in examples
        for step in load(f"penstock: 1\nname: example\n{text}").definition.steps.values()
    }

    assert set(KINDS) <= used


def test_every_example_of_a_step_with_expressions_is_a_part_of_a_workflow() -> None:
    examples = [
        part["text"] for part in parts(DOCS / "reference" / "expressions.md") if part["kind"] == "yaml"
    ]

    for text in examples:
        steps = "encode: {task: encode}\n" + text
        load(f"penstock: 1\nname: example\nsteps:\n{indent(steps, '  ')}")
    assert len(examples) >= 2


def test_every_page_is_listed_and_the_first_one_leads_to_the_tutorial() -> None:
    listed = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)

    assert sorted(listed) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
    assert "](tutorial.md)" in (DOCS / "index.md").read_text(encoding="utf-8")


def test_what_the_proof_relaxes_is_explained() -> None:
    page = (DOCS / "explain" / "proof.md").read_text(encoding="utf-8")
    text = """\
penstock: 1
name: w
external: [{name: e, many: true}]
steps:
  a: {task: t}
  b: {task: t, after: [a, {need: 1, of: [e], rest: keep}], match: event.data.k}
"""
    flow = load(text).flow

    report = check_flow(flow, OFFERS, clock=time.perf_counter)

    assert set(report.assumes) == {"match", "rest: keep", "many"}
    assert [name for name in (*report.assumes, "cancels", "need") if f"\n| `{name}` | " not in page] == []


def test_links_of_the_readme_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    assert [link for link in links if not (ROOT / link).exists()] == []


WORKFLOWS = [
    pytest.param(part["text"], id=f"{page.relative_to(ROOT)}-{number}")
    for page in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md")))
    for number, part in enumerate(parts(page), 1)
    if part["kind"] == "yaml" and re.search(r"^penstock: 1$", part["text"], re.M)
]


@pytest.mark.parametrize("text", WORKFLOWS)
def test_every_whole_workflow_on_the_pages_can_be_read(text: str) -> None:
    assert load(text).flow.steps
