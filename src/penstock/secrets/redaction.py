"""Secrets that slip into texts are redacted by their value, also as they look when encoded."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

IN_JAVASCRIPT, IN_PATHS = "!'()*", "/:+=@,"
"""What `encodeURIComponent` leaves as it is, and what is often left so in paths."""
_ESCAPED = re.compile("%[0-9A-F]{2}")

SHORTEST = 6
"""Shorter values are not looked for: they are in too many words."""
LINE = 12
"""Shorter lines of a value are not looked for by themselves."""
CUT = 16
"""From so many characters on, the beginning of a value is taken for one that was cut."""
REDACTED = "***"


class Redactor:
    """Knows the values of secrets, and replaces them. For any thread."""

    def __init__(self) -> None:
        self._forms: frozenset[str] = frozenset()
        self._known: dict[str, tuple[str, ...]] = {}  # by how they begin, the longest first

    def learn(self, values: Iterable[str]) -> None:
        """From now on these values are redacted."""
        forms = self._forms.union(*(_forms(part) for value in values for part in _parts(value)))
        if forms != self._forms:
            known: dict[str, tuple[str, ...]] = {}
            # The longest first: else a part could be redacted, the rest shown.
            for form in sorted(forms, key=len, reverse=True):
                known[form[:SHORTEST]] = (*known.get(form[:SHORTEST], ()), form)
            self._known, self._forms = known, forms

    def redact(self, text: str) -> str:
        """The text without secrets."""
        known = self._known
        # By their beginnings: to try every form at every place would hold up the server, with many secrets and a
        # long line, and whoever writes the line knows how one of them begins.
        if not known or known.keys().isdisjoint(
            {text[at : at + SHORTEST] for at in range(len(text) - SHORTEST + 1)}
        ):
            return text
        parts: list[str] = []
        at = begin = 0
        while at <= len(text) - SHORTEST:
            end = self._end_of_secret(text, at)
            if end == at:
                at += 1
                continue
            parts += (text[begin:at], REDACTED)
            at = begin = end
        return "".join((*parts, text[begin:]))

    def _end_of_secret(self, text: str, at: int) -> int:
        """Where the secret ends that begins there, or as much of it as was not cut off; `at` where none begins."""
        end, rest = at, len(text) - at
        for form in self._known.get(text[at : at + SHORTEST], ()):
            if text.startswith(form, at):
                return max(end, at + len(form))
            if text.startswith(form[:CUT], at) or (rest < CUT and form.startswith(text[at:])):
                end = max(end, at + _shared(form, text, at))
        return end

    def redact_value(self, value: Any) -> Any:
        """A JSON value without secrets, in keys as well."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, dict):
            return {self.redact_value(key): self.redact_value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact_value(item) for item in value]
        return value


def _shared(form: str, text: str, at: int) -> int:
    """How many characters of the form the text has there."""
    length = min(len(form), len(text) - at)
    return next((count for count in range(length) if form[count] != text[at + count]), length)


def _parts(value: str) -> Iterator[str]:
    """A value as tasks may show it: whole, without blanks around it, and line by line."""
    whole, lines = value.strip(), [line.strip() for line in value.splitlines()]
    for part in {value, whole, *(line for line in lines if len(line) >= LINE)}:
        if len(part) >= SHORTEST:
            yield part


def _forms(value: str) -> set[str]:
    raw = value.encode("utf-8", "surrogatepass")
    in_urls = {quote(raw, safe=safe) for safe in ("", "/", IN_JAVASCRIPT, IN_PATHS)} | {quote_plus(raw)}
    in_json = {json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    in_json |= {made for form in in_json for made in (form.replace("/", "\\/"), form.translate(_IN_GO))}
    in_json |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in in_json}  # JSON inside JSON
    in_texts = {html.escape(value), html.escape(value, quote=False), ascii(value)[1:-1], repr(raw)[2:-1]}
    in_texts |= {made for form in {value, *in_json} for made in (repr(form)[1:-1], repr(form + _BOTH)[1:-4])}
    found = {
        value,
        *in_urls,
        *(_ESCAPED.sub(lambda found: found[0].lower(), form) for form in in_urls),
        *in_json,
        *in_texts,
    }
    found |= {form.replace("%", "%25") for form in tuple(found) if "%" in form and form != value}
    found |= set(_in_base64(raw)) | {raw.hex(), raw.hex().upper()}
    return {form for form in found if len(form) >= SHORTEST}


def _in_base64(raw: bytes) -> Iterator[str]:
    """As it looks inside the base64 of something longer, such as `user:password`: at each of three places."""
    for before in range(3):
        text = base64.b64encode(bytes(before) + raw).decode().rstrip("=")
        first = (before * 8 + 5) // 6  # characters that also depend on what stands before
        last = (before + len(raw)) * 8 // 6  # and those that also depend on what follows
        yield from (form := text[first:last], form.translate(_URL_SAFE))


_URL_SAFE = str.maketrans("+/", "-_")
_BOTH = "'\""
"""Quotes after which `repr` escapes the single ones."""
_IN_GO = str.maketrans({each: f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"})
"""What Go escapes in JSON beside what all do."""
