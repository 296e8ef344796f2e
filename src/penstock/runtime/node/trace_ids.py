"""Ids of traces and spans (W3C), derived from their subject: every process computes the same and stores none."""

from __future__ import annotations

import re
from hashlib import blake2b

from msgspec import Struct

from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import Header

LABEL = "traceparent"
"""The label of a run that says which trace it belongs to, as the caller said."""

_PARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")


class Origin(Struct, frozen=True):
    """The trace of a run. `parent`: the caller's span, 0 where there is none."""

    trace: int
    parent: int = 0
    sampled: bool = True


def read_parent(text: str | None) -> Origin | None:
    """What a `traceparent` says; None where it says nothing that can be used."""
    found = _PARENT.fullmatch(text or "")
    return (
        None if found is None else Origin(int(found[1], 16), int(found[2], 16), bool(int(found[3], 16) & 1))
    )


def origin_of(run: Header) -> Origin:
    """The caller's trace, or one of the run's own."""
    return read_parent(run.labels.get(LABEL)) or Origin(_number(run.id, 16))


def span_id(run: str, firing: int | None = None, index: int | None = None, attempt: int | None = None) -> int:
    """The span of a run, of one of its firings, or of an attempt at it."""
    return _number(f"{run}/{firing}/{index}/{attempt}", 8)


def traceparent(attempt: Attempt) -> str:
    """What a task hands on, so that what it calls shows below its attempt."""
    origin = origin_of(attempt.run)
    span = span_id(attempt.run.id, attempt.firing, attempt.index, attempt.attempt)
    return f"00-{origin.trace:032x}-{span:016x}-{int(origin.sampled):02x}"


def _number(text: str, size: int) -> int:
    """Never 0, which means none."""
    return int.from_bytes(blake2b(text.encode(), digest_size=size).digest(), "big") or 1
