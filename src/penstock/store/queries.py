"""Named queries: SQL stays in `.sql` files, a block each, so that both dialects can be laid side by side."""

from __future__ import annotations

import re
from importlib.resources import files

_NAME = re.compile(r"^-- name: *(.*?) *$", re.MULTILINE)
_WORD = re.compile(r"[a-z][a-z0-9_]*")


def parse(text: str, source: str) -> dict[str, str]:
    """Name → statement of each `-- name: x` block; ValueError for one without a name, without a body, or twice there.

    Comments and the last semicolon are left out, so that the database does not read them at every call.
    """
    head, *rest = _NAME.split(text)
    if _bare(head):
        raise ValueError(f"{source}: put '-- name: x' before the first statement")
    found: dict[str, str] = {}
    for name, body in zip(rest[::2], rest[1::2], strict=True):
        if not _WORD.fullmatch(name):
            raise ValueError(f"{source}: '{name}' is not a name: use small letters, digits and _")
        if name in found:
            raise ValueError(f"{source}: there are two queries named '{name}'")
        found[name] = _bare(body)
        if not found[name]:
            raise ValueError(f"{source}: the query '{name}' is empty")
    return found


def read_queries(package: str) -> dict[str, str]:
    """All queries of the `.sql` files beside a package's modules; ValueError where two have one name."""
    found: dict[str, str] = {}
    for file in sorted(files(package).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".sql"):
            more = parse(file.read_text(encoding="utf-8"), f"{package}/{file.name}")
            for name in more.keys() & found.keys():
                raise ValueError(f"{package}/{file.name}: another file has a query named '{name}'")
            found |= more
    return found


def _bare(text: str) -> str:
    lines = (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("--"))
    return "\n".join(lines).strip().removesuffix(";").rstrip()
