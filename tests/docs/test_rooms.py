"""The picture of the rooms: what the import graph says now, and nothing drawn by hand."""

from __future__ import annotations

from scripts.rooms import PICTURE, ROOT, arrows_of, picture, rows_of


def test_the_picture_is_what_the_import_graph_says() -> None:
    assert PICTURE.read_text("utf-8") == picture(), "run scripts/rooms.py"


def test_a_package_stands_above_what_it_imports_and_arrows_repeat_nothing() -> None:
    found = {"cli": {"flow", "kernel"}, "flow": {"kernel"}, "web": set(), "kernel": set()}

    assert rows_of(found) == [["kernel", "web"], ["flow"], ["cli"]]
    assert arrows_of(found) == [("cli", "flow"), ("flow", "kernel")]


def test_every_package_is_in_the_table_of_the_page_for_contributors() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = text[text.index("## The house") : text.index("## Three walks")]

    packages = sorted(each.parent.name for each in (ROOT / "src" / "penstock").glob("*/__init__.py"))

    assert [name for name in packages if f"`{name}`" not in table] == []
