"""The figures of a measurement in docs/performance.md: the table between its marks, the charts beside it."""

from __future__ import annotations

import re
from pathlib import Path

from bench.charts import charts
from bench.results import Results
from bench.session import ROOT
from bench.table import table

DOCS = ROOT / "docs"
PAGE = "performance.md"


def publish(results: Results, docs: Path = DOCS) -> None:
    """Write the charts into `img`, and the table into the page."""
    names = []
    for name, svg in charts(results).items():
        names.append(f"img/bench-{name}.svg")
        (docs / names[-1]).write_text(svg, encoding="utf-8")
    put(docs / PAGE, "bench", _lower(table(results, names)))


def put(page: Path, mark: str, text: str) -> None:
    """Replace what stands between the marks `mark:begin` and `mark:end` of a page."""
    begin, end = f"<!-- {mark}:begin -->", f"<!-- {mark}:end -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"{page} has no place for '{mark}'")
    page.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}", encoding="utf-8")


def _lower(text: str) -> str:
    """Without its title, and its headings one level further down: the page has its own."""
    return re.sub(r"^## ", "### ", text.partition("\n")[2], flags=re.M)
