"""Write docs/reference/cli.md from the commands: `make reference`."""

from __future__ import annotations

from pathlib import Path

from penstock.cli.reference import reference_text

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "cli.md"

if __name__ == "__main__":
    PAGE.write_text(reference_text(), encoding="utf-8")
    print(f"wrote {PAGE}")
