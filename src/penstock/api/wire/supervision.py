"""What supervisors of runs send and receive: lists, reasons, repairs, tokens."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import asdict

from penstock.api.paging import Cursor, Limit, Paged
from penstock.api.request_body import Unreadable
from penstock.flow.model.run import Status
from penstock.runtime.commands.verbs import BulkAction, Version
from penstock.store.rows.rows import Sort

Name = Annotated[str, Meta(min_length=1, max_length=512)]
Text = Annotated[str, Meta(max_length=1000)]
Pair = Annotated[str, Meta(pattern="^[^=]+=.+$", max_length=1000)]
Moment = Annotated[datetime, Meta(tz=True)]
DAY = timedelta(days=1)
Number = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Dated(Struct):
    """What has times: each must be a day at least from the ends of the calendar, so that it can be reckoned with."""

    def __post_init__(self) -> None:
        for name, attribute in zip(self.__struct_encode_fields__, self.__struct_fields__, strict=True):
            value = getattr(self, attribute)
            if isinstance(value, datetime) and not _reckonable(value):
                raise ValueError(f"Object has a time in field `{name}` that is out of the calendar")


def _reckonable(moment: datetime) -> bool:
    try:
        utc = moment.astimezone(UTC)
        return (utc - DAY).year > 0 and (utc + DAY).year > 0
    except OverflowError:
        return False


class RunFilter(Dated, kw_only=True, forbid_unknown_fields=True):
    """Which runs; every part that is given must hold. `label` and `key` are NAME=VALUE; `q` begins the subject, the id
    or a key; `since` and `until` are of the start."""

    workflow: str | None = None
    version: Version | None = None
    status: list[Status] | Status = []
    subject: str | None = None
    parent: str | None = None
    label: Pair | None = None
    key: Pair | None = None
    step: str | None = None
    waiting_for: str | None = None
    waiting_since: Moment | None = None
    since: Moment | None = None
    until: Moment | None = None
    q: str | None = None

    def said(self, workflows: tuple[str, ...] | None) -> dict[str, Any]:
        """As the engine takes it, for a caller who sees these workflows."""
        found = {name: value for name, value in asdict(self).items() if value not in (None, [])}
        status = found.pop("status", [])
        found["statuses"] = (status,) if isinstance(status, str) else tuple(status)
        for name in ("label", "key"):
            if name in found:
                found[name] = _pair(name, found[name])
        return {**found, "workflows": workflows}


def _pair(name: str, text: str) -> tuple[str, str]:
    left, equals, right = text.partition("=")
    if not (left and equals and right):
        raise Unreadable("invalid_parameter", f"'{text[:80]}' is no pair: write NAME=VALUE", name)
    return left, right


class RunQuery(RunFilter, kw_only=True, forbid_unknown_fields=True):
    """A filter, an order and a page."""

    status: list[Status] = []
    sort: Sort = "newest"
    limit: Limit = 50
    cursor: Cursor | None = None


class RunLine(Struct):
    """A run in a list."""

    id: str
    workflow: str
    version: int
    subject: str | None
    status: Status
    labels: dict[str, str]
    parent: str | None
    waiting_for: list[str]
    started_at: str
    ended_at: str | None


class WhyQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    step: str | None = None


class Why(Struct):
    """Why a run does not go on: `text` in a sentence, and a reason for each step that has one."""

    run: str
    status: Status
    waiting_for: list[str]
    text: str
    steps: list[dict[str, Any]]
    refused_keys: list[dict[str, Any]]


class MarkingQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """`at`: the number of a history entry; the marking right after it."""

    at: Number | None = None


class Marking(Struct):
    """Which events wait in which slots, with the data and the tags of the run at that point."""

    run: str
    seq: int
    slots: list[dict[str, Any]]
    steps: dict[str, dict[str, Any]]
    data: Any
    tags: dict[str, Any]


class PutEvent(Struct, kw_only=True, forbid_unknown_fields=True):
    """An event to be put into a slot."""

    step: str
    slot: Number
    event: str
    data: Any = None


class TakeEvent(Struct, kw_only=True, forbid_unknown_fields=True):
    """An event to be taken out of a slot, by its number in the marking."""

    step: str
    slot: Number
    number: Number


class Repair(Struct, kw_only=True, forbid_unknown_fields=True):
    """`expect`: the `seq` of the marking that was looked at."""

    put: list[PutEvent] = []
    take: list[TakeEvent] = []
    expect: Number | None = None
    reason: Text | None = None
    dry_run: bool = False


class Prospect(Struct):
    """Whether the run could still end, in a sentence; `starving` are steps that may wait in vain."""

    verdict: Literal["ended", "ends", "may_stall", "stalls", "unknown"]
    text: str
    starving: dict[str, list[str]]


class Repaired(Struct):
    """The steps that begin by it; `outlook` where it was only tried."""

    seq: int
    status: Status
    will_fire: list[str]
    outlook: Prospect | None = None


class Bulk(Struct, kw_only=True, forbid_unknown_fields=True):
    """One action on every run that fits; with `dry_run` they are only counted. `force` is of cancel."""

    filter: RunFilter
    action: BulkAction
    dry_run: bool = False
    force: bool = False


class BulkDone(Struct, kw_only=True):
    """`count` runs that fit; by `statuses` where they are only counted, else what became of them."""

    action: str
    count: int = 0
    statuses: dict[str, int] = {}
    done: int = 0
    refused: int = 0
    failed: int = 0
    errors: list[dict[str, str]] = []
    more: bool = False
    made: list[str] = []


class IncidentQuery(Paged, Dated, kw_only=True, forbid_unknown_fields=True):
    since: Moment | None = None
    workflow: str | None = None


class StatsQuery(Dated, kw_only=True, forbid_unknown_fields=True):
    """Of runs that started then; of the last day where nothing is said."""

    since: Moment | None = field(default=None, name="from")
    until: Moment | None = field(default=None, name="to")
    version: Version | None = None


class OverviewQuery(Dated, kw_only=True, forbid_unknown_fields=True):
    """Of runs that ended then; of the last day where nothing is said."""

    since: Moment | None = field(default=None, name="from")
    until: Moment | None = field(default=None, name="to")
    points: Annotated[int, Meta(ge=1, le=200)] = 72


# -- tokens ------------------------------------------------------------------------------------------------


class TokenQuery(Paged, kw_only=True, forbid_unknown_fields=True):
    """`prefix`: how the names begin."""

    prefix: Annotated[str, Meta(max_length=512)] = "/runs/"


class Token(Struct):
    name: str
    version: int
    owner: str | None
    expires: str | None
    priority: float
    data: Any


class NewToken(Dated, kw_only=True, forbid_unknown_fields=True):
    name: Name
    data: Any = None
    owner: str | None = None
    expires: Moment | None = None
    priority: float = 0


class ChangedToken(NewToken, kw_only=True, forbid_unknown_fields=True):
    """`version`: the one that it must have now."""

    version: Number


class GoneToken(Struct, kw_only=True, forbid_unknown_fields=True):
    name: Name
    version: Number


class Claim(Struct, kw_only=True, forbid_unknown_fields=True):
    """Tokens under /custom/ that nobody owns, the highest priority first, for `lease` seconds."""

    owner: Annotated[str, Meta(min_length=1, max_length=200)]
    prefix: Name
    lease: Annotated[float, Meta(gt=0, le=86400)]
    limit: Annotated[int, Meta(ge=1, le=1000)] = 1


class ChangeTokens(Struct, kw_only=True, forbid_unknown_fields=True):
    """Inserts, updates and deletes, applied whole or not at all; or a claim."""

    insert: list[NewToken] = []
    update: list[ChangedToken] = []
    delete: list[GoneToken] = []
    reason: Text | None = None
    claim: Claim | None = None

    def names(self) -> list[str]:
        """All that is to be changed."""
        new = [*self.insert, *self.update]
        return [each.name for each in new] + [each.name for each in self.delete]


class TokensChanged(Struct, kw_only=True):
    """The tokens that were written or claimed; for those of a run the steps that begin by it."""

    items: list[Token] = []
    will_fire: list[str] = []
