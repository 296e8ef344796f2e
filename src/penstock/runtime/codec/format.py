"""The format of encoded state: its versions, its marks, and the fields of a head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, get_args

from msgspec import Struct
from msgspec.msgpack import Encoder, Ext

from penstock.flow.model.plan import EntryKind
from penstock.flow.model.run import Element, Ending, Firing, Pauser, Status, StepState
from penstock.flow.model.tags import Tag
from penstock.kernel.marking import Join, Place, Token

FORMAT, PLAIN = 1, 2
"""The first item of a head: one whose parts share what they can, and one with nothing rare about it."""

MAX_INLINE_BYTES = 2048
"""Largest payload that is stored in place; a larger one is stored once per run, however often it is used."""

SEPARATE_CODE, SAME_CODE = 1, 2
"""Codes of extensions: a payload stored separately; inside a history page, the same payload as the last entry's."""

encode = Encoder().encode
MARK = encode(Ext(SEPARATE_CODE, bytes(16)))[:2]
"""How a reference to a payload that is kept apart begins: bytes without it need not be searched for one."""

INPUT = "i"
"""Stands for the run's input where its data is still that."""

ENTRY_KINDS: tuple[EntryKind, ...] = get_args(EntryKind)
"""Their order is that of the numbers in history pages."""


class Body(Struct, array_like=True):
    """The head of a run without what its parts share, field by field."""

    seq: int
    status: Status
    ending: Ending | None
    paused: Sequence[Pauser]
    started_at: datetime | None
    ended_at: datetime | None
    data: Any
    tags: int | None
    result: Any
    error: Any
    ok: bool
    put_off: Any
    tokens: Any
    owed: Any
    filled: Any
    complete: Any
    firings: Any
    elements: Any
    failed: Any
    halted: Any
    reused: Any
    came: Any
    keys: Any
    disabled: Any
    aside: Any
    epoch: int
    agenda: Sequence[int]
    revision: int
    steps: Any


class PlainHead(Struct, array_like=True, frozen=True):
    """The head of a run with nothing rare about it, field by field."""

    format: int
    seq: int
    status: Status
    paused: tuple[Pauser, ...]
    started_at: datetime | None
    ended_at: datetime | None
    untouched: bool  # the run's data is its input
    data: Any
    tags: Mapping[str, Tag]
    same: bool  # the run's result is its data
    result: Any
    ok: bool
    tokens: tuple[tuple[Place, tuple[Token, ...]], ...]
    filled: tuple[tuple[Join, int], ...]
    firings: tuple[Firing, ...]
    elements: tuple[Element, ...]
    steps: tuple[tuple[str, StepState], ...]
    came: tuple[tuple[str, int], ...]
    epoch: int
    revision: int
