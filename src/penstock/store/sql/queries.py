"""Named queries: SQL lives in `.sql` files, one block each, so that both dialects can be compared."""

from __future__ import annotations

import re
from importlib.resources import files

_HEAD = re.compile(r"^-- (name|part): *(.*?) *$", re.MULTILINE)
_USE = re.compile(r"^ *-- use: *(.*?) *$", re.MULTILINE)
_WORD = re.compile(r"[a-z][a-z0-9_]*")


def parse(text: str, source: str) -> dict[str, str]:
    """Name → statement of each `-- name: x` block; ValueError for one without a name, without a body, or twice there.

    A block `-- part: x` is no query: it stands wherever a query of the file says `-- use: x`. Comments and the last
    semicolon are left out, so that the database does not read them at every call.
    """
    head, *rest = _HEAD.split(text)
    if _bare(head):
        raise ValueError(f"{source}: put '-- name: x' before the first statement")
    found: dict[str, dict[str, str]] = {"name": {}, "part": {}}
    for kind, name, body in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        if not _WORD.fullmatch(name):
            raise ValueError(f"{source}: '{name}' is not a name: use small letters, digits and _")
        if name in found[kind]:
            raise ValueError(f"{source}: there are two queries named '{name}'")
        found[kind][name] = body
    return {name: _whole(name, body, found["part"], source) for name, body in found["name"].items()}


def _whole(name: str, body: str, parts: dict[str, str], source: str) -> str:
    """A query with the parts that it uses."""
    missing = [used for used in _USE.findall(body) if used not in parts]
    if missing:
        raise ValueError(f"{source}: the query '{name}' uses '{missing[0]}', and there is no such part")
    statement = _bare(_USE.sub(lambda use: parts[use[1]], body))
    if not statement:
        raise ValueError(f"{source}: the query '{name}' is empty")
    return statement


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
