"""The claims of an identity provider: whether they are addressed to this server, and which role they grant."""

from __future__ import annotations

from datetime import datetime
from hmac import compare_digest
from typing import Any, TypeGuard

from msgspec import Struct

from penstock.access.caller import bounded_text
from penstock.access.roles import Role
from penstock.access.tokens import wrong_pattern

LEEWAY = 60.0
"""Seconds by which the clocks may differ."""
_LATEST = 1e12
_RANK: tuple[Role, ...] = ("viewer", "operator", "author", "admin")


class Grant(Struct, frozen=True, forbid_unknown_fields=True):
    """A role, and the workflows that it is for; None: all."""

    role: Role
    workflows: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.role not in _RANK:
            raise ValueError(f"'{self.role}' is no role of people: use {', '.join(_RANK)}")
        if self.role == "admin" and self.workflows is not None:
            raise ValueError("an admin cannot be bound to workflows: make it an author, or leave them out")
        if self.workflows == ():
            raise ValueError("'workflows' has no entries: use 1 or more, or leave it out for all")
        problem = wrong_pattern("workflows", self.workflows or ())
        if problem is not None:
            raise ValueError(problem)


class OidcSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to reach the provider, and who may do what.

    `roles` says what each value of the claim `role_claim` (dots lead into objects) grants; who has none of them is not
    let in. `redirect_uri` is the one that is registered, to the letter.
    """

    issuer: str
    client_id: str
    redirect_uri: str
    client_secret: str | None = None
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    role_claim: str = "roles"
    roles: dict[str, Grant]
    name_claim: str = "email"


class Expected(Struct, frozen=True, kw_only=True):
    """What must be in the claims."""

    issuer: str
    client_id: str
    nonce: str


def check_claims(claims: dict[str, Any], expected: Expected, now: datetime) -> str | None:
    """What is wrong with claims whose signature is right; None: they are for us, and for now."""
    if claims.get("iss") != expected.issuer:
        return "the token is from another issuer"
    if not _is_audience(claims, expected.client_id):
        return "the token is for somebody else"
    nonce = claims.get("nonce")
    if not isinstance(nonce, str) or not compare_digest(nonce.encode(), expected.nonce.encode()):
        return "the token belongs to another sign-in"
    if not isinstance(claims.get("sub"), str) or not claims["sub"]:
        return "the token names nobody"
    return _time_problem(claims, now.timestamp())


def _is_audience(claims: dict[str, Any], client_id: str) -> bool:
    audience = claims.get("aud")
    several = audience if isinstance(audience, list) else [audience]
    party = claims.get("azp")
    if client_id not in several:
        return False
    return party == client_id if party is not None else len(several) == 1


def _time_problem(claims: dict[str, Any], now: float) -> str | None:
    expires, issued = claims.get("exp"), claims.get("iat")
    begins = claims.get("nbf", issued)
    if not (_is_time(expires) and _is_time(issued) and _is_time(begins)):
        return "the token does not say when it was made and how long it counts"
    if expires + LEEWAY <= now:
        return "the token has expired"
    if max(issued, begins) - LEEWAY > now:
        return "the token is of the future: set the clock of this machine or of the provider"
    return None


def _is_time(value: Any) -> TypeGuard[float]:
    """A number of seconds; what is no number (NaN) would be neither before nor after anything."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LATEST


def grant_of(claims: dict[str, Any], claim: str, grants: dict[str, Grant]) -> Grant | None:
    """The highest role that somebody has, for all workflows that it is granted for; None: no role at all."""
    found = [grants[value] for value in _values(claims, claim) if value in grants]
    if not found:
        return None
    role = max((grant.role for grant in found), key=_RANK.index)
    bounds = [grant.workflows for grant in found if grant.role == role]
    if any(bound is None for bound in bounds):
        return Grant(role)
    return Grant(role, tuple(dict.fromkeys(name for bound in bounds for name in bound or ())))


def name_of(claims: dict[str, Any], claim: str) -> str:
    """By what somebody is known here. An address that the provider has not verified could be anybody's."""
    found = _at(claims, claim)
    verified = claim != "email" or claims.get("email_verified", True) in (True, "true")
    if not isinstance(found, str) or not found or not verified:
        found = claims["sub"]
    return bounded_text(found)


def _values(claims: dict[str, Any], claim: str) -> list[str]:
    found = _at(claims, claim)
    several = found if isinstance(found, list) else [found]
    return [value for value in several if isinstance(value, str)]


def _at(claims: dict[str, Any], claim: str) -> Any:
    """The claim of that very name, or else where its dots lead."""
    if claim in claims:
        return claims[claim]
    found: Any = claims
    for part in claim.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found
