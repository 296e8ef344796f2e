"""Tokens: `ps_<kind>_<id>_<secret><crc>`, shown once, stored as a digest; and the owner of the token of a call.

The checksum comes first: a mistyped or cut token is told from a wrong one without asking the store, and scanners that
look for leaked ones find few that are not.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from typing import Literal
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

from penstock.access.caller import Caller
from penstock.access.errors import InvalidAccess, Unauthenticated
from penstock.access.roles import ROLES, Role, role_named
from penstock.store.errors import StoreError
from penstock.store.protocol import AccessStore
from penstock.store.rows.access import AccessToken, AccessTokenRow

DEFAULT_LIFE = timedelta(days=90)
DEFAULT_LISTS = ("default",)
MAX_LIFETIME = timedelta(days=3650)
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET, _CHECK, _TIME, _RANDOM = 43, 6, 6, 6
_TOKEN = re.compile(
    rf"ps_({'|'.join(ROLES)})_([0-9A-Za-z]{{{_TIME + _RANDOM}}})_([0-9A-Za-z]{{{_SECRET}}})([0-9A-Za-z]{{{_CHECK}}})"
)
_PATTERN = re.compile(r"[A-Za-z0-9_.*-]{1,128}")
_NAME = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,100}")
_NOBODY = bytes(32)


class TokenRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token as it is asked for. `expires_in` are days, or `never`; `workflows` None: all."""

    name: str
    role: Role
    expires_in: int | Literal["never"] = DEFAULT_LIFE.days
    workflows: tuple[str, ...] | None = None
    task_lists: tuple[str, ...] | None = None  # of a worker; None: `default` alone, `*` is all
    concurrency: int | None = None  # of a worker: tasks that it may hold at once


class Presented(Struct, frozen=True):
    """A token that somebody sent, well-formed; whether it counts is not known yet."""

    role: str
    id: str
    digest: bytes


def _problem(request: TokenRequest) -> str | None:
    if not _NAME.fullmatch(request.name) or not request.name.strip():
        return "the 'name' of a token is 1 to 100 characters that can be seen: say who or what will use it"
    if request.role not in ROLES:
        return f"'{request.role}' is no role: use {', '.join(ROLES[:-1])} or {ROLES[-1]}"
    if request.expires_in != "never" and not 1 <= request.expires_in <= MAX_LIFETIME.days:
        return f"'expires_in' is {request.expires_in}: use 1 to {MAX_LIFETIME.days} days, or never"
    if request.role == "admin" and request.workflows is not None:
        return "an admin cannot be bound to 'workflows': make it an author, or leave them out"
    if request.role == "worker" and request.workflows is not None:
        return "a worker is bound to 'task_lists', not to 'workflows': leave them out"
    if request.role != "worker" and (request.task_lists is not None or request.concurrency is not None):
        return "'task_lists' and 'concurrency' are for workers: leave them out, or use the role worker"
    if request.concurrency is not None and not 1 <= request.concurrency <= 100_000:
        return f"'concurrency' is {request.concurrency}: use 1 to 100000"
    return _scope_problem("workflows", request.workflows) or _scope_problem("task_lists", request.task_lists)


def _scope_problem(field: str, patterns: Sequence[str] | None) -> str | None:
    if patterns is None:
        return None
    if not 1 <= len(patterns) <= 100:
        return f"'{field}' has {len(patterns)} entries: use 1 to 100, or leave it out for all"
    return wrong_pattern(field, patterns)


def wrong_pattern(field: str, patterns: Sequence[str]) -> str | None:
    """Why one of the patterns is none; None: all are."""
    wrong = next((pattern for pattern in patterns if not _PATTERN.fullmatch(pattern)), None)
    if wrong is not None:
        return f"'{wrong[:100]}' in '{field}' is no name: use letters, digits, _ . - and * for anything"
    return None


def make_token(request: TokenRequest, by: str, now: datetime) -> tuple[str, AccessToken]:
    """The text, to be shown once, and what is kept of it. Raises InvalidAccess."""
    problem = _problem(request)
    if problem is not None:
        raise InvalidAccess(problem)
    when = _base62(int(now.timestamp()), _TIME)
    id = when + "".join(secrets.choice(_DIGITS) for _ in range(_RANDOM))
    body = f"ps_{request.role}_{id}_{_base62(int.from_bytes(secrets.token_bytes(32)), _SECRET)}"
    text = body + _check(body)
    kept = AccessToken(
        id=id,
        role=request.role,
        name=request.name,
        digest=digest(text),
        workflows=request.workflows,
        # A worker is always bound: who wants it to serve everything says so.
        task_lists=request.task_lists or (DEFAULT_LISTS if request.role == "worker" else None),
        concurrency=request.concurrency,
        expires_at=None if request.expires_in == "never" else now + timedelta(days=request.expires_in),
        made_by=by,
    )
    return text, kept


