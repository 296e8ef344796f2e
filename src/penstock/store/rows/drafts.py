"""Drafts as rows: what an author works on, and whether it is still the version that a reader saw."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from hashlib import blake2b

from msgspec import Struct


class NewDraft(Struct, frozen=True, kw_only=True):
    """A definition to be saved as the draft of a workflow; `title` is what lists show."""

    definition: str
    title: str | None
    author: str


class NewVersion(Struct, frozen=True, kw_only=True):
    """A definition to be published. `start` is about a workflow that is new, `restart` about one that is there.

    Without `again` the newest version will do, where it has the same text and the same offers. With `draft` it is the
    text of a draft, which is then none any more.
    """

    workflow: str
    definition: str
    offers: bytes
    note: str | None
    start: bool
    restart: bool = False
    again: bool = False
    draft: bool = False


class DraftRow(Struct, frozen=True, kw_only=True):
    """The draft of a workflow, as its author wrote it."""

    workflow: str
    definition: str
    title: str | None
    author: str
    at: datetime


class DraftLine(Struct, frozen=True, kw_only=True):
    """A draft in a list. `changed`: it is another text than the newest version, or there is none."""

    workflow: str
    title: str | None
    author: str
    at: datetime
    changed: bool


class VersionLine(Struct, frozen=True, kw_only=True):
    """A version in a list."""

    version: int
    note: str | None
    at: datetime


def etag_of(text: str | None) -> str:
    """A short name for a text, another for every other; that of nothing is empty."""
    return "" if text is None else blake2b(text.encode(), digest_size=12).hexdigest()


def is_expected(expect: Collection[str] | None, text: str | None) -> bool:
    """Whether a text is one of those that its changer has seen; None: whatever it is."""
    return expect is None or etag_of(text) in expect
