"""Which objects a source is about: `events`, `prefix`, `suffix`, `glob`, and `where` over what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.expression import Expression, compile_expression
from penstock.flow.compile.source_scopes import OBJECT_SCOPE, glob_over_key

_LISTED = frozenset({"bucket", "key", "size", "etag", "event", "transport"})
_LISTED_SYSTEM = frozenset({"store", "last_modified", "storage_class"})
"""What a listing tells of an object without asking for it."""


class Matching:
    """The filters of one source of kind `object` or `search`."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.store: str = options["store"]
        self.prefix: str = options.get("prefix", "")
        self.suffix: str = options.get("suffix", "")
        self.events: frozenset[str] = frozenset(options.get("events", ("created", "deleted")))
        glob, where = options.get("glob"), options.get("where")
        self._glob = None if glob is None else compile_expression(glob_over_key(glob), ("key",))
        self._where: Expression | None = None if where is None else compile_expression(where, OBJECT_SCOPE)
        read = () if self._where is None else (*self._where.reads, *self._where.guards)
        reads = tuple(map(_within, read))
        self.asks = self._where is not None
        self.wants_tags = any(path[:1] in ((), ("tags",)) for path in reads)
        self.wants_head = self.wants_tags or not all(map(_is_listed, reads))

    def named(self, key: str) -> bool:
        """Whether the key alone lets it pass."""
        if not (key.startswith(self.prefix) and key.endswith(self.suffix)):
            return False
        return self._glob is None or self._glob.holds({"key": key})

    def holds(self, scope: Mapping[str, Any]) -> bool:
        """Whether `where` holds. Raises EvaluationError where it has no value: the object has not what it reads."""
        return self._where is None or self._where.holds(scope)


def _within(path: tuple[str, ...]) -> tuple[str, ...]:
    """The path inside the object: `object.size` and `size` are the same."""
    return path[1:] if path[:1] == ("object",) else path


def _is_listed(path: tuple[str, ...]) -> bool:
    if path[:1] == ("system",):
        return len(path) > 1 and path[1] in _LISTED_SYSTEM
    return bool(path) and path[0] in _LISTED
