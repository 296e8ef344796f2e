"""The check on sizes: a package whose docstring does not say what may not live there is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import sizes


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ('"""Rows.\n\nNot here: SQL.\n"""', 0),
        ('"""Rows.\n\nOf runs.\nNot here: SQL.\n"""', 0),
        ('"""Rows.\n\nOf runs.\nOf tasks.\nNot here: SQL.\n"""', 1),
        ('"""Rows."""', 1),
        ("", 1),
    ],
)
def test_a_package_says_what_lives_there_and_what_may_not(tmp_path: Path, text: str, wrong: int) -> None:
    path = tmp_path / "__init__.py"
    path.write_text(text)

    assert len(list(sizes.unexplained(path))) == wrong
