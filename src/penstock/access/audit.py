"""The record of what people did: hashes of what was changed, and whether the chain is whole."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Protocol

import msgspec

from penstock.store.rows.access import Audited, AuditHead, AuditPage
from penstock.store.rows.audit_chain import START, hash_of

PAGE = 1000


def digest_of(value: Any) -> bytes:
    """The hash of something that is changed, whatever the order of its keys: the record tells that, not what."""
    return sha256(msgspec.json.encode(value, order="deterministic")).digest()


class Chain:
    """Entries are looked at one by one, in order; the first that does not fit is told."""

    def __init__(self) -> None:
        self.last = START

    def problem(self, entry: Audited) -> str | None:
        """What is wrong with the next entry."""
        wanted = self.last.number + 1
        if entry.number != wanted:
            return f"audit: entry {wanted} is missing"
        if entry.hash != hash_of(self.last.hash, entry.number, entry.at, entry.row):
            return f"audit: entry {entry.number} was changed"
        self.last = AuditHead(entry.number, entry.hash)
        return None

    def problem_at_end(self, head: AuditHead) -> str | None:
        """What is wrong after the last entry: the store remembers apart where the record ends."""
        if head.number > self.last.number:
            return f"audit: entry {self.last.number + 1} is missing, the record should end with {head.number}"
        if head != self.last:
            return f"audit: entry {self.last.number} is not the one that the record ended with"
        return None


def verify_chain(entries: Iterable[Audited], head: AuditHead) -> str | None:
    """None: the record is whole, from its first entry to `head`; otherwise the first thing that is wrong."""
    chain = Chain()
    problems = (chain.problem(entry) for entry in entries)
    return next((problem for problem in problems if problem), None) or chain.problem_at_end(head)


class Record(Protocol):
    """Where the entries are."""

    async def audits(self, limit: int, *, after: int | None = None) -> AuditPage: ...


async def verify_audit(record: Record) -> str | None:
    """As `verify_chain`, for all that a store has, page by page. What comes meanwhile is not looked at."""
    page, chain = await record.audits(PAGE, after=0), Chain()
    head = page.head
    while page.entries and (left := head.number - chain.last.number) > 0:
        for entry in page.entries[:left]:
            problem = chain.problem(entry)
            if problem is not None:
                return problem
        page = await record.audits(PAGE, after=chain.last.number)
    return chain.problem_at_end(head)
