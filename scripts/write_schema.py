"""Write the published JSON Schema of the definition format anew."""

from __future__ import annotations

from pathlib import Path

from penstock.flow.format import schema

if __name__ == "__main__":
    Path(schema.__file__).with_name("penstock-1.schema.json").write_text(schema.schema_text())
