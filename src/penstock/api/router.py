"""From a path to its calls: a tree of segments, so lookups do not slow down as calls are added."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import unquote

from msgspec import Struct

from penstock.api.call import Call
from penstock.runtime.errors import NotFound


class NoSuchPath(NotFound):
    """Nothing is served at that path."""

    def __init__(self, path: str) -> None:
        super().__init__(f"nothing is served at '{path}': see /openapi.json for what is")


class MethodNotAllowed(NotFound):
    """The path is served, but not with that method."""

    code = "method_not_allowed"

    def __init__(self, method: str, allowed: list[str]) -> None:
        super().__init__(f"{method} is not possible here: use {' or '.join(allowed)}")
        self.allowed = allowed


class _Branch(Struct):
    named: dict[str, _Branch] = {}
    rest: _Branch | None = None
    tail: _Branch | None = None
    calls: dict[str, Call] = {}
    parameters: tuple[str, ...] = ()


class Router:
    """Finds the call for a method and a path as it came, still percent-encoded.

    Segments are decoded one by one, after splitting: an encoded slash never makes another path. A last `{*name}`
    takes all that is left, as it came.
    """

    def __init__(self, calls: Iterable[Call]) -> None:
        self._root = _Branch()
        for call in calls:
            self._add(call)

    def _add(self, call: Call) -> None:
        branch, names = self._root, []
        for segment in call.path.split("/")[1:]:
            if segment.startswith("{*"):
                names.append(segment[2:-1])
                branch.tail = branch = branch.tail or _Branch()
            elif segment.startswith("{"):
                names.append(segment[1:-1])
                branch.rest = branch = branch.rest or _Branch()
            else:
                branch = branch.named.setdefault(segment, _Branch())
        if call.method in branch.calls:
            raise ValueError(f"{call.method} {call.path} is declared twice")
        if branch.calls and branch.parameters != tuple(names):
            raise ValueError(f"{call.path} names its parameters otherwise than its siblings")
        branch.calls[call.method], branch.parameters = call, tuple(names)

    def find(self, method: str, path: str) -> tuple[Call, dict[str, str]]:
        """The call and the values of its path. Raises NoSuchPath, MethodNotAllowed."""
        branch, values = self._root, []
        segments = path.split("/")[1:]
        for at, segment in enumerate(segments):
            below = branch.named.get(segment)
            if below is None and branch.tail is not None:
                values.append("/".join(segments[at:]))
                branch = branch.tail
                break
            if below is None:
                below = branch.rest
                if below is None or not segment:
                    raise NoSuchPath(path)
                values.append(_decoded(segment, path))
            branch = below
        if not branch.calls:
            raise NoSuchPath(path)
        call = branch.calls.get("GET" if method == "HEAD" else method)
        if call is None:
            raise MethodNotAllowed(method, sorted(branch.calls))
        return call, dict(zip(branch.parameters, values, strict=True))


def _decoded(segment: str, path: str) -> str:
    """One segment in plain text. What is no text, or no name of anything, is not found."""
    if "%" not in segment:
        return segment
    try:
        text = unquote(segment, errors="strict")
    except UnicodeDecodeError:
        raise NoSuchPath(path) from None
    if "\0" in text:
        raise NoSuchPath(path)
    return text
