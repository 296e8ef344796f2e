"""Studies and release notes: what releases are made of, and what is written about them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urljoin

import msgspec
from msgspec import Struct

from penstock import CallFailed, Engine
from penstock_release.documents import TRIES, Document, Documents
from penstock_release.errors import Refused, busy, invalid
from penstock_release.fields import Field, read_fields
from penstock_release.ids import NOTE, id_in, is_id, new_id
from penstock_release.ids import STUDY as STUDY_ID
from penstock_release.options import Options
from penstock_release.releases import now_text

STUDY = (Field("kf_id", required=True, max_length=11), Field("name", required=True, max_length=500))
NOTE_FIELDS = (
    Field("author", max_length=100),
    Field("description", required=True),
    Field("study", required=True, max_length=11),
    Field("release", required=True, max_length=11),
)
MAX_STUDIES = 100
"""Studies that the data service is asked for at a time."""
PAGES = 100
STUDIES = 500
"""Studies of one release: what its end changes, theirs included, must fit into one change of up to 1000 documents."""


PIECE = 500
"""Studies that are written at a time."""


class _Page(Struct, frozen=True):
    """What the data service gave at once, how many there are, and where it goes on: "" unknown, None nowhere."""

    items: list[dict[str, Any]]
    total: int | None = None
    next: str | None = ""


class Library:
    """Documents that are kept as they are given."""

    def __init__(self, engine: Engine, documents: Documents, options: Options) -> None:
        self._engine, self._documents, self._options = engine, documents, options

    # -- studies ---------------------------------------------------------------------------------------------

    async def add_study(self, body: Any) -> dict[str, Any]:
        """A study by hand. Raises Refused."""
        fields = read_fields(body, STUDY)
        if not _is_study(fields["kf_id"]):
            raise invalid("kf_id", "Enter a valid id, such as SD_ABCDEFGH.")
        made = {**_study(fields), "by_hand": True}
        if not await self._documents.change(insert=[(f"studies/{made['kf_id']}", made)]):
            raise invalid("kf_id", "study with this kf id already exists.")
        return made

    async def reject_unknown(self, studies: list[str]) -> None:
        """Raises FieldErrors where there is no study at all, or one that nobody knows."""
        if not studies:
            raise invalid("studies", "Must have at least one study")
        if len(studies) > STUDIES:
            raise invalid("studies", f"A release may have {STUDIES} studies at most, not {len(studies)}.")
        known = {
            kept.data["kf_id"] for kept in await self._documents.all("studies/") if not kept.data["deleted"]
        }
        for id in studies:
            if id not in known:
                raise invalid("studies", f'Invalid pk "{id}" - object does not exist.')

    async def sync(self) -> dict[str, Any]:
        """Take the studies of the data service; those that it has no more are marked. Raises Refused."""
        url = self._options.dataservice_url
        if url is None:
            raise Refused(409, {"detail": "No data service is set: set release_dataservice_url."})
        there = {each["kf_id"]: each for each in await self._fetch(url)}
        here = {kept.data["kf_id"]: kept for kept in await self._documents.all("studies/")}
        new = [_study(each) for id, each in there.items() if id not in here]
        gone = [
            kept
            for id, kept in here.items()
            if id not in there and not kept.data["deleted"] and not kept.data.get("by_hand")
        ]
        still = {"deleted": False, "by_hand": False}
        again = [
            (kept, {**kept.data, **still, "name": _text(there[id].get("name"), kept.data["name"])})
            for id, kept in here.items()
            if id in there
        ]
        updates = [(kept, {**kept.data, "deleted": True}) for kept in gone]
        updates += [(kept, data) for kept, data in again if data != kept.data]
        await self._write(new, updates)
        message = f"Synchronized {len(new)} new studies, {len(gone)} deleted"
        return {"status": "ok", "new": len(new), "deleted": len(gone), "message": message}

    async def _write(
        self, new: Sequence[dict[str, Any]], updates: Sequence[tuple[Document, dict[str, Any]]]
    ) -> None:
        """Write so many at a time as a change may have; done again, it goes on. Raises Refused."""
        for n in range(0, len(new), PIECE):
            if not await self._documents.change(
                insert=[(f"studies/{each['kf_id']}", each) for each in new[n : n + PIECE]]
            ):
                raise busy()
        for n in range(0, len(updates), PIECE):
            if not await self._documents.change(update=updates[n : n + PIECE]):
                raise busy()

    async def _fetch(self, url: str) -> list[dict[str, Any]]:
        """All studies that are there, page by page. Raises Refused where not all can be read, or there are none."""
        base = f"{url.rstrip('/')}/studies?limit={MAX_STUDIES}"
        found: dict[str, dict[str, Any]] = {}
        read, address, before = 0, f"{base}&offset=0", _Page([])
        for _ in range(PAGES):
            page = await self._page(address)
            new = page.items if page.items != before.items else []
            read += len(new)
            found |= {each["kf_id"]: each for each in new if _is_study(each.get("kf_id"))}
            total = page.total if page.total is not None else math.inf
            if not new or page.next is None or read >= total:
                if read < (page.total or 0) or (page.items and not new and len(page.items) >= MAX_STUDIES):
                    break
                if not found:
                    raise Refused(502, {"detail": "The data service has no studies: nothing was changed."})
                return list(found.values())
            address = urljoin(address, page.next) if page.next else f"{base}&offset={read}"
            before = page
        detail = f"The data service has more studies than the {read} that it gave: nothing was changed."
        raise Refused(502, {"detail": detail})

    async def _page(self, address: str) -> _Page:
        try:
            answer = await self._engine.fetch(address, timeout=self._options.request_timeout)
            said = msgspec.json.decode(answer.body) if answer.status == 200 else None
        except (CallFailed, msgspec.DecodeError) as error:
            raise Refused(502, {"detail": f"The data service cannot be asked: {error}"}) from None
        said = said if isinstance(said, dict) else {}
        found = said.get("results")
        if not isinstance(found, list):
            raise Refused(502, {"detail": "The data service did not answer with studies."})
        links = said.get("_links")
        total, following = said.get("total", said.get("count")), said.get("next", "")
        if isinstance(links, dict) and "next" not in said:
            following = links.get("next") or ""
        return _Page(
            [each if isinstance(each, dict) else {} for each in found],
            total if type(total) is int else None,
            following if following is None or isinstance(following, str) else "",
        )

    # -- notes -----------------------------------------------------------------------------------------------

    async def add_note(self, body: Any) -> dict[str, Any]:
        """A note on a study in a release. Raises Refused."""
        fields = await self._note_fields(body, False)
        made = {"kf_id": new_id(NOTE), "author": "admin", **fields, "created_at": now_text()}
        return await self._documents.add(f"notes/{made['kf_id']}", made)

    async def change_note(self, id: str, body: Any, partial: bool) -> dict[str, Any]:
        """Raises Refused."""
        return await self._documents.edit(f"notes/{id}", await self._note_fields(body, partial))

    async def remove_note(self, id: str) -> None:
        """Raises Refused."""
        for _ in range(TRIES):
            if await self._documents.change(delete=[await self._documents.require(f"notes/{id}")]):
                return
        raise busy()

    async def _note_fields(self, body: Any, partial: bool) -> dict[str, Any]:
        fields = read_fields(body, NOTE_FIELDS, partial)
        for name, kind in (("study", "studies"), ("release", "releases")):
            if name in fields:
                id = fields[name] = id_in(fields[name])
                if not is_id(id) or await self._documents.get(f"{kind}/{id}") is None:
                    raise invalid(name, f'Invalid pk "{id}" - object does not exist.')
        return fields


def _is_study(id: object) -> bool:
    return is_id(id) and str(id).startswith(f"{STUDY_ID}_")


def _text(value: object, default: str) -> str:
    return value if isinstance(value, str) and value else default


def _study(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kf_id": fields["kf_id"],
        "name": _text(fields.get("name"), fields["kf_id"]),
        "visible": bool(fields.get("visible", True)),
        "deleted": False,
        "by_hand": False,
        "version": None,
        "last_pub_version": None,
        "last_pub_date": None,
        "created_at": _text(fields.get("created_at"), now_text()),
    }
