"""Ids of releases, tasks, services and the rest: two letters and eight of Crockford's base 32."""

from __future__ import annotations

import re
import secrets
from hashlib import blake2b

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
RELEASE, TASK, SERVICE, EVENT, NOTE, STUDY = "RE", "TA", "TS", "EV", "RN", "SD"
_ID = re.compile(r"[A-Z]{2}_[0-9A-Z]{1,32}")


def new_id(kind: str) -> str:
    """One that nobody has."""
    return f"{kind}_{''.join(secrets.choice(ALPHABET) for _ in range(8))}"


def derived_id(kind: str, *parts: object) -> str:
    """The same for the same parts: what is written twice is written once."""
    digest = blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return f"{kind}_{''.join(ALPHABET[byte % 32] for byte in digest)}"


def id_in(address: str) -> str:
    """The id at the end of an address; an id alone is itself."""
    return address.rstrip("/").rpartition("/")[2]


def is_id(text: object) -> bool:
    """Whether a text could be one."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None
