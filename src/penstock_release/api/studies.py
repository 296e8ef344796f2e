"""`/studies` and `/release-notes`."""

from __future__ import annotations

from typing import Any

from penstock.api.extension import Calls, RequestContext
from penstock_release.api import wire
from penstock_release.api.answers import address, body_of, coordinator_of, matching, page
from penstock_release.api.releases import release_page

calls = Calls("studies")
_NOTE: dict[str, Any] = {"takes": wire.ReleaseNoteIn, "reads": "raw", "gives": wire.ReleaseNote}


@calls.get("/studies", "read", query=wire.Listing, gives=wire.Results[wire.Study])
async def list_studies(context: RequestContext[None, None]) -> Any:
    """The studies, newest first."""
    return page(context, await coordinator_of(context).documents.newest("studies/"))


@calls.post("/studies", "operate", status=201, takes=wire.StudyIn, reads="raw", gives=wire.Study)
async def add_study(context: RequestContext[None, None]) -> Any:
    """Add a study by hand."""
    return await coordinator_of(context).library.add_study(await body_of(context))


@calls.post("/studies/sync", "operate", gives=wire.Synced)
async def sync_studies(context: RequestContext[None, None]) -> Any:
    """Take the studies of the data service."""
    return await coordinator_of(context).library.sync()


@calls.get("/studies/{id}", "read", gives=wire.Study)
async def show_study(context: RequestContext[None, None]) -> Any:
    """One study."""
    return (await coordinator_of(context).documents.require(f"studies/{context.path['id']}")).data


@calls.get("/studies/{id}/releases", "read", query=wire.Listing, gives=wire.Results[wire.DataRelease])
async def list_releases_of_study(context: RequestContext[None, None]) -> Any:
    """The releases of a study, newest first."""
    here, id = coordinator_of(context), context.path["id"]
    await here.documents.require(f"studies/{id}")
    await here.releases.catch_up()
    return await release_page(context, [each for each in await here.releases.all() if id in each["studies"]])


def _note(context: RequestContext[None, None], note: dict[str, Any]) -> dict[str, Any]:
    links = {"study": f"/studies/{note['study']}", "release": f"/releases/{note['release']}"}
    return {**note, **{name: address(context, path) for name, path in links.items()}}


@calls.get("/release-notes", "read", query=wire.NoteListing, gives=wire.Results[wire.ReleaseNote])
async def list_notes(context: RequestContext[None, None]) -> Any:
    """The release notes, newest first."""
    found = await coordinator_of(context).documents.newest("notes/")
    return page(context, matching(context, found, "author", "study", "release"), _note)


@calls.post("/release-notes", "operate", status=201, **_NOTE)
async def add_note(context: RequestContext[None, None]) -> Any:
    """Write a note on a study in a release."""
    return _note(context, await coordinator_of(context).library.add_note(await body_of(context)))


@calls.get("/release-notes/{id}", "read", gives=wire.ReleaseNote)
async def show_note(context: RequestContext[None, None]) -> Any:
    """One note."""
    return _note(
        context, (await coordinator_of(context).documents.require(f"notes/{context.path['id']}")).data
    )


async def _change(context: RequestContext[None, None], partial: bool) -> dict[str, Any]:
    library, id = coordinator_of(context).library, context.path["id"]
    return _note(context, await library.change_note(id, await body_of(context), partial))


@calls.patch("/release-notes/{id}", "operate", **_NOTE)
async def patch_note(context: RequestContext[None, None]) -> Any:
    """Change some fields of a note."""
    return await _change(context, True)


@calls.put("/release-notes/{id}", "operate", **_NOTE)
async def put_note(context: RequestContext[None, None]) -> Any:
    """Change a note."""
    return await _change(context, False)


@calls.delete("/release-notes/{id}", "operate", status=204)
async def remove_note(context: RequestContext[None, None]) -> Any:
    """Remove a note."""
    await coordinator_of(context).library.remove_note(context.path["id"])
