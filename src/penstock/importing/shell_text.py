"""The text of a shell command, as far as it must be understood to change it."""

from __future__ import annotations

_PLAIN, _SINGLE, _DOUBLE = "", "'", '"'


def single_quoted(command: str) -> set[int]:
    """Where a command stands in single quotes, in which a shell takes everything as it is."""
    found: set[int] = set()
    within = [_PLAIN]
    at = 0
    while at < len(command):
        if within[-1] == _SINGLE:
            found.add(at)
            if command[at] == _SINGLE:
                within.pop()
            at += 1
        else:
            at = _after(command, at, within)
    return found


def _after(command: str, at: int, within: list[str]) -> int:
    """Take one thing outside of single quotes; where the next one begins."""
    char, inside = command[at], within[-1]
    if char == "\\" or command.startswith("$(", at):
        if char == "$":
            within.append(_PLAIN)
        return at + 2
    if char == "#" and inside == _PLAIN and (at == 0 or command[at - 1] in " \t\n;"):
        end = command.find("\n", at)  # an apostrophe in a comment quotes nothing
        return len(command) if end < 0 else end
    if char == inside or (char == ")" and inside == _PLAIN and len(within) > 1):
        within.pop()
    elif char == _DOUBLE or (inside == _PLAIN and char in (_SINGLE, "(")):
        within.append(_PLAIN if char == "(" else char)
    return at + 1
