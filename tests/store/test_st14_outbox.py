"""ST14: what a change publishes is there if and only if it was applied, and of one run in the order of its changes."""

from __future__ import annotations

from penstock.store.protocol import Store
from penstock.store.rows.outbox import OutboxMessage, OutboxRow
from tests.store.builders import NOON, A, B, change, new_run


def letter(body: str, topic: str = "t", bus: str = "main") -> OutboxMessage:
    return OutboxMessage(bus, topic, body.encode())


async def bodies(store: Store, bus: str = "main", limit: int = 100) -> list[str]:
    return [each.body.decode() for each in await store.outbox_messages(bus, limit)]


async def test_st14_what_is_published_is_there_with_the_change(store: Store) -> None:
    await store.commit([change(A, 0, new=new_run(), outbox_messages=(letter("one"), letter("two")))])

    found = await store.outbox_messages("main", 100)

    assert [(each.run, each.topic, each.body) for each in found] == [(A, "t", b"one"), (A, "t", b"two")]


async def test_st14_what_is_not_applied_publishes_nothing(store: Store) -> None:
    await store.commit([change(A, 0, new=new_run())])

    done = await store.commit(
        [
            change(A, 5, outbox_messages=(letter("stale"),)),
            change(B, 0, new=new_run(), outbox_messages=(letter("made"),)),
        ]
    )

    assert done.outcomes == ["stale", "applied"]
    assert await bodies(store) == ["made"]


async def test_st14_letters_of_a_run_keep_the_order_of_its_changes(store: Store) -> None:
    await store.commit([change(A, 0, new=new_run(), outbox_messages=(letter("1"),))])
    for base in range(1, 6):
        await store.commit([change(A, base, outbox_messages=(letter(str(base + 1)),))])

    assert await bodies(store) == ["1", "2", "3", "4", "5", "6"]


async def test_st14_each_topic_gives_its_oldest_letters(store: Store) -> None:
    many = tuple(letter(f"{topic}{n}", topic) for n in range(5) for topic in ("a", "b"))
    await store.commit([change(A, 0, new=new_run(), outbox_messages=many)])

    assert await bodies(store, limit=2) == ["a0", "a1", "b0", "b1"]


async def test_st14_a_bus_gives_only_its_own(store: Store) -> None:
    await store.commit(
        [
            change(
                A,
                0,
                new=new_run(),
                outbox_messages=(letter("x"), letter("y", bus="other"), letter("z", topic="u")),
            )
        ]
    )

    assert await bodies(store, "other") == ["y"]
    assert await store.outbox() == [
        OutboxRow("main", "t", 1, NOON),
        OutboxRow("main", "u", 1, NOON),
        OutboxRow("other", "t", 1, NOON),
    ]


async def test_st14_what_was_sent_is_gone(store: Store) -> None:
    await store.commit([change(A, 0, new=new_run(), outbox_messages=(letter("one"), letter("two")))])
    first, _ = await store.outbox_messages("main", 100)

    await store.sent([first.id])
    await store.sent([first.id])

    assert await bodies(store) == ["two"]


async def test_st14_a_letter_outlives_its_run(store: Store) -> None:
    ended = change(
        A, 0, new=new_run(), status="succeeded", ended_at=NOON, over=True, outbox_messages=(letter("last"),)
    )
    await store.commit([ended])

    gone = await store.retain({"succeeded": NOON - NOON}, 100, False)

    assert gone.rows["run"] == 1
    assert await bodies(store) == ["last"]
    assert await store.check() == []
