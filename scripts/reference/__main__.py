"""`make reference`: the pages on commands, settings and calls, the schema of definitions, what pages are built with."""

from __future__ import annotations

from pathlib import Path

from scripts.reference import http_api
from scripts.reference.check_texts import page_texts
from scripts.reference.command_line import reference_text, settings_text
from scripts.reference.reference_tables import TABLES, filled
from scripts.reference.schema.definition_schema import schema_text
from scripts.reference.typescript import types_text

from penstock.api.table import CALLS
from penstock_release.api import CALLS as RELEASES

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "reference"
SCHEMA = ROOT / "src" / "penstock" / "flow" / "format" / "penstock-1.schema.json"
TYPES = ROOT / "web" / "src" / "api" / "schema.d.ts"
TEXTS = ROOT / "web" / "src" / "messages" / "en" / "findings.json"

if __name__ == "__main__":
    (PAGES / "cli.md").write_text(reference_text(), encoding="utf-8")
    (PAGES / "settings.md").write_text(settings_text(), encoding="utf-8")
    (PAGES / "api.md").write_text(http_api.reference_text((*CALLS, *RELEASES)), encoding="utf-8")
    SCHEMA.write_text(schema_text(), encoding="utf-8")
    TYPES.write_text(types_text((*CALLS, *RELEASES)), encoding="utf-8")
    TEXTS.write_text(page_texts(), encoding="utf-8")
    for name in TABLES:
        page = PAGES / f"{name}.md"
        page.write_text(filled(name, page.read_text(encoding="utf-8")), encoding="utf-8")
