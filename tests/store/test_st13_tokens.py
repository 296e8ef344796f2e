"""ST13: tokens are changed all at once, and only where each has the version that was expected."""

from __future__ import annotations

import asyncio
from typing import Any

from penstock.store.protocol import Store
from penstock.store.rows.rows import TokenChange, TokenRow
from tests.store.builders import NOON, seconds
from tests.store.conftest import Clock


async def put(store: Store, *names: str, **more: Any) -> dict[str, TokenRow]:
    done = await store.change_tokens([TokenChange(name=name, **more) for name in names])
    assert isinstance(done, list)
    return {token.name: token for token in done}


async def names(store: Store, prefix: str = "", after: str = "", limit: int = 100) -> list[str]:
    return [token.name for token in await store.tokens(prefix, after, limit)]


async def test_st13_a_token_is_written_and_read_as_it_was(store: Store) -> None:
    made = await put(store, "/custom/a", owner="amy", expires=NOON, priority=2.5, data=b'{"x": 1}')

    [token] = await store.tokens("/custom/", "", 10)

    assert made == {"/custom/a": token}
    assert (token.name, token.owner, token.expires, token.priority, token.data) == (
        "/custom/a",
        "amy",
        NOON,
        2.5,
        b'{"x": 1}',
    )


async def test_st13_tokens_are_listed_by_prefix_in_pages(store: Store) -> None:
    await put(store, "/custom/a/2", "/custom/a/1", "/custom/b", "/custom/a", "/custom/a%")

    assert await names(store, "/custom/a/") == ["/custom/a/1", "/custom/a/2"]
    assert await names(store, "/custom/a", limit=2) == ["/custom/a", "/custom/a%"]
    assert await names(store, "/custom/a", after="/custom/a%") == ["/custom/a/1", "/custom/a/2"]


async def test_st13_nothing_is_changed_where_one_version_is_another(store: Store) -> None:
    made = await put(store, "/custom/a", "/custom/b")
    a, b = made["/custom/a"], made["/custom/b"]
    wrong = [
        TokenChange(name="/custom/c"),
        TokenChange(name="/custom/a", expect=a.version, gone=True),
        TokenChange(name="/custom/b", expect=b.version + 999, data=b"1"),
    ]

    assert await store.change_tokens(wrong) == "/custom/b"
    assert await store.change_tokens([TokenChange(name="/custom/a")]) == "/custom/a"
    assert await store.change_tokens([TokenChange(name="/custom/x", expect=1, gone=True)]) == "/custom/x"
    assert await store.tokens("/custom/", "", 10) == [a, b]


async def test_st13_a_version_is_never_used_again(store: Store) -> None:
    first = (await put(store, "/custom/a"))["/custom/a"]
    await store.change_tokens([TokenChange(name="/custom/a", expect=first.version, gone=True)])
    second = (await put(store, "/custom/a"))["/custom/a"]

    assert second.version > first.version


async def test_st13_of_two_that_change_a_token_at_once_one_does(store: Store, other: Store) -> None:
    made = (await put(store, "/custom/a"))["/custom/a"]
    change = TokenChange(name="/custom/a", expect=made.version, data=b"1")

    done = await asyncio.gather(*(one.change_tokens([change]) for one in (store, other) * 3))

    assert sorted(isinstance(one, list) for one in done) == [False] * 5 + [True]
    fresh = [TokenChange(name="/custom/new")]
    made_at_once = await asyncio.gather(*(one.change_tokens(fresh) for one in (store, other) * 3))
    assert sorted(isinstance(one, list) for one in made_at_once) == [False] * 5 + [True]


async def test_st13_a_claim_gives_the_highest_priority_first_and_what_nobody_owns(
    store: Store, clock: Clock
) -> None:
    await put(store, "/custom/q/a", "/custom/q/b", "/custom/r")
    await put(store, "/custom/q/z", priority=9)
    await put(store, "/custom/q/mine", owner="bob", priority=99)
    await put(store, "/custom/q/old", owner="bob", priority=5, expires=NOON)

    first = await store.claim_tokens("amy", "/custom/q/", seconds(60), 3)
    second = await store.claim_tokens("cat", "/custom/q/", seconds(60), 3)

    assert [token.name[-3:] for token in first] == ["q/z", "old", "q/a"]
    assert {(token.owner, token.expires) for token in first} == {("amy", NOON + seconds(60))}
    assert [token.name for token in second] == ["/custom/q/b"]
    await clock.forward(61)
    again = await store.claim_tokens("dan", "/custom/q/", seconds(60), 1)
    assert [(token.name, token.owner) for token in again] == [("/custom/q/z", "dan")]
    assert again[0].version > first[0].version
