"""Tokens: the state of every run by name, and `/custom/`, which workers may use freely."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from msgspec import to_builtins

from penstock.access.errors import Forbidden
from penstock.access.roles import Action, roles_for
from penstock.api.call import Calls, RequestContext
from penstock.api.paging import Page
from penstock.api.wire.supervision import ChangeTokens, Token, TokenQuery, TokensChanged

calls = Calls("tokens")


@calls.get("/api/tokens", "read", query=TokenQuery, gives=Page[Token])
async def list_tokens(context: RequestContext[None, TokenQuery]) -> Any:
    """Tokens by the beginning of their names; a page has fewer where they are large."""
    _may(context, "read", context.query.prefix)
    return await context.engine.tokens(
        context.query.prefix, limit=context.query.limit, cursor=context.query.cursor
    )


@calls.post("/api/tokens", "repair", takes=ChangeTokens, gives=TokensChanged)
async def change_tokens(context: RequestContext[ChangeTokens, None]) -> Any:
    """Insert, update and delete tokens, all or none; or claim some."""
    body = context.body
    if (claim := body.claim) is not None:
        _may(context, "repair", claim.prefix)
        lease = timedelta(seconds=claim.lease)
        items: Any = await context.engine.claim_tokens(
            claim.owner, claim.prefix, lease=lease, limit=claim.limit
        )
        return TokensChanged(items=items)
    for name in body.names():
        _may(context, "repair", name)
    changes = {name: value for name, value in to_builtins(body).items() if name != "claim"}
    answer = await context.engine.edit_tokens(**changes)
    return TokensChanged(items=answer.get("items", []), will_fire=answer.get("will_fire", []))


def _may(context: RequestContext[Any, Any], action: Action, name: str) -> None:
    """Who is bound to workflows sees the tokens of their runs alone. Raises UnknownWorkflow, Forbidden."""
    if context.caller.everywhere:
        return
    parts = name.split("/")
    if len(parts) < 4 or parts[1] not in ("runs", "history"):
        raise Forbidden(
            context.caller.described, "see tokens that belong to no workflow of theirs", roles_for("admin")
        )
    context.may(action, parts[2])
