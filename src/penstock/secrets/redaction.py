"""Secrets that slip into texts are redacted by their value, also as they look when encoded."""

from __future__ import annotations

import base64
import html
import json
import re
from bisect import bisect
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

_PATH = "!$%&'()*+,/:;=@[]|\\"
UNQUOTED = (
    "",
    "/",
    "!'()*",
    "/:+=@,",
    "!#$%&'()*+,/:;=?@[]~",
    "!#$&'()*+,/:;=?@",
    _PATH,
    f"{_PATH}^",
    f"{_PATH}?^`{{}}",
)
"""What is left as it is in URLs: by `encodeURIComponent`, in many paths, by Requests, by `encodeURI`, by browsers."""
_ESCAPED = re.compile("%[0-9A-F]{2}")

SHORTEST = 6
"""Shorter values are not looked for: they are in too many words."""
LINE = 12
"""Shorter lines of a value are not looked for by themselves."""
CUT = 16
"""From so many characters on, the beginning of a value is taken for one that was cut."""
MADE = 8
"""So many values that were made under one name are known: calls with an older one are over."""
FEW = 32
"""Up to so many beginnings are looked for by one pattern, which is faster; with more it would be slower."""
REDACTED = "***"


class Redactor:
    """Knows the values of secrets, and replaces them. For any thread."""

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._made: dict[str, deque[str]] = {}
        self._lasting: frozenset[str] = frozenset()  # forms of the values; those that were made come and go
        self._forms: frozenset[str] = frozenset()
        self._known: dict[str, list[str]] = {}  # forms in order, by how they begin
        self._begins: re.Pattern[str] | None = None  # any of these beginnings, where they are few
        self._longest = 0

    def learn(self, values: Iterable[str]) -> None:
        """From now on these values are redacted."""
        if new := set(values) - self._values:
            self._lasting = self._lasting.union(*map(_all_forms, new))
            self._know()
            self._values |= new

    def learn_made(self, name: str, value: str) -> None:
        """The same for a value that this process makes itself, such as a token; of each name the last few are known."""
        made = self._made.setdefault(name, deque(maxlen=MADE))
        if value not in made:
            made.append(value)
            self._know()

    def _know(self) -> None:
        made = [_all_forms(value) for values in tuple(self._made.values()) for value in values]
        forms = self._lasting.union(*made)
        known: dict[str, list[str]] = {}
        for form in sorted(forms):
            known.setdefault(form[:SHORTEST], []).append(form)
        self._longest = max(map(len, forms), default=0)
        self._known, self._forms = known, forms
        few = 0 < len(known) <= FEW
        self._begins = re.compile("|".join(map(re.escape, known))) if few else None

    def redact(self, text: str) -> str:
        """The text without secrets."""
        if not self._may_have_secrets(text):
            return text
        parts: list[str] = []
        at = begin = 0
        while (at := self._next_beginning(text, at)) <= len(text) - SHORTEST:
            end = self._end_of_secret(text, at)
            if end == at:
                at += 1
                continue
            parts += (text[begin:at], REDACTED)
            while (
                (at := at + 1) < end < len(text)
            ):  # another secret may begin within this one and end behind it
                end = max(end, self._end_of_secret(text, at))
            at = begin = end
        return "".join((*parts, text[begin:]))

    def _may_have_secrets(self, text: str) -> bool:
        # By their beginnings: to try every form at every place would hold up the server, with many secrets and a
        # long line, and whoever writes the line knows how one of them begins.
        known, begins = self._known, self._begins
        if begins is not None:
            return begins.search(text) is not None
        return not known.keys().isdisjoint(
            {text[at : at + SHORTEST] for at in range(len(text) - SHORTEST + 1)}
        )

    def _next_beginning(self, text: str, at: int) -> int:
        """The next place where a secret may begin."""
        if (begins := self._begins) is None:
            return at
        found = begins.search(text, at)
        return len(text) if found is None else found.start()

    def _end_of_secret(self, text: str, at: int) -> int:
        """Where the secret ends that begins there, or as much of it as was not cut off; `at` where none begins."""
        forms = self._known.get(text[at : at + SHORTEST])
        if forms is None:
            return at
        rest = text[at : at + self._longest]
        place = bisect(forms, rest)  # those that share most with it stand on both sides
        shared = max(_shared(form, rest) for form in forms[max(place - 1, 0) : place + 1])
        if shared >= CUT or shared == len(rest):
            return at + shared
        lengths = range(shared, SHORTEST - 1, -1)
        return at + next((length for length in lengths if rest[:length] in self._forms), 0)

    def redact_value(self, value: Any) -> Any:
        """A JSON value without secrets, in keys as well."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, dict):
            return {self.redact_value(key): self.redact_value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.redact_value(item) for item in value]
        return value


def _shared(one: str, other: str) -> int:
    """How many characters they have in common at their beginning."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _all_forms(value: str) -> set[str]:
    return {form for part in _parts(value) for form in _forms(part)}


def _parts(value: str) -> Iterator[str]:
    """A value as tasks may show it: whole, without blanks around it, line by line, and a token without its scheme."""
    whole, lines = value.strip(), [line.strip() for line in value.splitlines()]
    token = whole.removeprefix("Bearer ").removeprefix("Basic ")
    for part in {value, whole, token, *(line for line in lines if len(line) >= LINE)}:
        if len(part) >= SHORTEST:
            yield part


def _forms(value: str) -> set[str]:
    raw = value.encode("utf-8", "surrogatepass")
    in_urls = {quote(raw, safe=safe) for safe in UNQUOTED}
    in_urls |= {quote_plus(raw), quote_plus(raw, safe="*")}
    in_urls |= {form.replace("~", "%7E") for form in in_urls}
    in_json = {json.dumps(value, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    in_json |= {made for form in in_json for made in (form.replace("/", "\\/"), form.translate(_IN_GO))}
    in_json |= {_UNICODE.sub(lambda found: found[0][:2] + found[0][2:].upper(), form) for form in in_json}
    in_json.add("".join(map(_in_dotnet, value)))
    in_json |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in in_json}  # JSON inside JSON
    in_texts = {
        html.escape(value),
        html.escape(value, quote=False),
        *(value.translate(marks) for marks in _IN_HTML),
        ascii(value)[1:-1],
        repr(raw)[2:-1],
    }
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
_UNICODE = re.compile(r"\\u[0-9a-f]{4}")
_MARKS = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_IN_HTML = tuple(
    str.maketrans({**_MARKS, '"': double, "'": single})
    for double, single in (("&#34;", "&#39;"), ("&quot;", "&#039;"), ("&quot;", "&#39;"))
)
"""What Go and Jinja write, PHP, and others; `html.escape` writes `&#x27;`."""
_IN_DOTNET = frozenset("\"&'+<>`")


def _in_dotnet(character: str) -> str:
    """A character as .NET writes it into JSON."""
    if character.isascii() and character.isprintable() and character not in _IN_DOTNET:
        return "\\\\" if character == "\\" else character
    units = character.encode("utf-16-be", "surrogatepass").hex().upper()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