def parse_token(text: str) -> Presented:
    """Raises Unauthenticated where it is no whole token: nobody needs to be asked about it."""
    found = _TOKEN.fullmatch(text) if text.isascii() else None
    if found is None:
        raise Unauthenticated("what was sent is no token of Penstock")
    if not compare_digest(_check(text[:-_CHECK]), found[4]):
        raise Unauthenticated("the token is mistyped or cut off")
    return Presented(found[1], found[2], digest(text))


def digest(text: str) -> bytes:
    """What is kept of a text that nobody can guess: no slow hash is needed for 256 bits of chance."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def admit(presented: Presented, row: AccessTokenRow | None) -> Caller:
    """Who it is. Raises Unauthenticated; it takes the same time whether or not there is such a token."""
    known = _NOBODY if row is None else row.token.digest
    right = compare_digest(known, presented.digest)
    if row is None or not right:
        raise Unauthenticated("the token is not known here")
    if row.state != "live":
        raise Unauthenticated(f"the token '{row.token.name}' is {row.state}")
    token = row.token
    return Caller(
        name=token.name,
        role=known_role(token.role),
        token_id=token.id,
        workflows=token.workflows,
        task_lists=token.task_lists,
        concurrency=token.concurrency,
    )


def known_role(name: str) -> Role:
    """A role as it was kept. Raises Unauthenticated where it is not known to this program."""
    role = role_named(name)
    if role is None:
        raise Unauthenticated(f"the role '{name}' is not known to this Penstock")
    return role


def _check(body: str) -> str:
    return _base62(crc32(body.encode()), _CHECK)


def _base62(number: int, length: int) -> str:
    """A number in `length` digits: they sort as the numbers do."""
    digits = []
    for _ in range(length):
        number, rest = divmod(number, 62)
        digits.append(_DIGITS[rest])
    return "".join(reversed(digits))


REMEMBERED = 1.0
"""Seconds: a token that was revoked on another node counts for so long here, and not longer."""
APART = timedelta(minutes=1)
"""How often the use of a token or session is written down."""
SHORTEST_OWN = 20
MAX_TOKENS = 10_000


class Admission:
    """Tokens of one store, and one of its own that is in the settings. `clock` counts seconds."""

    def __init__(self, store: AccessStore, own: str | None, clock: Callable[[], float]) -> None:
        if own is not None and len(own) < SHORTEST_OWN:
            raise InvalidAccess(
                f"the token in the settings has {len(own)} characters, {SHORTEST_OWN} at least: "
                "make one with `penstock access create`, or `openssl rand -hex 32`"
            )
        self._store, self._clock = store, clock
        self._own = None if own is None else digest(own)
        self._rows: dict[str, tuple[AccessTokenRow, float]] = {}
        self._noted: dict[str | bytes, float] = {}

    async def authenticate(self, text: str | None, ip: str | None = None) -> Caller:
        """Whose token it is, with where it came from. Raises Unauthenticated."""
        if text is None:
            raise Unauthenticated
        if self._own is not None and compare_digest(digest(text), self._own):
            return Caller(name="settings", role="admin", token_id=self._own_id, ip=ip)
        presented = parse_token(text)
        caller = admit(presented, await self._row(presented.id))
        await self.note_use(presented.id)
        return replace(caller, ip=ip)

    async def is_live(self, id: str) -> bool:
        """Whether a token that somebody signed in with still counts."""
        if id == self._own_id:
            return True
        row = await self._row(id)
        return row is not None and row.state == "live"

    def forget(self, id: str) -> None:
        """It was revoked here: from now on it does not count."""
        self._rows.pop(id, None)

    async def note_use(self, key: str | bytes) -> None:
        """Write down that a token, by its id, or a session is used; not again at once."""
        now = self._clock()
        if now - self._noted.get(key, -APART.total_seconds()) < APART.total_seconds():
            return
        if len(self._noted) >= MAX_TOKENS:
            self._noted.clear()
        self._noted[key] = now
        tokens, sessions = ([key], ()) if isinstance(key, str) else ((), [key])
        with contextlib.suppress(
            StoreError
        ):  # who may look must be able to, also where nothing can be written
            await self._store.note_use(APART, tokens=tokens, sessions=sessions)

    @property
    def _own_id(self) -> str | None:
        """It goes with the token: who changes the settings ends the sessions that were begun with the old one."""
        return None if self._own is None else f"settings-{self._own.hex()[:8]}"

    async def _row(self, id: str) -> AccessTokenRow | None:
        now = self._clock()
        row, until = self._rows.get(id, (None, 0.0))
        if row is not None and now < until:
            return row
        found = await self._store.access_tokens([id])
        if not found:
            return None  # not remembered: who tries ids must not fill the memory
        if len(self._rows) >= MAX_TOKENS:
            self._rows.clear()
        self._rows[id] = (found[0], now + REMEMBERED)
        return found[0]
