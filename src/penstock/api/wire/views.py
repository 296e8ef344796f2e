"""Saved lists of runs on the wire."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Name = Annotated[str, Meta(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]+$")]

Parameter = Annotated[str, Meta(max_length=80)]
Value = Annotated[str, Meta(max_length=1000)]


class SaveView(Struct, forbid_unknown_fields=True):
    """A filter of the list of runs, as the parameters of its address."""

    filter: Annotated[dict[Parameter, Value], Meta(max_length=30)]
    title: Annotated[str, Meta(max_length=200)] | None = None


class View(Struct):
    name: str
    title: str | None
    filter: dict[str, str]
