"""Tables that are made from the code and stand inside pages written by hand: keys, checks, errors, metrics."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.reference.schema.definition_schema import definition_schema

import penstock
from penstock.api.problems import STATUSES
from penstock.flow.checks.wording import PLACE, TEXTS
from penstock.flow.errors import PenstockError
from penstock.metrics.catalogue import GROUPS, Measure

CHECKS = Path(penstock.__file__).parent / "flow" / "checks"
BEGIN, END = "<!-- made by `make reference`: {} -->\n", "<!-- end -->\n"
GRAVE = ("error", "warning", "info")


def keys() -> str:
    """Every key of a definition and of its steps, with what the schema says of it."""
    whole = definition_schema()
    rows = [*_keys("", whole), *_keys("steps.*.", whole["$defs"]["step"])]
    return _table(("key", "is"), rows)


def _keys(above: str, part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    needed = part.get("required", ())
    for name, said in part["properties"].items():
        about = said.get("description", "").replace("|", "\\|")
        yield f"`{above}{name}`", f"{about} Required." if name in needed else about


def checks() -> str:
    """Every code that a check finds, with how grave it is and what its arguments may be."""
    found: dict[str, set[str]] = {}
    for path in sorted(CHECKS.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                makers = {each.id for each in ast.walk(node.func) if isinstance(each, ast.Name)}
                if made := makers & set(GRAVE):  # `error("dead-step", …)`, or `(error if … else warning)(…)`
                    found.setdefault(str(node.args[0].value), set()).update(made)
    rows = [
        (f"[`{code}`](#{code})", " or ".join(sorted(found[code], key=GRAVE.index)), _arguments(code))
        for code in sorted(found)
    ]
    return _table(("check", "is", "`args`"), rows)


def _arguments(code: str) -> str:
    texts = {key: text for key, text in TEXTS.items() if key.split(".")[0] == code}
    hints = {key.removesuffix(".hint") for key in texts if key.endswith(".hint")}
    variants = {key for key in texts if not key.endswith(".hint")}
    keyed = [*(["variant"] if {code} != variants else []), *(["remedy"] if hints - variants - {code} else [])]
    named = {place[1] for text in texts.values() for place in PLACE.finditer(text)}
    return ", ".join(f"`{name}`" for name in (*keyed, *sorted(named)))


def errors() -> str:
    """Every error with its code, and the status that a call answers with."""
    for module in pkgutil.walk_packages(penstock.__path__, "penstock."):
        if module.name != "penstock.__main__":
            importlib.import_module(module.name)
    found = {each for each in _below(PenstockError) if each.__module__.startswith("penstock.")}
    rows = [
        (f"`{each.code}`", f"[`{each.__name__}`](#{each.__name__.lower()})", str(_status(each)))
        for each in sorted(found, key=lambda each: (each.code, each.__name__))
    ]
    return _table(("code", "error", "status"), rows)


def _below(kind: type[PenstockError]) -> Iterator[type[PenstockError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _below(each)


def _status(kind: type[PenstockError]) -> int:
    return next(STATUSES[each] for each in kind.__mro__ if each in STATUSES)


def metrics() -> str:
    """Every metric, by what it is about."""
    return "\n".join(f"## {group}\n\n{_metrics(measures)}" for group, measures in GROUPS.items())


def _metrics(measures: Sequence[Measure]) -> str:
    rows = [
        (f"`{each.shown}`", ", ".join(f"`{label}`" for label in each.labels), each.kind, each.about)
        for each in measures
    ]
    return _table(("metric", "labels", "kind", "is"), rows)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


TABLES: Mapping[str, Callable[[], str]] = {
    "definition": keys,
    "checks": checks,
    "errors": errors,
    "metrics": metrics,
}
"""Page → the table in it."""


def filled(name: str, text: str) -> str:
    """The text of a page with its table as the code has it now."""
    begin = BEGIN.format(name)
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(END), re.S)
    assert pattern.search(text), f"docs/reference/{name}.md has no place for its table: {begin}"
    return pattern.sub(lambda _: f"{begin}\n{TABLES[name]()}\n{END}", text)
