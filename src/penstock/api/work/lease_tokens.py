"""Leases as texts: sealed, so that nobody can forge one and any node accepts them."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from hmac import compare_digest

import msgspec
from msgspec import Struct

from penstock.runtime.dispatch.gate import Assignment
from penstock.store.rows.change import WHOLE
from penstock.store.rows.rows import Lease

_SEAL_BYTES = 12
"""Bytes of the seal."""


class Held(Struct, frozen=True, array_like=True):
    """One worker's right to do one attempt, and what a report of it must be held against."""

    run: str
    firing: int
    index: int
    attempt: int
    fence: int
    worker: str
    task_list: str
    step: str
    ports: tuple[str, ...] = ()  # that the task may end on; none: a lease of an earlier version
    workflow: str = ""  # of the run; empty: a lease of an earlier version
    version: int = 0

    @property
    def id(self) -> str:
        """As `Attempt.id`: the same over all attempts."""
        tail = "" if self.index == WHOLE else f".{self.index}"
        return f"{self.run}.{self.firing}{tail}"

    @property
    def lease(self) -> Lease:
        return Lease(self.run, self.firing, self.index, self.attempt, self.fence)


def held_by(worker: str, given: Assignment) -> Held:
    """What a worker holds with an assignment."""
    lease, attempt = given.lease, given.attempt
    return Held(
        run=lease.run,
        firing=lease.firing,
        index=lease.index,
        attempt=lease.attempt,
        fence=lease.fence,
        worker=worker,
        task_list=attempt.task_list,
        step=attempt.step,
        ports=attempt.ports,
        workflow=attempt.run.workflow,
        version=attempt.run.version,
    )


class LeaseTokens:
    """Writes leases and reads those that it, or one with the same key, wrote."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def write(self, held: Held) -> str:
        body = _encode(held)
        return urlsafe_b64encode(self._mark(body) + body).rstrip(b"=").decode()

    def read(self, text: str) -> Held | None:
        """What a lease says; None: it was not written here, or was changed."""
        try:
            raw = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
            mark, body = raw[:_SEAL_BYTES], raw[_SEAL_BYTES:]
            return _decode(body) if compare_digest(mark, self._mark(body)) else None
        except (ValueError, msgspec.MsgspecError):
            return None

    def _mark(self, body: bytes) -> bytes:
        return blake2b(body, digest_size=_SEAL_BYTES, key=self._key).digest()


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Held).decode
