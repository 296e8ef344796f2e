"""What tasks offer, stored by the installation: including those of remote and disconnected workers."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime

import msgspec

from penstock.flow.model.offer import Offer
from penstock.store.protocol import Notes

PREFIX = "offer/"
log = logging.getLogger("penstock.offers")


class StoredOffers(Offer, frozen=True, kw_only=True):
    """An offer as it is kept. `by`: the token whose workers made it, `lists`: what they serve, `at`: when they did."""

    by: str | None = None
    lists: tuple[str, ...] = ()
    at: datetime | None = None

    @property
    def offer(self) -> Offer:
        """All offers, from any worker."""
        return Offer(**{name: getattr(self, name) for name in Offer.__struct_fields__})


async def keep_offers(notes: Notes, offers: Iterable[Offer]) -> None:
    """Remember what is new or has changed."""
    known = await notes.notes(PREFIX)
    for offer in offers:
        if known.get(PREFIX + offer.name) != (text := offer_text(offer)):
            await notes.put_note(PREFIX + offer.name, text)


async def offers_by_task(notes: Notes) -> dict[str, Offer]:
    """All that are offered, or were and are not forgotten yet, by task."""
    return {name: kept.offer for name, kept in (await stored_offers(notes)).items()}


async def stored_offers(notes: Notes) -> dict[str, StoredOffers]:
    """The same with whose they are."""
    found: dict[str, StoredOffers] = {}
    for name, text in (await notes.notes(PREFIX)).items():
        try:
            found[name.removeprefix(PREFIX)] = _decode(text)
        except msgspec.MsgspecError as error:
            log.warning("what task '%s' offers cannot be read: %s", name, error)
    return found


def offer_text(offer: Offer) -> str:
    return msgspec.json.encode(offer).decode()


_decode = msgspec.json.Decoder(StoredOffers).decode
