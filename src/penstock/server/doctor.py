"""The checks of `penstock doctor`: each gives one finding: fine, worth knowing, or wrong."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from msgspec import Struct

from penstock.flow.compile.compile import BOXES
from penstock.flow.errors import PenstockError
from penstock.objects.stores import Stores
from penstock.remote.engine import RemoteEngine
from penstock.remote.errors import NoServer
from penstock.secrets.errors import SecretKeyError
from penstock.secrets.keys import Keys
from penstock.secrets.vault import sealed_with
from penstock.server.build import Front, has_tokens, require_sign_in
from penstock.server.http import PortTaken, bind
from penstock.server.settings import Settings, unknown_variables
from penstock.store.address_redaction import without_password
from penstock.store.errors import NeedsMigration
from penstock.store.open import Looker, is_shared, open_store, open_to_look, sqlite_path
from penstock.topics.buses import open_bus

CHECK_TIMEOUT = 10.0
SKEW = timedelta(seconds=5)
"""Clocks that differ by more than this make times hard to read; leases are kept by the database's clock alone."""
LITTLE, LEAST = 1 << 30, 200 << 20
"""Bytes of disk below which it is worth knowing, and below which it is wrong."""

State = Literal["fine", "note", "wrong"]


class Finding(Struct, frozen=True):
    """One thing that was looked at."""

    about: str
    state: State
    text: str


Look = Callable[[], Awaitable[list[Finding]]]


async def examine(settings: Settings, variables: Mapping[str, str]) -> list[Finding]:
    """Look at everything; what cannot be looked at is a finding, never an error."""
    looks: dict[str, Look] = {
        "sign-in": lambda: _sign_in(settings),
        "database": lambda: _database(settings["db"]),
        "stores": lambda: _stores(settings["stores"]),
        "buses": lambda: _buses(settings["buses"]),
        "disk": lambda: _disk(settings["db"]),
        "server": lambda: _server(settings["server"], settings["token"]),
    }
    found = list(_settings(settings, variables))
    for about, look in looks.items():
        found += await _looked(about, look)
    return [*found, *_port(settings, found)]


async def _looked(about: str, look: Look) -> list[Finding]:
    try:
        async with asyncio.timeout(CHECK_TIMEOUT):
            return await look()
    except TimeoutError:
        return [Finding(about, "wrong", f"it did not answer within {CHECK_TIMEOUT:g}s")]
    except (PenstockError, OSError) as error:
        return [Finding(about, "wrong", str(error))]


def _settings(settings: Settings, variables: Mapping[str, str]) -> Iterator[Finding]:
    for sentence in unknown_variables(variables):
        yield Finding("settings", "wrong", sentence)
    for name, value in settings.values.items():
        if value.origin != "default" and not value.setting.used:
            yield Finding("settings", "note", f"{name} is set ({value.origin}), and nothing uses it yet")


async def _sign_in(settings: Settings) -> list[Finding]:
    front = Front(settings["host"], settings["port"], settings["token"], settings["oidc"])
    require_sign_in(front, not front.local and front.token is None and await has_tokens(settings["db"]))
    if front.open:
        return [Finding("sign-in", "fine", f"{front.host} is this machine alone: nobody needs to sign in")]
    return [Finding("sign-in", "fine", f"who asks {front.host} must sign in, and can")]


async def _database(db: str) -> list[Finding]:
    shown = without_password(db)
    if not is_shared(db) and not os.path.exists(sqlite_path(db)[0]):
        return [Finding("database", "note", f"{shown} does not exist yet: `penstock up` makes it"), *_key(db)]
    try:
        looker = await open_to_look(db)
    except NeedsMigration as error:
        return [Finding("database", "note", f"{error}, or start a process on it"), *_key(db)]
    try:
        facts, secrets = await looker.facts(), await _secrets(looker, db)
    finally:
        await looker.close()
    size = facts.get("bytes", sum(facts.get("tables", {}).values())) / (1 << 20)
    found = [Finding("database", "fine", f"{shown} answers: schema {facts['schema']}, {size:,.1f} MiB")]
    return [*found, *_trust(facts), *(await _database_clock(db) if is_shared(db) else []), secrets]


async def _secrets(looker: Looker, db: str) -> Finding:
    """Whether the key of this node opens the secrets."""
    keys = Keys.of(db)
    try:
        sealed = await sealed_with(looker, keys)
    except SecretKeyError as error:
        return Finding("secrets", "wrong", str(error))
    return Finding(
        "secrets", "fine", f"they open with the key of this node ({keys.where})" if sealed else "none is set"
    )


