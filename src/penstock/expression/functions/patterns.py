"""Patterns of text (RE2, globs) and of networks: all linear in the text, none of them backtracks."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import re2

from penstock.expression.errors import Fault
from penstock.expression.limits import MAX_PATTERN, MAX_PATTERN_MEMORY, Env, charge
from penstock.expression.values import NETWORKS, spoken

_OPTIONS = re2.Options()
_OPTIONS.max_mem = MAX_PATTERN_MEMORY
_OPTIONS.log_errors = False
_COMPILE_COST = 200
_SPECIAL = frozenset("\\.+*?()|[]{}^$")


def compile_pattern(pattern: str) -> Any:
    """The compiled regular expression; a fault of code `bad_regex` where RE2 refuses it or it is too big."""
    if len(pattern) > MAX_PATTERN:
        raise Fault("bad_regex", f"a pattern has at most {MAX_PATTERN} characters")
    try:
        return re2.compile(pattern, _OPTIONS)
    except UnicodeEncodeError:
        raise Fault("bad_regex", "the pattern holds half a character (a lone surrogate)") from None
    except re2.error as problem:
        message = f"the pattern is not a regular expression that RE2 takes ({_reason(problem)})"
        raise Fault("bad_regex", message) from None


def _reason(problem: Exception) -> str:
    reason = problem.args[0] if problem.args else ""
    text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    return text.rstrip(".")


def search(env: Env, compiled: Any, text: Any) -> bool:
    """Whether a compiled pattern matches somewhere in the text; charged by the text and the program."""
    if text.__class__ is not str:
        raise Fault("no_such_overload", f"a pattern matches a string, not {spoken(text)}")
    charge(env, 1 + len(text) * (1 + compiled.programsize // 256))
    try:
        return compiled.search(text) is not None
    except UnicodeEncodeError:
        raise Fault("bad_value", "the text holds half a character (a lone surrogate)") from None


def compile_glob(pattern: str) -> Any:
    """The compiled glob: `*` and `?` stay within a `/`, `**` crosses it, `[a-z]` and `{a,b}` choose."""
    if len(pattern) > MAX_PATTERN:
        raise Fault("bad_regex", f"a pattern has at most {MAX_PATTERN} characters")
    parts: list[str] = []
    position, depth = 0, 0
    while position < len(pattern):
        piece, position, depth = _glob_piece(pattern, position, depth)
        parts.append(piece)
    if depth:
        raise Fault("bad_regex", "a `{` in the glob is not closed")
    try:
        return re2.compile("(?s)^(?:" + "".join(parts) + ")$", _OPTIONS)
    except (re2.error, UnicodeEncodeError):
        raise Fault("bad_regex", "the glob is too big, or its brackets hold no characters") from None


def _glob_piece(pattern: str, at: int, depth: int) -> tuple[str, int, int]:
    char = pattern[at]
    if char == "*":
        return *_stars(pattern, at), depth
    if char == "?":
        return "[^/]", at + 1, depth
    if char == "[":
        return *_bracket(pattern, at), depth
    if char == "{":
        return "(?:", at + 1, depth + 1
    if char in ",}" and depth:
        return ("|", at + 1, depth) if char == "," else (")", at + 1, depth - 1)
    if char == "\\" and at + 1 < len(pattern):
        return re2.escape(pattern[at + 1]), at + 2, depth
    return ("\\" + char if char in _SPECIAL else char), at + 1, depth


def _stars(pattern: str, at: int) -> tuple[str, int]:
    end = at
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    if end - at == 1:
        return "[^/]*", end
    begins = at == 0 or pattern[at - 1] in "/{,"
    if begins and pattern[end : end + 1] == "/":
        return "(?:.*/)?", end + 1
    return ".*", end


def _bracket(pattern: str, at: int) -> tuple[str, int]:
    end = pattern.find("]", at + 2 + (pattern[at + 1 : at + 2] in ("!", "^")))
    if end < 0:
        raise Fault("bad_regex", "a `[` in the glob is not closed")
    inner = pattern[at + 1 : end]
    negated = inner[:1] in ("!", "^")
    chosen = "".join("\\" + char if char in "\\[]^&~" else char for char in inner[negated:])
    return (f"[^/{chosen}]" if negated else f"[{chosen}]"), end + 1


def read_ip(env: Env, text: Any) -> IPv4Address | IPv6Address:
    """`ip(text)`; an IPv4 address written as IPv6 is taken as IPv4."""
    if isinstance(text, IPv4Address | IPv6Address):
        return text
    if text.__class__ is not str:
        raise Fault("no_such_overload", f"an address is a string, not {spoken(text)}")
    try:
        if "%" in text or len(text) > 64:
            raise ValueError
        address = ip_address(text)
    except ValueError:
        raise Fault("bad_value", f"`{text[:64]}` is not an IP address") from None
    # A list of allowed IPv4 networks must not be passed by writing the address another way.
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def read_cidr(env: Env, text: Any) -> Any:
    """`cidr(text)`."""
    if text.__class__ in NETWORKS:
        return text
    if text.__class__ is not str:
        raise Fault("no_such_overload", f"a network is a string, not {spoken(text)}")
    try:
        if "/" not in text or "%" in text or len(text) > 64:
            raise ValueError
        return ip_network(text, strict=False)
    except ValueError:
        raise Fault("bad_value", f"`{text[:64]}` is not a network such as `10.0.0.0/8`") from None


def cidr_contains(network: Any, address: Any) -> bool:
    """Whether a network holds an address, given as address or text."""
    return read_ip([None, 0], address) in network


def _matcher(what: str, compiled: Callable[[str], Any]) -> Callable[[Env, Any, Any], bool]:
    def run(env: Env, text: Any, pattern: Any) -> bool:
        if pattern.__class__ is not str:
            raise Fault("no_such_overload", f"{what} is a string, not {spoken(pattern)}")
        charge(env, _COMPILE_COST)
        return search(env, compiled(pattern), text)

    return run


matches, glob = _matcher("a pattern", compile_pattern), _matcher("a glob", compile_glob)
"""`text.matches(pattern)` and `glob(text, pattern)`, for a pattern that is not known before."""
