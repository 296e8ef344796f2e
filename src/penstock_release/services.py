"""Task services: registered once they answer, looked after by themselves, enabled or not."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from penstock import CallFailed, Engine
from penstock_release.bearer import Bearer
from penstock_release.documents import TRIES, Documents
from penstock_release.errors import Refused, busy, invalid
from penstock_release.fields import Field, read_fields
from penstock_release.ids import SERVICE, new_id
from penstock_release.new_release import tasks_at
from penstock_release.options import Options
from penstock_release.releases import now_text

FIELDS = (
    Field("name", required=True, max_length=100),
    Field("description", required=True),
    Field("author", required=True, max_length=100),
    Field("url", required=True, max_length=200),
    Field("enabled", "switch"),
)
MISSES = 3
"""Health checks that may fail in a row before a service is shown as down."""


class Services:
    """The services that take part in releases."""

    def __init__(self, engine: Engine, documents: Documents, options: Options, bearer: Bearer) -> None:
        self._engine, self._documents, self._options, self._bearer = engine, documents, options, bearer

    async def all(self) -> list[dict[str, Any]]:
        """Newest first."""
        return await self._documents.newest("services/")

    async def chosen(self, ids: Sequence[str] | None) -> list[dict[str, Any]]:
        """Those of the enabled services that are named, newest first; None: all of them. Raises FieldErrors."""
        found = await self.all()
        if ids is None:
            return [each for each in found if each["enabled"]]
        if not ids:
            raise invalid("services", "Must have at least one service")
        known = {each["kf_id"]: each for each in found}
        for id in ids:
            if id not in known:
                raise invalid("services", f'Invalid pk "{id}" - object does not exist.')
            if not known[id]["enabled"]:
                raise invalid("services", f"{known[id]['name']} ({id}) is not enabled: enable it first.")
        return [each for each in found if each["kf_id"] in ids]

    async def register(self, body: Any) -> dict[str, Any]:
        """A new service, which answers at its address. Raises Refused."""
        fields = read_fields(body, FIELDS)
        await self._validate_service(fields["url"])
        made = {
            "kf_id": new_id(SERVICE),
            "name": fields["name"],
            "description": fields["description"],
            "last_ok_status": 0,
            "author": fields["author"],
            "health_status": "ok",
            "url": fields["url"],
            "created_at": now_text(),
            "enabled": fields.get("enabled", True),
        }
        return await self._documents.add(f"services/{made['kf_id']}", made)

    async def change(self, id: str, body: Any, partial: bool = True) -> dict[str, Any]:
        """Change what the fields say; a new address must answer. Raises Refused."""
        fields = read_fields(body, FIELDS, partial)
        kept = await self._documents.require(f"services/{id}")
        if "url" in fields and fields["url"] != kept.data["url"]:
            await self._validate_service(fields["url"])
        return await self._documents.edit(f"services/{id}", fields)

    async def remove(self, id: str) -> None:
        """It takes part in no more releases; those that it takes part in go on. Raises Refused."""
        for _ in range(TRIES):
            kept = await self._documents.require(f"services/{id}")
            last = [(f"removed/{id}", {"url": kept.data["url"]})]
            if await self._documents.change(delete=[kept], insert=last):
                return
        raise busy()

    async def address(self, id: str) -> str | None:
        """Where the tasks of a service are now, or were when it was removed; None: it was never here."""
        kept = await self._documents.get(f"services/{id}") or await self._documents.get(f"removed/{id}")
        return None if kept is None else tasks_at(kept.data["url"])

    # -- health ----------------------------------------------------------------------------------------------

    async def check_health(self) -> int:
        """Ask every service how it is, all at once; how many there are. Raises Refused where none can be asked."""
        found, headers = await self.all(), await self._headers()
        await asyncio.gather(*(self._check(each, headers) for each in found))
        return len(found)

    async def _headers(self) -> dict[str, str]:
        """What a service is shown. Raises Refused: where there is no token, no service is to blame."""
        try:
            return await self._bearer.headers()
        except CallFailed as failed:
            detail = f"No service can be asked, for want of a token to show them: {failed}"
            raise Refused(502, {"detail": detail}) from None

    async def _check(self, service: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        problem = await self._status_problem(service["url"], headers)
        missed = 0 if problem is None else service["last_ok_status"] + 1
        health = "ok" if missed <= MISSES else "down"
        try:
            await self._documents.edit(
                f"services/{service['kf_id']}", {"last_ok_status": missed, "health_status": health}
            )
        except Exception:
            return  # it was removed meanwhile

    async def _validate_service(self, url: str) -> None:
        """Raises FieldErrors where nothing answers there as a task service does, Refused where none can be asked."""
        if not _is_address(url):
            raise invalid("url", "Enter a valid URL.")
        problem = await self._status_problem(url, await self._headers())
        if problem is not None:
            raise invalid("url", problem)

    async def _status_problem(self, url: str, headers: Mapping[str, str]) -> str | None:
        """Why what is there does not look like a task service; None: it does."""
        try:
            answer = await self._engine.fetch(
                f"{url.rstrip('/')}/status",
                headers=headers,
                timeout=self._options.request_timeout,
            )
        except CallFailed as failed:
            return f"could not reach {url}: {failed}"
        text = answer.body.decode("utf-8", "replace")
        for value in headers.values():  # a service may say what it was asked with
            text = text.replace(value, "***").replace(value.split()[-1], "***")
        if answer.status != 200 or "name" not in text:
            return f"{url} did not return the expected /status response: {answer.status} {text[:200]}"
        return None


def _is_address(url: str) -> bool:
    """Whether a task service could be there."""
    if not url.startswith(("http://", "https://")) or re.search(r"[\s\x00-\x20\x7f]", url):
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0 and not parts.query and not parts.fragment
    except ValueError:
        return False
