"""The site: built without a warning, asks nothing of the network, has its pictures, and says only what is so."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from playwright.sync_api import Browser
from scripts.screens import SCREENS

from penstock.cli.main import app
from penstock.flow.checks.wording import TEXTS
from tests.cli.command import outside_make
from tests.docs.test_pages import DOCS, ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
MOST_PICTURES = 1_500_000


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_asks_only_its_own_folder(site: Path, browser: Browser) -> None:
    page, asked = browser.new_page(), list[str]()
    page.on("request", lambda request: asked.append(request.url))

    for name in ("index.html", "tutorial/first.html", "explain/architecture.html", "reference/cli.html"):
        page.goto(f"file://{site / name}", wait_until="networkidle")
    page.close()

    assert len(asked) > 10
    assert [url for url in asked if not url.startswith((f"file://{site}/", "data:", "blob:"))] == []


def test_the_search_finds_pages_in_a_folder(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(f"file://{site / 'howto' / 'approvals.html'}", wait_until="networkidle")
    page.get_by_role("textbox", name="Search").press_sequentially("serialize")
    found = page.locator(".md-search-result__link").first
    found.wait_for(state="attached", timeout=20_000)
    link = found.get_attribute("href")
    page.close()

    assert link is not None
    assert Path(link.removeprefix("file://").split("?")[0].split("#")[0]).is_relative_to(site)


def test_the_page_of_what_is_not_there_asks_its_own_folder(site: Path, browser: Browser) -> None:
    page, asked = browser.new_page(), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"file://{site / '404.html'}", wait_until="networkidle")
    page.close()

    assert len(asked) > 2
    assert [url for url in asked if not url.startswith((f"file://{site}/", "data:", "blob:"))] == []


def test_no_page_and_no_style_names_a_file_elsewhere(site: Path) -> None:
    fetched = re.compile(r"""(?:src=|<link[^>]+href=|url\(|@import )["']?(?:https?:)?//[^"')> ]+""")
    files = [path for end in ("html", "css") for path in site.rglob(f"*.{end}")]

    assert [each for path in files for each in fetched.findall(path.read_text(encoding="utf-8"))] == []


def test_every_picture_is_shown_by_a_page_and_all_are_small() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    pictures = {path.stem: path for path in (DOCS / "img").glob("*.webp")}

    assert set(pictures) == set(SCREENS)
    assert [name for name in pictures if f"img/{name}.webp)" not in text] == []
    assert sum(path.stat().st_size for path in pictures.values()) < MOST_PICTURES


def test_the_readme_has_one_picture_and_is_short() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert len(re.findall(r"!\[", text)) == 1
    assert len(text.splitlines()) < 200


def test_the_two_commands_of_the_readme_start_the_demo_and_run_the_tests() -> None:
    block = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)[
        0
    ]

    shown = [
        subprocess.run(
            ["make", "-n", *line.split()[1:]],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            env=outside_make(),
        )
        for line in block.splitlines()
    ]

    assert [done.stdout.splitlines()[-1].strip() for done in shown] == [
        ".venv/bin/penstock demo",
        ".venv/bin/python scripts/run_tests.py",
    ]


def test_the_figures_of_the_readme_are_those_of_the_page_that_says_how_they_were_measured() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").split("## Figures")[1].split("## ")[0]
    figures = re.findall(r"[\d.,]+ (?:runs/s|ms|s|MB)\b", table)
    measured = (DOCS / "reference" / "speed.md").read_text(encoding="utf-8")

    assert len(figures) == 8
    assert [each for each in figures if each not in measured] == [], "docs/reference/speed.md says otherwise"


def test_every_check_has_its_heading_and_none_is_left_over() -> None:
    codes = {key.split(".")[0] for key in TEXTS} - {"near", "in-step", "in-workflow"}
    page = (DOCS / "reference" / "checks.md").read_text(encoding="utf-8")

    assert len(codes) > 10
    assert set(re.findall(r"^### (\S+)$", page, re.M)) == codes


def test_every_example_that_a_page_names_is_there() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)

    named = set(re.findall(r"\bexamples/[\w./-]*[\w/]", text))
    assert len(named) > 5
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def written(text: str) -> Iterator[list[str]]:
    """The words of each command of Penstock that a page shows, in a block or in a line."""
    lines = [
        line
        for block in re.findall(r"^```(?:sh|console|text)\n(.*?)^```$", text, re.M | re.S)
        for line in block.splitlines()
    ]
    found = [re.sub(r"^\$ |^\S*/bin/(?=penstock )|^[A-Z_]+=\S+ ", "", line) for line in lines]
    for line in [*found, *re.findall(r"`(penstock [^`]+)`", text)]:
        if re.match(r"penstock [a-z]", line):
            yield shlex.split(re.sub(r"[$(|>#…].*", "", line).replace('"', "").replace("'", ""))[1:]


def wrong(words: list[str]) -> str | None:
    """What a command says that Penstock does not know."""
    command: Any = typer.main.get_command(app)
    while words and (inner := getattr(command, "commands", {})):
        name, *words = words
        if name not in inner:
            return name
        command = inner[name]
    known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)} | {
        "--help",
        "-h",
    }
    said = [word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    return next((option for option in said if option not in known), None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_on_a_page_is_one_that_penstock_has(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert [(words, wrong(list(words))) for words in written(text) if wrong(list(words))] == []


def test_every_module_that_a_page_imports_is_named_as_public() -> None:
    told = (DOCS / "release-notes.md").read_text(encoding="utf-8").partition("The modules below")[2]
    pages = "\n".join(page.read_text(encoding="utf-8") for page in sorted((DOCS / "howto").glob("*.md")))

    used = set(re.findall(r"^\s*(?:from|import) (penstock[\w.]*)", pages, re.M))

    assert [name for name in sorted(used) if f"`{name}`" not in told] == []


def test_no_table_of_a_page_is_empty() -> None:
    empty = re.compile(r"^\|[ |:-]+\|\n(?!\|)", re.M)

    assert [page.name for page in PAGES if empty.search(page.read_text(encoding="utf-8"))] == []


def test_every_target_that_a_page_names_can_be_made() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)

    assert set(re.findall(r"(?:^|`|\$ )make ([a-z]+)", text, re.M)) <= targets
