"""Sessions of browsers: a random cookie, and a row that names its owner."""

from __future__ import annotations

import secrets
from datetime import timedelta

from penstock.access.caller import Caller
from penstock.access.tokens import digest, known_role
from penstock.store.rows.access import NewSession, SessionRow

IDLE = timedelta(hours=12)
MAX_SESSION = timedelta(days=7)
_BYTES = 32


def new_cookie() -> str:
    """A value that nobody can guess."""
    return secrets.token_urlsafe(_BYTES)


def session_of(caller: Caller, cookie: str) -> NewSession:
    """What is kept of somebody who signs in."""
    return NewSession(
        digest=digest(cookie),
        name=caller.name,
        role=caller.role,
        token_id=caller.token_id,
        workflows=caller.workflows,
        ip=caller.ip,
    )


def caller_of_session(row: SessionRow) -> Caller:
    """Who has the session. Raises Unauthenticated where its role is not known to this program."""
    session = row.session
    return Caller(
        name=session.name,
        role=known_role(session.role),
        token_id=session.token_id,
        workflows=session.workflows,
    )


def cookie_name(secure: bool) -> str:
    """`__Host-` makes the browser refuse one that another host or an open line has set."""
    return "__Host-penstock" if secure else "penstock"


def set_cookie(cookie: str, secure: bool) -> str:
    """The value of `Set-Cookie` for somebody who signs in; without `secure` only for loopback."""
    return _cookie(cookie, secure, int(MAX_SESSION.total_seconds()))


def clear_cookie(secure: bool) -> str:
    """The value of `Set-Cookie` for somebody who signs out."""
    return _cookie("", secure, 0)


def read_cookie(header: str | None, secure: bool) -> str | None:
    """Our cookie in the header `Cookie`; None where it is not there, or there twice: then one is forged."""
    if header is None:
        return None
    name = cookie_name(secure)
    pairs = (part.strip().partition("=") for part in header.split(";"))
    found = [value for key, _, value in pairs if key == name and value]
    return found[0] if len(found) == 1 else None


def _cookie(value: str, secure: bool, age: int) -> str:
    shut = "; Secure" if secure else ""
    return f"{cookie_name(secure)}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{shut}"
