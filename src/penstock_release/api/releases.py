"""`/releases`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.api.extension import Calls, Reply, RequestContext
from penstock_release.api import wire
from penstock_release.api.answers import body_of, coordinator_of, matching, page, task_view
from penstock_release.errors import Refused
from penstock_release.fields import Field, read_fields
from penstock_release.releases import Whole
from penstock_release.rules import RELEASE_ENDS

calls = Calls("releases")
FIELDS = (
    Field("name", required=True, max_length=256),
    Field("studies", "texts", required=True),
    Field("description"),
    Field("tags", "texts", max_length=100, max_elements=100),
    Field("author", max_length=100),
    Field("is_major", "switch"),
)
CHOICE = Field("services", "texts")
"""Which services take part; it is chosen once."""
_BODY: dict[str, Any] = {"takes": wire.DataReleaseIn, "reads": "raw", "gives": wire.DataRelease}


def _read(body: Any, partial: bool = False, more: tuple[Field, ...] = ()) -> dict[str, Any]:
    """The fields; a study that is named twice is named once. Raises FieldErrors."""
    fields = read_fields(body, (*FIELDS, *more), partial)
    if "studies" in fields:
        fields["studies"] = list(dict.fromkeys(fields["studies"]))
    return fields


async def views(context: RequestContext[None, None], wholes: Sequence[Whole]) -> list[dict[str, Any]]:
    """Releases as they are shown: what they have in common is read once, however many they are."""
    here = coordinator_of(context)
    notes: dict[str, list[str]] = {}
    for note in await here.documents.newest("notes/"):
        notes.setdefault(note["release"], []).append(note["kf_id"])
    latest = await here.releases.latest_version()
    return [_view(context, whole, notes.get(whole.id, []), latest) for whole in wholes]


def _view(
    context: RequestContext[None, None], whole: Whole, notes: list[str], latest: str | None
) -> dict[str, Any]:
    release = whole.release.data
    names = ("kf_id", "name", "description", "state", "studies", "version", "created_at", "tags", "author")
    shown = {name: release[name] for name in (*names, "is_major", "partly_published", "run")}
    tasks = [task_view(context, task.data) for task in whole.current]
    more = {"states": release.get("states", []), "next_version": whole.next_version(latest)}
    return {**shown, **more, "notes": notes, "tasks": tasks}


async def view(context: RequestContext[None, None], whole: Whole) -> dict[str, Any]:
    """A release as it is shown."""
    [shown] = await views(context, [whole])
    return shown


@calls.get("/releases", "read", query=wire.ReleaseListing, gives=wire.Results[wire.DataRelease])
async def list_releases(context: RequestContext[None, None]) -> Any:
    """The releases, newest first."""
    here = coordinator_of(context)
    await here.releases.catch_up()
    return await release_page(context, matching(context, await here.releases.all(), "state"))


async def release_page(context: RequestContext[None, None], found: list[dict[str, Any]]) -> dict[str, Any]:
    """Some of the releases that were found."""
    shown = page(context, [each["kf_id"] for each in found])
    some = await coordinator_of(context).releases.some(shown["results"])
    return {**shown, "results": await views(context, some)}


@calls.post("/releases", "operate", status=201, **_BODY)
async def create_release(context: RequestContext[None, None]) -> Any:
    """Begin a release of some studies, by the services that are named, else by all that are enabled."""
    here = coordinator_of(context)
    fields = _read(await body_of(context), more=(CHOICE,))
    await here.library.reject_unknown(fields["studies"])
    return await view(context, await here.create(fields))


@calls.get("/releases/{id}", "read", gives=wire.DataRelease)
async def show_release(context: RequestContext[None, None]) -> Any:
    """One release with its tasks."""
    return await view(context, await coordinator_of(context).releases.fresh(context.path["id"]))


async def _change(context: RequestContext[None, None], partial: bool) -> Any:
    here, id = coordinator_of(context), context.path["id"]
    begun = (await here.releases.whole(id)).release.data["begun_with"]
    fields = _read(await body_of(context), partial)
    if set(fields.get("studies", ())) == set(begun):  # the same, in whatever order
        fields["studies"] = begun
    elif "studies" in fields:
        await here.library.reject_unknown(fields["studies"])
    await here.releases.describe(id, fields)
    return await view(context, await here.releases.fresh(id))


@calls.patch("/releases/{id}", "operate", **_BODY)
async def patch_release(context: RequestContext[None, None]) -> Any:
    """Change some fields of a release; its state and version are its own."""
    return await _change(context, True)


@calls.put("/releases/{id}", "operate", **_BODY)
async def put_release(context: RequestContext[None, None]) -> Any:
    """Change a release; its state and version are its own."""
    return await _change(context, False)


@calls.delete("/releases/{id}", "operate", gives=wire.DataRelease)
async def cancel_release(context: RequestContext[None, None]) -> Any:
    """Cancel a release; one that has ended stays as it is."""
    try:
        await coordinator_of(context).releases.whole(context.path["id"])
    except Refused as refused:
        return Reply({} if refused.status == 404 else refused.body, refused.status)
    return await view(context, await coordinator_of(context).releases.cancel(context.path["id"]))


@calls.post("/releases/{id}/publish", "operate", gives=wire.Message)
async def publish_release(context: RequestContext[None, None]) -> Any:
    """Publish a release that is staged, or go on with one that is partly published."""
    await coordinator_of(context).publish(context.path["id"])
    return {"message": "publishing"}


@calls.post(
    "/releases/{id}/rerun",
    "operate",
    status=201,
    takes=wire.OtherServices,
    reads="raw",
    gives=wire.DataRelease,
)
async def rerun_release(context: RequestContext[None, None]) -> Any:
    """Make the same release again, by the same services or by others."""
    body = await body_of(context)
    others = {"services": None} if body == {"services": None} else read_fields(body, (CHOICE,), True)
    return await view(context, await coordinator_of(context).rerun(context.path["id"], others))


@calls.post("/releases/status_checks", "operate", gives=wire.Said)
async def check_releases(context: RequestContext[None, None]) -> Any:
    """Ask the services of all releases under way for their state, and look at what became of it; now, not later."""
    count = sum(whole.state not in RELEASE_ENDS for whole in await coordinator_of(context).check_now())
    return {"status": "ok", "message": f"{count} releases to check"}
