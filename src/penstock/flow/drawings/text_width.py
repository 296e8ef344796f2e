"""How wide text is, near enough for any sans-serif font, and how to cut it."""

from __future__ import annotations

from unicodedata import category, east_asian_width

_NARROW = frozenset("Iijlft.,:;'|!()[]/ -\"r")
_BROAD = frozenset("mwMW@%—")


def _em(letter: str) -> float:
    if letter in _NARROW:
        return 0.38
    if letter in _BROAD:
        return 0.92
    if east_asian_width(letter) in "WF":
        return 1.0
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    return 0.71 if letter.isupper() else 0.6


def width_of(text: str, size: float, bold: bool = False) -> float:
    """The width of one line in pixels; a little more than most fonts need."""
    return sum(map(_em, text)) * size * (1.12 if bold else 1.0)


def shorten(text: str, size: float, room: float, bold: bool = False) -> str:
    """The text, cut with an ellipsis where it is wider than `room`."""
    if width_of(text, size, bold) <= room:
        return text
    kept = text
    while kept and width_of(kept + "…", size, bold) > room:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def wrap(text: str, size: float, room: float, max_lines: int) -> list[str]:
    """At most `max_lines` lines of whole words; what does not fit ends in an ellipsis."""
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        elif len(lines) < max_lines:
            lines.append(word)
        else:
            lines[-1] += "…"
            break
    return [shorten(line, size, room) for line in lines]
