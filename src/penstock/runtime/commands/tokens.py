"""Tokens: the state of every run by name, open to inspection and repair, and `/custom/`, free for workers.

`/runs/<workflow>/<run>/steps/<step>` and `/runs/<workflow>/<run>/slots/<step>/<slot>/<n>` are those of live runs, their
version is the number of the run's last history entry; `/history/…` has the same of ended runs, read-only. A `/` in the
name of a step is written `%2F`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from penstock.flow.model.run import ENDED
from penstock.flow.views.run_view import step_view, time_text
from penstock.runtime.commands.ownership import Owners
from penstock.runtime.commands.repair import RepairCommands
from penstock.runtime.commands.validation import plain_payload, validate_texts
from penstock.runtime.commands.verbs import LIVE
from penstock.runtime.errors import Changed, Invalid, UnknownRun, UnknownToken
from penstock.runtime.node.audit_context import audit_for
from penstock.runtime.node.run_cache import CachedRun, RunCache
from penstock.runtime.queries.bounded_page import bounded_page, fitting
from penstock.runtime.queries.cursors import read_cursor, write_cursor
from penstock.runtime.queries.history import MAX_PAGE_BYTES, MAX_PAYLOADS_PER_READ
from penstock.runtime.queries.past_marking import marking_now
from penstock.store.protocol import RunViews
from penstock.store.protocol import Tokens as TokenRole
from penstock.store.rows.rows import Filter, TokenChange, TokenRow

CUSTOM, RUNS, HISTORY = "/custom/", "/runs/", "/history/"
WHOLE = ("/custom", "/runs", "/history")
_PREFIX = re.compile(
    r"/(runs|history)/([^/]*|[^/]+/([^/]*|[^/]+/"
    r"(s?|st|ste|step|steps|sl|slo|slot|slots|steps/[^/]*|slots/([^/]*|[^/]+/(\d*|\d+/\d*)))))"
)
MAX_NAME = 512
MAX_TOKENS = 1_000
"""Tokens that one call may change or claim."""

MAX_RUNS_READ = 200
"""Runs that one call reads. A rare prefix would otherwise make it read all of them."""

MAX_LEASE = timedelta(days=1)


class TokenCursor(Struct, frozen=True, array_like=True):
    """Where the next page begins: behind a name, or behind a run."""

    name: str = ""
    at: datetime | None = None
    run: str = ""


class Insert(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token to create. Under a run's slots `data` is `{event, data}`."""

    name: str
    data: Any = None
    owner: str | None = None
    expires: datetime | None = None
    priority: float = 0


