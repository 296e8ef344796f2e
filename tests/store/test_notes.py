"""Small things that the installation remembers by name."""

from __future__ import annotations

from penstock.store.protocol import Store


async def test_a_note_is_remembered_until_another_takes_its_place(store: Store) -> None:
    said = [await store.note("colour", "red"), await store.note("colour", "blue")]

    assert (said, await store.notes("colour")) == (["red", "blue"], {"colour": "blue"})


async def test_a_first_note_stays(store: Store) -> None:
    said = [await store.note("key", value, first=True) for value in ("one", "two")]

    assert (said, await store.notes("key")) == (["one", "one"], {"key": "one"})


async def test_notes_are_listed_by_the_beginning_of_their_names(store: Store) -> None:
    for name in ("offer/b", "offer/ä", "offer/a", "offers", "schema"):
        await store.note(name, name)

    assert await store.notes("offer/") == {name: name for name in ("offer/a", "offer/b", "offer/ä")}
    assert await store.notes("paused") == {}
