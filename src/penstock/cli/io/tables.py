"""Tables without lines, which leave columns out where the terminal is narrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from penstock.cli.io.console import out, print_json

GAP = 2
LEAST = 12
"""Columns that a wrapped column keeps."""

Row = Sequence[str | Text]


def print_table(
    console: Console, titles: Sequence[str], rows: Sequence[Row], spare: Sequence[str] = ()
) -> None:
    """Print rows under their titles, or that there are none; a title that ends in `:` stands above numbers.

    Titles in `spare` are left out, in their order, until the table fits; then words at its edges are wrapped.
    """
    if not rows:
        console.print(Text("There are none.", "faint"))
        return
    heads = [title.rstrip(":") for title in titles]
    widths = [max(cell_len(str(cell)) for cell in column) for column in zip(heads, *rows, strict=True)]
    kept = dict(zip(titles, widths, strict=True))
    for title in spare:
        if sum(kept.values()) + GAP * (len(kept) - 1) > console.width:
            del kept[title]
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="faint")
    for title in kept:
        _add_column(table, title, min(kept[title], LEAST), edge=title in (titles[0], titles[-1]))
    places = [titles.index(title) for title in kept]
    for row in rows:
        table.add_row(*(_text(row[place]) for place in places))
    _print(console, table)


def print_list(
    found: Sequence[dict[str, Any]],
    as_json: bool,
    titles: Sequence[str],
    row: Callable[[dict[str, Any]], Row],
    spare: Sequence[str] = (),
) -> None:
    """Show what was found: as JSON, or as a table with a row for each."""
    if as_json:
        print_json(list(found))
    else:
        print_table(out(), titles, [row(each) for each in found], spare)


def _add_column(table: Table, title: str, least: int, edge: bool) -> None:
    number = title.endswith(":")
    justify: Literal["left", "right"] = "right" if number else "left"
    table.add_column(
        title.rstrip(":"), justify=justify, overflow="fold", no_wrap=number or not edge, min_width=least
    )


def _text(cell: str | Text) -> Text:
    """Names of strangers are no markup."""
    return cell if isinstance(cell, Text) else Text(cell)


def _print(console: Console, table: Table) -> None:
    if console.is_terminal:
        console.print(table, soft_wrap=False)
        return
    # In a pipe the blanks that fill the last column would only be in the way.
    with console.capture() as captured:
        console.print(table, soft_wrap=False)
    lines = (line.rstrip() for line in captured.get().splitlines())
    console.print("\n".join(lines), soft_wrap=True, markup=False, highlight=False)
