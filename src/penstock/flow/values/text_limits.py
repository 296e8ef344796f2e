"""What texts and JSON may be like: every database must be able to keep them, and index those runs are found by."""

from __future__ import annotations

MAX_DEPTH, MAX_KEYS = 64, 10_000
"""Levels of JSON inside each other, and keys of one object."""

KEY, SUBJECT, EVENT = 512, 1_000, 128
"""Characters, of which each may have two bytes in UTF-8 on average."""


def length_problem(text: str, most: int = KEY) -> str | None:
    """What is wrong with the length of a text, to stand behind its name; None: nothing."""
    if len(text) <= most // 4:  # no character has more than four bytes
        return None
    if len(text) > most:
        return f"has {len(text):,} characters, {most:,} at most: use a shorter one"
    size = len(text.encode("utf-8", "surrogatepass"))
    return (
        f"has {size:,} bytes in UTF-8, {2 * most:,} at most: use a shorter one" if size > 2 * most else None
    )


def is_keepable(text: str) -> bool:
    """Whether it is without NUL and without half of a surrogate pair, which is no text in UTF-8."""
    if text.isascii():
        return "\0" not in text
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
