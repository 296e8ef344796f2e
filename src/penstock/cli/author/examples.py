"""`penstock examples`: which there are, and a copy of them to try and to change."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

from penstock.cli.author.example_files import examples_in, workflows_in
from penstock.cli.io.console import out, print_json, printable
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.parameters import option
from penstock.cli.io.problems import Wrong
from penstock.cli.io.tables import print_table
from penstock.flow.format.definition_parser import read_definition

To = Annotated[str | None, option("--to", "DIR", "Copy all of them to this new folder.")]


def examples(to: To = None, json: AsJson = False) -> None:
    """List the example workflows, or copy them with their tasks and data to a folder.

    They are those of a clone where this is run in one, else those that came with the package. Each of the five systems
    has a README.md in its folder.

    [bold]Examples[/bold]

      penstock examples

      penstock examples --to examples
    """
    home = examples_in(None)
    if to is not None:
        home = _copied(home, Path(to))
    rows = [_row(path, home) for path in workflows_in(home)]
    if json:
        print_json(
            {"folder": str(home), "examples": [{"path": path, "title": title} for path, title in rows]}
        )
        return
    print_table(out(), ("example", "is"), rows)
    out().print(printable(f"They are in {home}."))


def _row(path: Path, home: Path) -> tuple[str, str]:
    title = read_definition(path.read_text(encoding="utf-8")).title
    return path.relative_to(home).as_posix(), title or path.stem


def _copied(home: Path, to: Path) -> Path:
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise Wrong.because(f"'{to}' is there already and not an empty folder: name one that is new.")
    try:
        shutil.copytree(home, to, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    except OSError as error:
        raise Wrong.because(f"the examples cannot be copied to '{to}': {error.strerror or error}.") from None
    return to
