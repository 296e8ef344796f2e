"""Which names are allowed, and which known name a wrong one was probably meant to be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from penstock.kernel.net import RESERVED

MAX_NAME_LENGTH = 128
"""Characters a name may have."""

_PLAIN = re.compile(r"[A-Za-z0-9_.\-]+")
_COMMON = re.compile(r"[A-Za-z0-9 _.\-/()]+")
_PUNCTUATION = frozenset(" _.-/()")


def wrong_name(name: str) -> str | None:
    """Why `name` cannot name a step, an event or a port, as the end of a sentence; None if it can."""
    if not name:
        return "is empty"
    if not name.strip():
        return "has only spaces"
    if len(name) > MAX_NAME_LENGTH:
        return f"has {len(name)} characters; {MAX_NAME_LENGTH} at most"
    if name != name.strip():
        return "begins or ends with a space"
    if _COMMON.fullmatch(name):
        return None
    bad = next((each for each in name if not _in_name(each)), None)
    return None if bad is None else f"has the character {shown_character(bad)}; {ALLOWED}"


ALLOWED = "letters, digits, spaces and _ . - / ( ) are allowed"


def wrong_identifier(name: str) -> str | None:
    """Why `name` cannot name a workflow, a task list or a store, as the end of a sentence; None if it can."""
    if not name:
        return "is empty"
    if len(name) > MAX_NAME_LENGTH:
        return f"has {len(name)} characters; {MAX_NAME_LENGTH} at most"
    if name in (".", ".."):
        return "means a folder in addresses; take another name"
    if _PLAIN.fullmatch(name):
        return None
    bad = next(each for each in name if not _PLAIN.fullmatch(each))
    return f"has the character {shown_character(bad)}; only A-Z a-z 0-9 _ . - are allowed"


def is_reserved(name: str) -> bool:
    """Whether the engine itself fires an event of this name."""
    return name in RESERVED


MAX_COMPARED, MAX_HINTS = 500, 20
"""Names that are compared with a wrong one, and wrong ones in one text that are: each with each would take minutes."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, of many one of about its length; None where none is like it."""
    names = list(known)
    if len(names) > MAX_COMPARED:
        names = sorted(names, key=lambda each: abs(len(each) - len(name)))[:MAX_COMPARED]
    folded = {each.casefold(): each for each in reversed(names)}
    found = get_close_matches(name.casefold()[:MAX_NAME_LENGTH], list(folded), n=1, cutoff=0.6)
    return folded[found[0]] if found else None


class Hints:
    """The nearest names for the first of many that are wrong."""

    def __init__(self) -> None:
        self._left = MAX_HINTS

    def nearest(self, name: str, known: Iterable[str]) -> str | None:
        """As `nearest`, among names in any order; None where enough was said."""
        self._left -= 1
        return nearest(name, sorted(known)) if self._left >= 0 else None


def shown_character(character: str) -> str:
    """A character as a person can read it, even where it cannot be seen."""
    if character.isprintable() and not character.isspace():
        return f"`{character}`"
    return f"U+{ord(character):04X}"


def shown(text: str, max_length: int = 40) -> str:
    """`text` in quotes on one line, cut where it is long."""
    cut = text if len(text) <= max_length else text[: max_length - 1] + "…"
    return "'" + "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in cut) + "'"


def quoted(names: Iterable[str], last: str = "and") -> str:
    """`'a', 'b' and 'c'`."""
    return joined([f"'{name}'" for name in names], last)


def joined(words: Sequence[str], last: str = "and") -> str:
    """`a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def _in_name(character: str) -> bool:
    if character in _PUNCTUATION or character.isalnum():
        return True
    # Vowel signs of Indic scripts are marks, not letters.
    return unicodedata.category(character).startswith("M")
