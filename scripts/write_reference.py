"""Write what is made from the code: the pages on commands, settings and calls, and the types of the web pages."""

from __future__ import annotations

from pathlib import Path

from penstock.api.description import reference as api
from penstock.api.description.typescript import types_text
from penstock.api.table import CALLS
from penstock.cli.glances import GLANCES, filled
from penstock.cli.reference import reference_text, settings_text
from penstock_release.api import CALLS as RELEASES

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "reference"
TYPES = ROOT / "web" / "src" / "api" / "schema.d.ts"

if __name__ == "__main__":
    (PAGES / "cli.md").write_text(reference_text(), encoding="utf-8")
    (PAGES / "settings.md").write_text(settings_text(), encoding="utf-8")
    (PAGES / "api.md").write_text(api.reference_text((*CALLS, *RELEASES)), encoding="utf-8")
    TYPES.write_text(types_text((*CALLS, *RELEASES)), encoding="utf-8")
    for name in GLANCES:
        page = PAGES / f"{name}.md"
        page.write_text(filled(name, page.read_text(encoding="utf-8")), encoding="utf-8")
