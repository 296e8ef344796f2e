"""Tokens, sessions, secrets and the audit log on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from penstock.access.access import TokenView
from penstock.access.roles import Action, Role

Text = Annotated[str, Meta(min_length=1, max_length=65536)]


class MakeToken(Struct, forbid_unknown_fields=True, kw_only=True):
    """A token that is wanted. `expires_in` are days."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    role: Role
    expires_in: Annotated[int, Meta(ge=1, le=3650)] | Literal["never"] = 90
    workflows: list[str] | None = None
    task_lists: list[str] | None = None
    concurrency: Annotated[int, Meta(ge=1, le=100_000)] | None = None


class Made(TokenView, frozen=True, kw_only=True):
    """A new token; `token` is shown this once."""

    token: str


class BackTo(Struct, forbid_unknown_fields=True):
    """Where to go once signed in."""

    back_to: str = "/"


class SignIn(Struct, forbid_unknown_fields=True):
    """Somebody with a token who wants a session."""

    token: Annotated[str, Meta(min_length=1, max_length=500)]


class Who(Struct):
    """Who asks, and what they may do to `workflows` (null: all). `signed_in` false: nobody needs to, here."""

    name: str
    role: Role
    may: list[Action]
    workflows: list[str] | None
    signed_in: bool
    sign_in: list[Literal["token", "oidc"]]


class PutSecret(Struct, forbid_unknown_fields=True):
    """The value of a secret: written, never read back."""

    value: Text


class Rotate(Struct, forbid_unknown_fields=True):
    """Whether a new key is made first."""

    make: bool = True


class Rotated(Struct):
    """How many secrets were sealed anew."""

    sealed: int


class AuditEntry(Struct):
    """What somebody did."""

    number: int
    at: str
    actor: str
    token_id: str | None
    ip: str | None
    action: str
    target: str
    before: str | None
    after: str | None
    reason: str | None
    hash: str


class Verified(Struct):
    """Whether the record is whole; `problem` is the first thing that is wrong."""

    whole: bool
    problem: str | None
