"""Write the pages that are made from the code: commands, settings and calls."""

from __future__ import annotations

from pathlib import Path

from penstock.api import reference as api
from penstock.cli.reference import reference_text, settings_text

PAGES = Path(__file__).parents[1] / "docs" / "reference"

if __name__ == "__main__":
    (PAGES / "cli.md").write_text(reference_text(), encoding="utf-8")
    (PAGES / "settings.md").write_text(settings_text(), encoding="utf-8")
    (PAGES / "api.md").write_text(api.reference_text(), encoding="utf-8")
