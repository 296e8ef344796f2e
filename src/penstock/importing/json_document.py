"""A JSON text with the line and column of everything in it."""

from __future__ import annotations

import re
from typing import Any

from penstock.flow.format.nodes import Findings, Node, Place, check_text, plain, read_json_text

_PART = re.compile(r"[^.\[\]]+|\[\d+\]")


class JsonDocument:
    """The value of a text, and where each part of it stands. Raises DefinitionError where it is no JSON."""

    def __init__(self, text: str) -> None:
        findings = Findings()
        self._root: Node = read_json_text(check_text(text, findings), findings)
        if findings.problems:
            raise findings.error()
        self.value: Any = plain(self._root)

    def place(self, path: str) -> Place | None:
        """Where a path such as `nodes[2].ports[0]` stands, or the nearest thing around it."""
        node, found = self._root, self._root.place
        for part in _PART.findall(path):
            inner = _inside(node, part)
            if inner is None:
                break
            node, found = inner, inner.place or found
        return found


def _inside(node: Node, part: str) -> Node | None:
    if part.startswith("["):
        number = int(part[1:-1])
        items = node.value if isinstance(node.value, list) else []
        return items[number] if number < len(items) else None
    return node.value.get(part) if isinstance(node.value, dict) else None
