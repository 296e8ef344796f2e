"""Drafts and versions: read, saved, discarded, restored."""

from __future__ import annotations

from typing import Any

from penstock.api.call import Calls, Reply, RequestContext
from penstock.api.definitions import DEFINITION, YAML, expected, read_written, wants_yaml, yaml_response
from penstock.api.paging import Page, Paged, page
from penstock.api.wire.workflows import Draft, Version, VersionLine
from penstock.flow.format.writing import to_plain
from penstock.flow.views.run_view import time_text

calls = Calls("drafts")


def _draft(draft: dict[str, Any], status: int | None = None) -> Reply:
    return Reply(draft, status, {"etag": f'"{draft["etag"]}"'})


@calls.get("/api/workflows/{name}", "read", gives=Draft, also=YAML[:1])
async def show_draft(ask: RequestContext[None, None]) -> Any:
    """The draft, or the newest version where there is none; with Accept: application/yaml the text alone."""
    ask.may("read", ask.path["name"])
    draft = await ask.engine.drafts.show(ask.path["name"])
    if wants_yaml(ask.request):
        return yaml_response(draft["text"], draft["etag"])
    return _draft(draft)


@calls.put(
    "/api/workflows/{name}",
    "author",
    gives=Draft,
    statuses=(201,),
    reads="raw",
    accepts=DEFINITION,
    takes=dict[str, Any],
    headers=("If-Match", "If-None-Match"),
)
async def save_draft(ask: RequestContext[None, None]) -> Any:
    """Save a definition (as itself, or as {definition}) as the draft, whatever its findings; 201 where it is new."""
    name = ask.path["name"]
    ask.may("author", name)
    written = await read_written(ask.request)
    drafts = ask.engine.drafts
    expect = expected(ask.request, await drafts.etag(name))
    draft, new = await drafts.save(name, written, author=ask.caller.name, expect=expect)
    return _draft(draft, 201 if new else 200)


@calls.delete("/api/workflows/{name}", "author", status=204, headers=("If-Match",))
async def discard_draft(ask: RequestContext[None, None]) -> Any:
    """Discard the draft; versions stay, and the newest one is then the draft."""
    name = ask.path["name"]
    ask.may("author", name)
    drafts = ask.engine.drafts
    await drafts.discard(name, expected(ask.request, await drafts.etag(name)))


@calls.get("/api/workflows/{name}/versions", "read", query=Paged, gives=Page[VersionLine])
async def list_versions(ask: RequestContext[None, Paged]) -> Any:
    """Versions, newest first."""
    ask.may("read", ask.path["name"])
    limit, before = ask.query.limit, ask.query.place(int)
    items = await ask.engine.drafts.versions(ask.path["name"], before=before, limit=limit + 1)
    return page(items, limit, lambda each: each["version"])


@calls.get("/api/workflows/{name}/versions/{v}", "read", gives=Version, also=YAML[:1])
async def show_version(ask: RequestContext[None, None]) -> Any:
    """One version; with Accept: application/yaml the text alone."""
    ask.may("read", ask.path["name"])
    found = await ask.engine.drafts.version(ask.path["name"], ask.number("v"))
    checked = await ask.engine.drafts.check(found.definition)
    if wants_yaml(ask.request):
        return yaml_response(found.definition, checked.etag)
    definition, at = to_plain(checked.loaded.definition), time_text(found.at)
    return Version(found.workflow, found.version, definition, found.definition, found.note, at or "")


@calls.post("/api/workflows/{name}/versions/{v}/restore", "author", gives=Draft)
async def restore_version(ask: RequestContext[None, None]) -> Any:
    """Make a version the draft."""
    name = ask.path["name"]
    ask.may("author", name)
    return _draft(await ask.engine.drafts.restore(name, ask.number("v"), author=ask.caller.name))
