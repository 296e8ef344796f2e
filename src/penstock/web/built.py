"""Finds the built pages: one document, and files whose names contain a hash of their content."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

DIST = Path(__file__).parent / "dist"
NONCE = "PENSTOCK-NONCE"
"""Stands in the document where each answer puts a word of its own."""
KINDS = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".woff2": "font/woff2",
}


class BuiltFile(Struct, frozen=True):
    """A file of the pages, as it is and packed for the way."""

    content: bytes
    packed: bytes
    kind: str


def document(dist: Path = DIST) -> str | None:
    """The page that all pages are; None where none were built."""
    path = dist / "index.html"
    return path.read_text("utf-8") if path.is_file() else None


@lru_cache(256)
def asset(name: str, dist: Path = DIST) -> BuiltFile | None:
    """A file that the document names, by its last name alone; None where there is none."""
    return _file(dist / "assets", name)


def icon(dist: Path = DIST) -> BuiltFile | None:
    """The picture that a browser shows beside the title; None where none was built."""
    return _file(dist, "favicon.svg")


def _file(folder: Path, name: str) -> BuiltFile | None:
    path = folder / name
    kind = KINDS.get(path.suffix)
    if kind is None or "/" in name or "\\" in name or not path.is_file():
        return None
    content = path.read_bytes()
    return BuiltFile(content, gzip.compress(content, mtime=0), kind)
