"""Drafts and versions: read, saved, discarded, restored."""

from __future__ import annotations

from typing import Any

from penstock.api.call import Calls, Reply, RequestContext
from penstock.api.definitions import DEFINITION, YAML, expected, read_written, wants_yaml, yaml_response
from penstock.api.paging import Page, Paged, page
from penstock.api.wire.workflows import Draft, Version, VersionLine
from penstock.flow.format.yaml_writer import to_plain
from penstock.flow.views.run_view import time_text

calls = Calls("drafts")


def _draft(draft: dict[str, Any], status: int | None = None) -> Reply:
    return Reply(draft, status, {"etag": f'"{draft["etag"]}"'})


@calls.get("/api/workflows/{name}", "read", gives=Draft, also=YAML[:1])
async def show_draft(context: RequestContext[None, None]) -> Any:
    """The draft, or the newest version where there is none; with Accept: application/yaml the text alone."""
    draft = await context.engine.drafts.show(context.may_workflow("read"))
    if wants_yaml(context.request):
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
async def save_draft(context: RequestContext[None, None]) -> Any:
    """Save a definition (as itself, or as {definition}) as the draft, whatever its findings; 201 where it is new."""
    name = context.may_workflow("author")
    written = await read_written(context.request)
    drafts = context.engine.drafts
    expect = expected(context.request, await drafts.etag(name))
    draft, new = await drafts.save(name, written, author=context.caller.name, expect=expect)
    return _draft(draft, 201 if new else 200)


@calls.delete("/api/workflows/{name}", "author", status=204, headers=("If-Match",))
async def discard_draft(context: RequestContext[None, None]) -> Any:
    """Discard the draft; versions stay, and the newest one is then the draft."""
    name, drafts = context.may_workflow("author"), context.engine.drafts
    await drafts.discard(name, expected(context.request, await drafts.etag(name)))


@calls.get("/api/workflows/{name}/versions", "read", query=Paged, gives=Page[VersionLine])
async def list_versions(context: RequestContext[None, Paged]) -> Any:
    """Versions, newest first."""
    name = context.may_workflow("read")
    limit, before = context.query.limit, context.query.place(int)
    items = await context.engine.drafts.versions(name, before=before, limit=limit + 1)
    return page(items, limit, lambda each: each["version"])


@calls.get("/api/workflows/{name}/versions/{v}", "read", gives=Version, also=YAML[:1])
async def show_version(context: RequestContext[None, None]) -> Any:
    """One version; with Accept: application/yaml the text alone."""
    found = await context.engine.drafts.version(context.may_workflow("read"), context.number("v"))
    checked = await context.engine.drafts.check(found.definition)
    if wants_yaml(context.request):
        return yaml_response(found.definition, checked.etag)
    definition, at = to_plain(checked.loaded.definition), time_text(found.at)
    return Version(found.workflow, found.version, definition, found.definition, found.note, at or "")


@calls.post("/api/workflows/{name}/versions/{v}/restore", "author", gives=Draft)
async def restore_version(context: RequestContext[None, None]) -> Any:
    """Make a version the draft."""
    name = context.may_workflow("author")
    return _draft(await context.engine.drafts.restore(name, context.number("v"), author=context.caller.name))
