"""Small texts by name."""

from __future__ import annotations

from penstock.store.protocol import Store


async def test_a_note_is_kept_replaced_and_dropped(store: Store) -> None:
    put = [
        await store.put_note(*each)
        for each in (("view/b", "1"), ("view/a", "2"), ("view/b", "3"), ("other", "4"))
    ]
    dropped = [await store.put_note(name, None) for name in ("other", "nothing")]

    assert (put, dropped) == ([None, None, "1", None], ["4", None])
    assert await store.notes("view/") == {"view/a": "2", "view/b": "3"}
    assert await store.notes("") == {"view/a": "2", "view/b": "3"}


async def test_the_settings_of_the_store_are_no_notes(store: Store) -> None:
    await store.set_paused(None, True, b"", None)

    assert await store.notes("") == {}
    assert await store.put_note("paused", "no") is None
    assert [each.halted for each in await store.workflows()] == []


async def test_a_text_that_is_kept_stays_that_of_whoever_came_first(store: Store) -> None:
    found = [await store.put_note("key", text, replace=False) for text in ("one", "two")]

    assert (found, await store.notes("key")) == ([None, "one"], {"key": "one"})
