"""Small texts by name."""

from __future__ import annotations

from penstock.store.protocol import Store


async def test_a_note_is_kept_replaced_and_dropped(store: Store) -> None:
    put = [
        await store.put_note(*each)
        for each in (("view/b", "1"), ("view/a", "2"), ("view/b", "3"), ("other", "4"))
    ]
    dropped = [await store.put_note(name, None) for name in ("other", "nothing")]

    assert (put, dropped) == ([False, False, True, False], [True, False])
    assert await store.notes("view/") == {"view/a": "2", "view/b": "3"}
    assert await store.notes("") == {"view/a": "2", "view/b": "3"}


async def test_the_settings_of_the_store_are_no_notes(store: Store) -> None:
    await store.set_paused(None, True, b"", None)

    assert await store.notes("") == {}
    assert await store.put_note("paused", "no") is False
    assert [each.halted for each in await store.workflows()] == []


async def test_a_text_that_is_kept_stays_that_of_whoever_came_first(store: Store) -> None:
    kept = [await store.keep_note("key", text) for text in ("one", "two")]

    assert (kept, await store.notes("key")) == (["one", "one"], {"key": "one"})
