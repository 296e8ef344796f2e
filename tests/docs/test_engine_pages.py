"""The pages about the engine: their programs run, and no method, error, rule or table is left out."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import penstock
from penstock import Engine, PenstockError
from penstock.store import protocol
from penstock.testing.worker_rules import RULES
from tests.docs.test_pages import DOCS, ROOT, folder, parts, play, run
from tests.postgres_server import PostgresServer

__all__ = ["folder"]  # the fixture


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def sections(text: str) -> dict[str, str]:
    """What stands below each heading that is a name."""
    found = re.split(r"^#{2,3} `(\w+)`\n", text, flags=re.M)[1:]
    return {
        name: re.split(r"^#", body, flags=re.M)[0] for name, body in zip(found[::2], found[1::2], strict=True)
    }


@pytest.fixture
def database(server: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the programs of a page find as $DATABASE_URL."""
    monkeypatch.setenv("DATABASE_URL", server.create_database())


@pytest.mark.long(
    "test_every_method_of_the_engine_is_on_the_page",
    "test_every_module_that_a_page_imports_is_named_as_public",
)
@pytest.mark.usefixtures("database")
def test_every_program_says_what_the_page_shows(folder: Path) -> None:
    assert play(DOCS / "howto" / "embedding.md", folder) >= 7


def test_every_method_of_the_engine_is_on_the_page() -> None:
    page = text_of("howto/embedding.md")
    methods = [name for name, _ in inspect.getmembers(Engine, inspect.isfunction) if not name.startswith("_")]

    assert [name for name in methods if not re.search(rf"[`.]{name}[(`]", page)] == []


def error_classes(root: type[PenstockError]) -> Iterator[type[PenstockError]]:
    yield root
    for child in root.__subclasses__():
        yield from error_classes(child)


def all_errors() -> dict[str, str]:
    """Name → code of every error that Penstock has, wherever it is defined."""
    for module in pkgutil.walk_packages(penstock.__path__, "penstock."):
        if module.name != "penstock.__main__":
            importlib.import_module(module.name)
    return {
        each.__name__: each.code
        for each in error_classes(PenstockError)
        if each.__module__.startswith("penstock.")
    }


def test_every_error_has_its_heading_and_its_code_and_none_is_left_over() -> None:
    shown = {name: body.split("`")[1] for name, body in sections(text_of("reference/errors.md")).items()}

    assert shown == all_errors()


def test_the_example_of_an_error_says_what_is_wrong(folder: Path) -> None:
    [example] = [part["text"] for part in parts(DOCS / "reference" / "errors.md")]
    (folder / "example.py").write_text(example)

    done = run("python example.py", folder)

    assert (done.stdout, done.stderr) == ("unknown_workflow - no workflow 'odrer' is published\n", "")


def test_every_rule_of_the_store_is_on_its_page_word_for_word() -> None:
    said = dict(re.findall(r"^(ST\d+) +(.+)$", inspect.getdoc(protocol) or "", re.M))
    shown = dict(re.findall(r"^\*\*(ST\d+) [^*]+\*\* (.+?) \*", text_of("spec/store.md"), re.M))

    assert shown == said


def test_every_table_of_both_databases_is_on_the_page() -> None:
    [table] = re.findall(r"^\| table \|.*?\n\n", text_of("spec/store.md"), re.M | re.S)
    shown = {
        name for row in table.strip().splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }

    for kind in ("sqlite", "postgres"):
        files = (ROOT / "src" / "penstock" / "store" / kind / "migrations").glob("*.sql")
        made = {name for file in files for name in re.findall(r"CREATE TABLE (\w+)", file.read_text())}
        assert shown == made


def test_every_rule_of_workers_is_on_its_page() -> None:
    shown = re.findall(r"^\*\*(WK\d+)\*\* ", text_of("spec/worker.md"), re.M)

    assert shown == [name.split("_")[0].upper() for name in RULES]
