"""Write docs/reference/cli.md and api.md from the commands and the calls: `make reference`."""

from __future__ import annotations

from pathlib import Path

from penstock.api import reference as api
from penstock.cli import reference as cli

PAGES = Path(__file__).parents[1] / "docs" / "reference"

if __name__ == "__main__":
    for name, text in (("cli", cli.reference_text()), ("api", api.reference_text())):
        page = PAGES / f"{name}.md"
        page.write_text(text, encoding="utf-8")
        print(f"wrote {page}")
