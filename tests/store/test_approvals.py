"""What people are asked: written with the change that asks, ended once, and gone with its run."""

from __future__ import annotations

from datetime import timedelta

from penstock.store.protocol import Store
from penstock.store.rows.change import Asked, Decided
from penstock.store.rows.rows import ApprovalRow
from tests.store.builders import NOON, A, B, change, end, given, seconds, start
from tests.store.conftest import Clock


def ask(id: str, **more: object) -> Asked:
    return Asked(id=id, workflow="w", step="ask", role="operator", body=b"{}", **more)  # type: ignore[arg-type]


def row(id: str, run: str = A, **more: object) -> ApprovalRow:
    plain: dict[str, object] = {
        "status": "open",
        "opened_at": NOON,
        "due_at": None,
        "ended_at": None,
        "decided_by": None,
        "decision": None,
    }
    return ApprovalRow(id, run, "w", "ask", "operator", b"{}", **{**plain, **more})  # type: ignore[arg-type]


async def test_what_is_asked_is_there_with_the_change_that_asks(store: Store) -> None:
    await given(store, start(A, asked=(ask("a-1", due_at=NOON + seconds(60)),)))

    assert await store.approvals(["a-1"]) == [row("a-1", due_at=NOON + seconds(60))]
    assert await store.approvals(["a-2"]) == []


async def test_a_change_that_is_stale_asks_nobody(store: Store) -> None:
    await given(store, start(A))

    await store.commit([change(A, 7, asked=(ask("a-1"),))])

    assert await store.approvals(["a-1"]) == []


async def test_the_first_decision_stays(store: Store, clock: Clock) -> None:
    await given(store, start(A, asked=(ask("a-1"),)))
    now = await clock.forward(5)

    await given(store, change(A, 1, decided=(Decided(id="a-1", status="approved", by="ann", decision=b"1"),)))
    await given(store, change(A, 2, decided=(Decided(id="a-1", status="closed"),)))

    expected = row("a-1", status="approved", ended_at=now, decided_by="ann", decision=b"1")
    assert await store.approvals(["a-1"]) == [expected]


async def test_lists_are_newest_first_and_go_on_behind_a_place(store: Store, clock: Clock) -> None:
    await given(store, start(A, asked=(ask("a-1"), ask("a-2"))))
    later = await clock.forward(1)
    await given(store, start(B, asked=(ask("b-1"),)))
    await given(store, change(A, 1, decided=(Decided(id="a-1", status="rejected", by="bob"),)))

    every = [each.id for each in await store.approvals(limit=10)]
    first = [each.id for each in await store.approvals(limit=2)]
    rest = [each.id for each in await store.approvals(before=(NOON, "a-2"), limit=10)]
    still = [each.id for each in await store.approvals(status="open", limit=10)]

    assert every == ["b-1", "a-2", "a-1"]
    assert (first, rest) == (["b-1", "a-2"], ["a-1"])
    assert still == ["b-1", "a-2"]
    assert [each.id for each in await store.approvals(status="open", before=(later, "b-1"), limit=10)] == [
        "a-2"
    ]
    assert [each.id for each in await store.approvals(run=A)] == ["a-1", "a-2"]


async def test_st11_approvals_go_with_their_run(store: Store, clock: Clock) -> None:
    await given(store, start(A, asked=(ask("a-1"),)), start(B, asked=(ask("b-1"),)))
    await given(store, end(A, 1, decided=(Decided(id="a-1", status="closed"),)))
    await clock.forward(100)

    gone = await store.retain({"succeeded": timedelta(seconds=50)}, 10, False)

    assert gone.rows["approval"] == 1
    assert [each.id for each in await store.approvals(limit=10)] == ["b-1"]
