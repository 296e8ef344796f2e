"""A text that PostgreSQL cannot keep is told as such, with the run that has it."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.store.errors import BadText
from penstock.store.postgres.commit.bad_texts import reject_bad_texts
from penstock.store.postgres.store import PostgresStore
from penstock.store.rows.change import EventId, Lock, PendingEvent, Unlock
from tests.store.postgres.making import BEGAN, moved, name, new_run, started, with_store

ONE, TWO = name(1), name(2)


def pending_event(**more: Any) -> PendingEvent:
    plain: dict[str, Any] = {"keys": (), "event": "e", "body": b"", "reason": "", "until": BEGAN}
    return PendingEvent(**(plain | more))


BAD: list[dict[str, Any]] = [
    {"new": new_run(subject="a\0b")},
    {"new": new_run(subject="half \ud83d")},
    {"new": new_run(labels='{"k": "\\u0000"}')},
    {"new": new_run(labels='{"\\u0000": "v"}')},
    {"new": new_run(start_key=("\0", b""))},
    {"keys": (("k", "\0"),)},
    {"keys": (("\0", "v"),)},
    {"seen": (EventId("hook", "\0"),)},
    {"seen": (EventId("\0", "1"),)},
    {"pending_events": (pending_event(keys=(("k", "ü\0"),)),)},
    {"pending_events": (pending_event(event="\0"),)},
    {"pending_events": (pending_event(seen=EventId("hook", "\0")),)},
    {"locks": (Lock("\0", 1, 1, -1, b""),)},
    {"unlocks": (Unlock("\0", 1, -1),)},
]


@pytest.mark.parametrize("piece", BAD)
def test_a_text_that_cannot_be_kept_is_told_with_its_run(piece: dict[str, Any]) -> None:
    with pytest.raises(BadText) as told:
        reject_bad_texts([started(ONE), started(TWO, **piece)])

    assert told.value.runs == [TWO]
    assert f"'{TWO}'" in str(told.value)


def test_texts_that_look_alike_are_kept() -> None:
    odd = new_run(
        subject="\\0 🐙", labels='{"k": "\\\\u0000 \\u0001 \\ud83d\\ude00"}', start_key=("\x01", b"")
    )

    reject_bad_texts([started(ONE, new=odd), started(TWO)])


def test_a_batch_is_committed_once_the_bad_one_is_left_out(url: str) -> None:
    batch = [started(ONE), started(TWO, keys=(("k", "\0"),))]

    async def main(store: PostgresStore) -> list[object]:
        with pytest.raises(BadText) as told:
            await store.commit(batch)
        left = [change for change in batch if change.run not in told.value.runs]
        before = await store.load([ONE, TWO])
        return [before, (await store.commit(left)).outcomes, (await store.commit([moved(ONE, 1)])).outcomes]

    assert with_store(url, main) == [[None, None], ["applied"], ["applied"]]
