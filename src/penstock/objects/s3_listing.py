"""A page of a listing of S3, out of its XML: only what is wanted of each object, without a tree of all of it."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import unquote_plus
from xml.parsers.expat import ExpatError, ParserCreate

from msgspec import Struct

from penstock.objects.protocol import Listed

_OF_OBJECTS = frozenset({"Key", "LastModified", "ETag", "Size", "StorageClass"})
_OF_PAGES = frozenset({"IsTruncated", "NextContinuationToken", "EncodingType"})


class Page(Struct, frozen=True):
    """Some of the objects, and what asks for those that follow; None: there are no more."""

    objects: list[Listed]
    token: str | None


def read_page(body: bytes) -> Page | None:
    """What a listing says; None where it is none that can be read here."""
    try:
        return _Reading().page(body)
    except (ExpatError, ValueError, KeyError):
        return None


def is_drawn_folder(key: str, size: int) -> bool:
    """Whether it is a folder that somebody drew: an object only for those who look at it by folders."""
    return size == 0 and key.endswith("/")


class _Reading:
    """The texts of the elements that are wanted, gathered as they come."""

    def __init__(self) -> None:
        self._rows: list[dict[str, str]] = []
        self._top: dict[str, str] = {}
        self._into: dict[str, str] = self._top
        self._text: list[str] = []
        self._depth = 0

    def page(self, body: bytes) -> Page:
        parser = ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.StartDoctypeDeclHandler = _no_doctype  # no store has one: it is there to harm
        parser.Parse(body, True)
        top = self._top
        if "IsTruncated" not in top:
            raise ValueError("it is no listing")
        decode = unquote_plus if top.get("EncodingType") == "url" else str
        found = [_listed(row, decode(row["Key"])) for row in self._rows]
        kept = [each for each in found if not is_drawn_folder(each.key, each.size)]
        return Page(kept, top["NextContinuationToken"] if top["IsTruncated"] == "true" else None)

    def _begin(self, name: str, _: dict[str, str]) -> None:
        self._depth += 1
        self._text.clear()
        if self._depth == 2 and name == "Contents":
            self._into = {}
            self._rows.append(self._into)

    def _end(self, name: str) -> None:
        if self._depth == 3 and name in _OF_OBJECTS and self._into is not self._top:
            self._into[name] = "".join(self._text)
        elif self._depth == 2:
            if name in _OF_PAGES:
                self._top[name] = "".join(self._text)
            self._into = self._top
        self._depth -= 1


def _listed(row: dict[str, str], key: str) -> Listed:
    modified = datetime.fromisoformat(row["LastModified"])
    if modified.tzinfo is None:
        raise ValueError("a time without a zone")
    return Listed(
        key, int(row["Size"]), row.get("ETag", "").strip('"'), modified, row.get("StorageClass") or None
    )


def _no_doctype(*_: object) -> None:
    raise ValueError("a document type")
