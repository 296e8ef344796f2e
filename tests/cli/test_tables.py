"""Tables: what is left out where there is little room."""

from __future__ import annotations

import io

from rich.console import Console

from penstock.cli.io.console import THEME
from penstock.cli.io.tables import print_table

TITLES = ("step", "firings:", "does")
ROWS = [("pack", "1", "puts everything into boxes"), ("a [b]", "12", "ships")]


def printed(width: int) -> list[str]:
    file = io.StringIO()
    print_table(Console(file=file, width=width, theme=THEME), TITLES, ROWS, ("firings:",))
    return file.getvalue().splitlines()


def test_a_table_is_as_wide_as_its_words() -> None:
    assert printed(200) == [
        "step   firings  does",
        "pack         1  puts everything into boxes",
        "a [b]       12  ships",
    ]


def test_where_there_is_little_room_spare_columns_go_first() -> None:
    assert printed(34) == ["step   does", "pack   puts everything into boxes", "a [b]  ships"]


def test_where_there_is_still_less_words_are_wrapped() -> None:
    assert printed(24) == ["step   does", "pack   puts everything", "       into boxes", "a [b]  ships"]
