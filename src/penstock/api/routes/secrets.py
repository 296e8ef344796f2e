"""Secrets and the audit log."""

from __future__ import annotations

from msgspec.structs import asdict

from penstock.access.access import SecretView
from penstock.api.call import Calls, RequestContext
from penstock.api.paging import Page, Paged
from penstock.api.wire.access import AuditEntry, PutSecret, Rotate, Rotated, Verified
from penstock.flow.views.run_view import time_text
from penstock.store.rows.access import Audited

calls = Calls("access")


@calls.get("/api/secrets", "admin", query=Paged, gives=Page[SecretView])
async def list_secrets(context: RequestContext[None, Paged]) -> Page[SecretView]:
    """The names of the secrets: a value is written, never read back."""
    access = context.service.access
    return await context.query.page(
        str, lambda after, limit: access.list_secrets(after or "", limit), lambda secret: secret.name
    )


@calls.put("/api/secrets/{name}", "admin", takes=PutSecret, gives=SecretView)
async def put_secret(context: RequestContext[PutSecret, None]) -> SecretView:
    """Write a secret, or its next version."""
    return await context.service.access.set_secret(context.caller, context.path["name"], context.body.value)


@calls.delete("/api/secrets/{name}", "admin", status=204)
async def delete_secret(context: RequestContext[None, None]) -> None:
    """Drop a secret."""
    await context.service.access.delete_secret(context.caller, context.path["name"])


@calls.post("/api/secret-keys/rotate", "admin", takes=Rotate, gives=Rotated)
async def rotate_key(context: RequestContext[Rotate, None]) -> Rotated:
    """Make a new key and seal every secret with it; without `make`, seal with the first of the keys there are."""
    access = context.service.access
    return Rotated(await (access.rotate_key if context.body.make else access.reseal_secrets)(context.caller))


@calls.get("/api/audit", "admin", query=Paged, gives=Page[AuditEntry])
async def list_audit(context: RequestContext[None, Paged]) -> Page[AuditEntry]:
    """What people did, newest first."""
    found = await context.query.page(int, context.service.access.audit, lambda each: each.number)
    return Page([_entry(each) for each in found.items], found.next)


@calls.post("/api/audit/verify", "admin", recorded=False, gives=Verified)
async def verify_audit(context: RequestContext[None, None]) -> Verified:
    """Look through the whole record: an entry that was changed or taken out is found."""
    problem = await context.service.access.verify_audit()
    return Verified(problem is None, problem)


def _entry(each: Audited) -> AuditEntry:
    shown = {
        name: value.hex() if isinstance(value, bytes) else value for name, value in asdict(each.row).items()
    }
    return AuditEntry(number=each.number, at=time_text(each.at) or "", hash=each.hash.hex(), **shown)
