"""Definitions: checked, published."""

from __future__ import annotations

from functools import partial
from typing import Any

from penstock.access.children import may_publish
from penstock.api.call import Calls, Reply, RequestContext
from penstock.api.definitions import DEFINITION, expected, in_envelope, read_body
from penstock.api.request_body import fit
from penstock.api.wire.workflows import Check, CheckDraft, Publish, Published, Report
from penstock.engine.authoring.drafts import Checked

calls = Calls("checks")


def _report(checked: Checked) -> dict[str, Any]:
    """As `penstock check --json` says it; what came without a file goes by its name."""
    return checked.report.to_plain() | {"file": checked.report.file or checked.loaded.definition.name}


@calls.post("/api/check", "read", gives=Report, reads="raw", accepts=DEFINITION, takes=dict[str, Any])
async def check_definition(context: RequestContext[None, None]) -> Any:
    """Check a definition: as itself, in JSON or YAML, or as {definition, budget}."""
    body = await read_body(context.request)
    asked = fit(body, Check) if in_envelope(body) else Check(definition=body)  # type: ignore[arg-type]
    return _report(await context.engine.drafts.check(asked.definition, asked.budget))


@calls.post("/api/workflows/{name}/check", "read", takes=CheckDraft, gives=Report, empty=True)
async def check_draft(context: RequestContext[CheckDraft, None]) -> Any:
    """Check the draft."""
    name = context.may_workflow("read")
    return _report(await context.engine.drafts.check_draft(name, context.body.budget))


@calls.post(
    "/api/workflows/{name}/publish",
    "author",
    takes=Publish,
    gives=Published,
    status=201,
    statuses=(200,),
    empty=True,
    headers=("If-Match",),
)
async def publish_workflow(context: RequestContext[Publish, None]) -> Any:
    """Publish the draft, or the definition in the body, as the next version; 422 with findings where it is refuted."""
    name, body, drafts = context.path["name"], context.body, context.engine.drafts
    context.may("author" if body.override is None else "admin", name)
    expect = expected(context.request, await drafts.etag(name))
    override = body.override is not None
    before = await drafts.latest(name)
    version, checked = await drafts.publish(
        name,
        body.definition,
        note=body.note,
        start=body.start,
        override=override,
        again=body.again,
        expect=expect,
        consent=partial(may_publish, context.caller),
    )
    report = _report(checked)
    answer = Published(version.version, report["verdict"], report["findings"])
    return Reply(answer, 200 if version.version == before else 201)