class Update(Insert, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token that has this version, and what it is from now on."""

    version: int


class Delete(Struct, frozen=True, forbid_unknown_fields=True):
    """A token that has this version goes."""

    name: str
    version: int


class Edit(Struct, frozen=True, forbid_unknown_fields=True):
    """What one call changes, as a whole or not at all."""

    insert: tuple[Insert, ...] = ()
    update: tuple[Update, ...] = ()
    delete: tuple[Delete, ...] = ()
    reason: str | None = None

    def names(self) -> list[str]:
        every: list[Insert | Update | Delete] = [*self.insert, *self.update, *self.delete]
        return [one.name for one in every]

    def old(self) -> list[Update | Delete]:
        """The existing tokens, with their versions."""
        return [*self.update, *self.delete]


class TokenRows(RunViews, TokenRole, Protocol):
    """Runs, and what custom workers keep."""


class Tokens:
    """Reading, changing and claiming. What it answers is durable."""

    def __init__(
        self, store: TokenRows, run_cache: RunCache, repairs: RepairCommands, owners: Owners
    ) -> None:
        self._store, self._run_cache, self._repairs, self._owners = store, run_cache, repairs, owners

    # -- reading ---------------------------------------------------------------------------------------------

    async def read(self, prefix: str, limit: int = 100, cursor: str | None = None) -> dict[str, Any]:
        """Tokens whose names begin so: `items`, and `next`, also after a short page. Raises BadCursor, Invalid."""
        place = TokenCursor() if cursor is None else read_cursor(cursor, TokenCursor)
        if prefix in WHOLE:
            prefix += "/"
        if prefix.startswith(CUSTOM):
            read = partial(self._store.tokens, prefix)
            rows, more = await bounded_page(
                read, lambda row: row.name, lambda row: len(row.data), place.name, limit
            )
            following = TokenCursor(rows[-1].name) if more else None
            items = [_custom(row) for row in rows]
        elif prefix.startswith((RUNS, HISTORY)):
            items, following = await self._of_runs(prefix, limit, place)
        else:
            raise Invalid(f"'{prefix}' begins no token: names begin with {RUNS}, {HISTORY} or {CUSTOM}")
        return {"items": items, "next": None if following is None else write_cursor(following)}

    async def _of_runs(
        self, prefix: str, limit: int, place: TokenCursor
    ) -> tuple[list[dict[str, Any]], TokenCursor | None]:
        """Run by run, newest first; of one run all tokens, behind the name of the place."""
        _validate_prefix(prefix)
        filter = _filter(prefix, place)
        items: list[dict[str, Any]] = []
        looked, left = 0, MAX_PAGE_BYTES
        while True:
            rows = await self._store.runs(filter)
            looked += len(rows)
            lives = await self._run_cache.fetch([row.id for row in rows])
            for row in rows:
                live = lives.get(row.id)
                if isinstance(live, CachedRun):
                    found = [each for each in tokens_of(live) if each["name"].startswith(prefix)]
                    if place.run == row.id:
                        found = [each for each in found if each["name"] > place.name]
                    fit, left = fitting(found, left)
                    room = min(limit - len(items), fit if items else max(fit, 1))
                    if len(found) > room:
                        last = found[room - 1]["name"] if room else place.name if place.run == row.id else ""
                        return items + found[:room], TokenCursor(last, row.started_at, row.id)
                    items += found
            if len(rows) < filter.limit:
                return items, None
            place = TokenCursor("\U0010ffff", rows[-1].started_at, rows[-1].id)
            if looked >= MAX_RUNS_READ:
                return items, place
            filter = _filter(prefix, place)

    # -- changing --------------------------------------------------------------------------------------------

    async def edit(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """Insert, update and delete tokens, all or none: `{"items": [...]}`, those that were written.

        All are under `/custom/`, or slots of one run. Raises Invalid, Changed, RunEnded, UnknownRun.
        """
        try:
            edit = msgspec.convert(dict(said), Edit)
        except msgspec.ValidationError as error:
            raise Invalid(f"tokens cannot be changed so: {error}") from None
        names = edit.names()
        if len(set(names)) < len(names) or len(names) > MAX_TOKENS:
            raise Invalid(f"a call changes up to {MAX_TOKENS} tokens, each once")
        if all(name.startswith(CUSTOM) for name in names):
            return await self._edit_custom(edit)
        runs = {_place_of(name)[:2] for name in names if not name.startswith(CUSTOM)}
        if len(runs) > 1 or any(name.startswith(CUSTOM) for name in names):
            raise Invalid("a call changes tokens under /custom/, or those of one run, not both or several")
        return await self._edit_run(edit, *runs.pop())

    async def _edit_custom(self, edit: Edit) -> dict[str, Any]:
        for name in edit.names():
            _validate_name(name)
            self._validate_owner(name)
        puts = [_change(one, None) for one in edit.insert]
        puts += [_change(one, one.version) for one in edit.update]
        gone = [TokenChange(name=one.name, expect=one.version, gone=True) for one in edit.delete]
        audits = [by for by in map(audit_for, edit.names()) if by is not None]
        done = await self._store.change_tokens([*puts, *gone], audits)
        if isinstance(done, str):
            expected = next(one.expect for one in (*puts, *gone) if one.name == done)
            rows = [row for row in await self._store.tokens(done, "", 1) if row.name == done]
            if not rows and any(one.name == done for one in gone):
                raise UnknownToken(done)
            raise Changed(f"token '{done}'", expected, rows[0].version if rows else None)
        return {"items": [_custom(row) for row in done]}

    def _validate_owner(self, name: str) -> None:
        """Raises Managed where an application keeps its own things there."""
        self._owners.authorize(name.removeprefix(CUSTOM).partition("/")[0])

    async def _validate_prefix_owner(self, prefix: str) -> None:
        """Raises Managed where names that begin so take in those of an application that has some."""
        for name in self._owners.under(prefix.removeprefix(CUSTOM)):
            if await self._store.tokens(f"{CUSTOM}{name}/", "", 1):
                self._owners.authorize(name)

    async def _edit_run(self, edit: Edit, workflow: str, run: str) -> dict[str, Any]:
        versions = {one.version for one in edit.old()}
        if len(versions) > 1:
            raise Invalid("tokens of one run have one version: the number of its last history entry")
        live = (await self._run_cache.fetch([run])).get(run)
        if not isinstance(live, CachedRun) or live.snapshot.run.workflow != workflow:
            raise UnknownRun(run)
        waiting = {each["name"]: each["data"] for each in tokens_of(live)}
        put = [_put(one.name, one.data) for one in edit.insert]
        put += [_put(one.name, _renewed(waiting.get(one.name), one.data)) for one in edit.update]
        take = [_take(one.name) for one in edit.old()]
        expect = versions.pop() if versions else None
        return await self._repairs.repair(run, put=put, take=take, expect=expect, reason=edit.reason)

    async def claim(self, owner: str, prefix: str, lease: timedelta, limit: int = 1) -> list[dict[str, Any]]:
        """Own tokens under `/custom/` that nobody owns, those of the highest priority first, for a time.

        Fewer than `limit` where they are large: the rest is for the next claim.
        """
        if prefix != CUSTOM:
            _validate_name(prefix)
            self._validate_owner(prefix)
        await self._validate_prefix_owner(prefix)
        validate_texts(owner=owner)
        if not owner or not timedelta(0) < lease <= MAX_LEASE or not 1 <= limit <= MAX_TOKENS:
            raise Invalid(
                f"a claim needs an owner, a lease of up to a day, and a number from 1 to {MAX_TOKENS}"
            )
        claimed: list[TokenRow] = []
        taken, some = 0, MAX_PAYLOADS_PER_READ  # nobody knows how large they are
        while taken < MAX_PAGE_BYTES and (left := limit - len(claimed)) > 0:
            found = await self._store.claim_tokens(owner, prefix, lease, min(some, left), audit_for(prefix))
            claimed += found
            if len(found) < min(some, left):
                break
            taken += sum(len(row.data) for row in found)
            some = max(1, (MAX_PAGE_BYTES - taken) * len(claimed) // max(1, taken))
        return [_custom(row) for row in claimed]


# -- names ---------------------------------------------------------------------------------------------------


def tokens_of(live: CachedRun) -> list[dict[str, Any]]:
    """All tokens of a run, by name."""
    return sorted(_tokens_of(live), key=lambda token: token["name"])


def _tokens_of(live: CachedRun) -> Iterator[dict[str, Any]]:
    snapshot, flow = live.snapshot, live.flow
    root = f"{HISTORY if snapshot.ended else RUNS}{snapshot.run.workflow}/{snapshot.run.id}"
    for name, step in flow.steps.items():
        yield _token(
            f"{root}/steps/{_quoted(name)}", snapshot.seq, step_view(flow, snapshot, name), step.priority
        )
    for slot in marking_now(flow, snapshot)["slots"]:
        place = f"{root}/slots/{_quoted(slot['step'])}/{slot['slot']}"
        for event in slot["events"]:
            yield _token(f"{place}/{event['number']}", snapshot.seq, event)


def _token(name: str, version: int, data: Any, priority: float = 0) -> dict[str, Any]:
    return {
        "name": name,
        "version": version,
        "owner": None,
        "expires": None,
        "priority": priority,
        "data": data,
    }


def _custom(row: TokenRow) -> dict[str, Any]:
    shown = _token(row.name, row.version, msgspec.json.decode(row.data), row.priority)
    return shown | {"owner": row.owner, "expires": time_text(row.expires)}


def _quoted(step: str) -> str:
    return step.replace("/", "%2F")


def _filter(prefix: str, place: TokenCursor) -> Filter:
    """The runs whose tokens may begin so, from a place on."""
    _, root, *rest = prefix.split("/")
    workflow, run = (rest[0] if len(rest) > 1 else None), (rest[1] if len(rest) > 1 else None)
    # From the run itself on: some of its tokens may be left.
    after = None if place.at is None else (place.at, place.run + ("" if place.name >= "\U0010ffff" else " "))
    return Filter(
        workflow=workflow,
        workflows=None if workflow is not None else (f"{rest[0]}*",),
        q=run or None,
        statuses=LIVE if root == "runs" else tuple(sorted(ENDED)),
        after=after,
        limit=20,
    )


def _validate_prefix(prefix: str) -> None:
    """Raises Invalid where no token of a run could begin so, however many there are."""
    if not _PREFIX.fullmatch(prefix):
        raise Invalid(
            f"no token begins with '{prefix[:200]}': "
            f"names are {RUNS}<workflow>/<run>/steps/<step> and …/slots/<step>/<slot>/<n>"
        )


def _place_of(name: str) -> tuple[str, str, list[str]]:
    """Workflow, run and the rest of the name of a token of a run. Raises Invalid."""
    parts = name.split("/")
    if name.startswith(HISTORY):
        raise Invalid(f"'{name}' is history and cannot be changed: retry the run, or rerun it")
    if not name.startswith(RUNS) or len(parts) < 5:
        raise Invalid(f"'{name}' is no token that can be changed: names begin with {RUNS} or {CUSTOM}")
    return parts[2], parts[3], parts[4:]


def _slot_of(name: str) -> tuple[str, int, str]:
    _, _, rest = _place_of(name)
    if len(rest) != 4 or rest[0] != "slots" or not rest[2].isdecimal():
        raise Invalid(
            f"'{name}' cannot be changed: only events in slots can, as …/slots/<step>/<slot>/<n>; skip a step instead"
        )
    return rest[1].replace("%2F", "/"), int(rest[2]), rest[3]


def _put(name: str, data: Any) -> dict[str, Any]:
    step, slot, _ = _slot_of(name)
    if not isinstance(data, Mapping) or not isinstance(data.get("event"), str):
        raise Invalid(f"the data of '{name}' must be {{event, data}}: what is put into the slot")
    return {"step": step, "slot": slot, "event": data["event"], "data": data.get("data")}


def _take(name: str) -> dict[str, Any]:
    step, slot, number = _slot_of(name)
    return {"step": step, "slot": slot, "number": int(number) if number.isdecimal() else -1}


def _renewed(was: Any, data: Any) -> dict[str, Any]:
    """An event that is updated keeps its name where the new data does not say one."""
    given = data if isinstance(data, Mapping) else {"data": data}
    return {"event": (was or {}).get("event"), **given}


def _validate_name(name: str) -> None:
    validate_texts(name=name)
    if not name.startswith(CUSTOM) or not len(CUSTOM) < len(name) <= MAX_NAME:
        raise Invalid(
            f"'{name[:60]}' is no name of a token: it begins with {CUSTOM} and has up to {MAX_NAME} characters"
        )


def _change(one: Insert, expect: int | None) -> TokenChange:
    validate_texts(owner=one.owner)
    data = plain_payload(one.data, f"the data of '{one.name}'")
    return TokenChange(
        name=one.name,
        expect=expect,
        owner=one.owner,
        expires=one.expires,
        priority=one.priority,
        data=msgspec.json.encode(data),
    )
