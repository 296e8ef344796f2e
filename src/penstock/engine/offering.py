"""What tasks offer, remembered by the installation: also those of workers that are elsewhere, or away just now."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import msgspec

from penstock.flow.task import Offer
from penstock.store.people import Notes

PREFIX = "offer/"
log = logging.getLogger("penstock.offers")


async def keep_offers(notes: Notes, offers: Iterable[Offer]) -> None:
    """Remember what is new or has changed."""
    known = await notes.notes(PREFIX)
    for offer in offers:
        if known.get(PREFIX + offer.name) != (text := offer_text(offer)):
            await notes.put_note(PREFIX + offer.name, text)


async def kept_offers(notes: Notes) -> dict[str, Offer]:
    """All that were ever offered, by task."""
    found: dict[str, Offer] = {}
    for name, text in (await notes.notes(PREFIX)).items():
        try:
            found[name.removeprefix(PREFIX)] = _decode(text)
        except msgspec.MsgspecError as error:
            log.warning("what task '%s' offers cannot be read: %s", name, error)
    return found


def offer_text(offer: Offer) -> str:
    return msgspec.json.encode(offer).decode()


_decode = msgspec.json.Decoder(Offer).decode