def _key(db: str) -> Iterator[Finding]:
    """Whether the key of this node is one, where no secret can say so yet."""
    keys = Keys.of(db)
    try:
        if keys.exist:
            keys.keyring()
    except SecretKeyError as error:
        yield Finding("secrets", "wrong", str(error))


def _trust(facts: Mapping[str, Any]) -> Iterator[Finding]:
    """Whether the database keeps what it says it keeps."""
    for name in ("fsync", "full_page_writes", "synchronous_commit"):
        if facts.get(name) in ("off", False):
            text = f"{name} is off: what is answered as done may be lost in a crash; switch it on"
            yield Finding("database", "wrong", text)


async def _buses(urls: Mapping[str, str]) -> list[Finding]:
    """Whether each broker answers."""
    return await asyncio.gather(*(_bus(name, url) for name, url in urls.items()))


async def _bus(name: str, url: str) -> Finding:
    try:
        async with asyncio.timeout(CHECK_TIMEOUT - 1):
            return Finding("buses", "fine", f"{name} answers: {await open_bus(url).check()}")
    except TimeoutError:
        return Finding("buses", "wrong", f"{name}: it did not answer within {CHECK_TIMEOUT - 1:g}s")
    except PenstockError as error:
        return Finding("buses", "wrong", f"{name}: {error}")


async def _stores(stores: Mapping[str, str]) -> list[Finding]:
    """Whether each object store answers; keys that are secrets of the server are not known here."""
    kept = Stores(stores)
    try:
        looked = await kept.look()
    finally:
        await kept.close()
    return [
        Finding("stores", "fine", f"{each['name']} answers: bucket '{each['bucket']}'")
        if each["reachable"]
        else Finding("stores", "wrong", each["error"])
        for each in looked
    ]


async def _database_clock(db: str) -> list[Finding]:
    store = await open_store(db, migrate=False)
    try:
        return [_skew("the database", await store.now())]
    finally:
        await store.close()


def _skew(whose: str, theirs: datetime) -> Finding:
    away = abs(datetime.now(UTC) - theirs)
    if away > SKEW:
        text = f"the clock of {whose} and this one differ by {away.total_seconds():.0f}s: set one of them"
        return Finding("clock", "wrong", text)
    return Finding("clock", "fine", f"the clock of {whose} agrees with this one")


async def _disk(db: str) -> list[Finding]:
    if is_shared(db):
        return []
    folder = os.path.dirname(os.path.abspath(sqlite_path(db)[0]))
    free = shutil.disk_usage(folder).free
    state: State = "wrong" if free < LEAST else "note" if free < LITTLE else "fine"
    return [Finding("disk", state, f"{free / (1 << 30):,.1f} GiB are free in {folder}")]


async def _server(url: str, token: str | None) -> list[Finding]:
    async with RemoteEngine(url, token) as engine:
        try:
            _, headers = await engine.connection.answer("GET", "/ready")
        except NoServer as error:
            return [Finding("server", "note", str(error))]
        found = [Finding("server", "fine", f"{url} answers and is ready")]
        if date := headers.get("date"):
            found.append(_skew("the server", parsedate_to_datetime(date)))
        return [*found, *_workers(await engine.queues(), await engine.workers())]


def _workers(queues: list[dict[str, Any]], workers: list[dict[str, Any]]) -> Iterator[Finding]:
    """Task lists that nobody serves keep their runs waiting for ever."""
    served = {name for worker in workers for name in worker["task_lists"]}
    names = ", ".join(sorted(worker["name"] for worker in workers))
    yield Finding("workers", "fine" if workers else "note", f"{len(workers)} there{names and f': {names}'}")
    for queue in queues:
        if queue["task_list"] not in (*served, BOXES) and queue["ready"]:  # every server serves its own
            text = f"no worker serves task list '{queue['task_list']}' ({queue['ready']} waiting)"
            yield Finding("workers", "wrong", text)


def _port(settings: Settings, found: list[Finding]) -> Iterator[Finding]:
    host, port = settings["host"], settings["port"]
    if any(each.about == "server" and each.state == "fine" for each in found):
        return
    try:
        bind(host, port).close()
    except PortTaken as error:
        yield Finding("port", "wrong", str(error))
    else:
        yield Finding("port", "fine", f"{host}:{port} is free for `penstock up`")
