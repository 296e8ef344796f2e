"""The check on names: what is called by a private word is found, wherever the word stands in the name."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import names


def test_no_name_has_a_private_word() -> None:
    assert names.main() == 0


def test_each_name_that_is_kept_is_there() -> None:
    """One that has gone must not keep its word allowed."""
    paths = [path for source in names.SOURCES for path in (names.ROOT / source).rglob("*.py")]
    found = {name for path in paths for _, name in names.names(path)}

    assert sorted(names.KEPT.keys() - found - {name.rpartition(".")[2] for name in found}) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def _told_apart(): ...", ["told"]),
        ("class WorkerDesk: ...", ["desk"]),
        ("class A:\n    async def attend(self): ...", ["attend"]),
        ("MOST_KEYS, MANY = 1, 2", ["most"]),
        ("class A:\n    told: int = 0", ["told"]),
        ("DESK: int = 0", ["desk"]),
        ("def put(patience): ...", ["patience"]),
        ("class A:\n    def put(self):\n        self._shelf = 1", ["shelf"]),
        ("class Conflict:\n    kept: int", []),
        ("def put():\n    told = 1", []),
        ("REDACTED = 'a desk'\ndef almost(): ...", []),
    ],
)
def test_a_private_word_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, found: list[str]
) -> None:
    monkeypatch.setattr(names, "ROOT", tmp_path)
    path = tmp_path / "module.py"
    path.write_text(text)

    assert [sentence.split("'")[1] for sentence in names.private(path)] == found


def test_a_module_is_named_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "ROOT", tmp_path)
    path = tmp_path / "ringing.py"
    path.write_text("")

    assert list(names.private(path)) == ["ringing.py:1: `ringing` has 'ringing': say timers, fire"]
