"""The vault: secrets sealed in the store, opened with the keys of this node, and redacted from what is written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Protocol

from penstock.runtime.dispatch.redaction import Redact, withhold
from penstock.secrets.errors import DamagedSecret, SecretKeyError, UnknownSecret
from penstock.secrets.keys import VARIABLE, Keyring, Keys
from penstock.secrets.redaction import Redactor
from penstock.store.protocol import Secrets
from penstock.store.rows.access import AuditRow, SecretRow

PAGE = 200
"""Secrets that are read at a time."""

ASKING_TIMEOUT = 30.0
"""Seconds that a thread waits for the current set of secrets."""

log = logging.getLogger("penstock.secrets")


class Sealed(Protocol):
    """What it takes to look whether the keys fit; see `store.protocol.Secrets`."""

    async def secret_keys(self) -> dict[str, str]: ...


async def sealed_with(store: Sealed, keys: Keys) -> dict[str, str]:
    """What is sealed, by key. Raises SecretKeyError where one of them is missing here, or what is here is no key."""
    sealed = await store.secret_keys()
    if missing := sealed.keys() - (keys.keyring().ids if keys.exist else ()):
        raise _foreign(missing, keys)
    return sealed


def _foreign(missing: Iterable[str], keys: Keys) -> SecretKeyError:
    here = f"has {' and '.join(keys.keyring().ids)}" if keys.exist else "has none"
    where = (
        f"the lines of its key file to '{keys.path}'" if keys.in_file else f"it to {VARIABLE}, after a comma"
    )
    return SecretKeyError(
        f"secrets of this database are sealed with the key {' and '.join(sorted(missing))}, and this node {here} "
        f"({keys.where}): get that key from the node that set them and add {where}; "
        "if it is lost, remove each secret that `penstock secret list --db URL` shows for it with "
        "`penstock secret rm NAME --db URL`"
    )


class Vault:
    """One installation has one ring of keys, the same on every node. `redactor` knows all values that were seen."""

    def __init__(self, store: Secrets, keys: Keys) -> None:
        self._store, self._keys = store, keys
        self.redactor = Redactor()
        self._known: dict[str, str] = {}  # what `secret_keys` answered when the redactor learned last
        self._opened: dict[str, tuple[int, datetime]] = {}  # version of each secret that it learned
        self._learning = asyncio.Lock()
        self._locked = ""  # what was logged last of a missing key

    # -- values --------------------------------------------------------------------------------------------

    async def put(self, name: str, value: str, audit: Callable[[bytes], AuditRow]) -> SecretRow:
        """Seal and store the next version of a secret; `audit` is given what was sealed. Raises SecretKeyError."""
        self.redactor.learn([value])
        while True:
            made = not self._keys.exist
            used = await sealed_with(self._store, self._keys)
            keyring = self._keys.keyring(make=True)
            key_id, sealed = keyring.seal(name, value, used)
            row = await self._store.put_secret(name, key_id, sealed, keyring.ids, audit(sealed))
            if row is not None:
                return row
            # The first secret was set meanwhile, with a key that is here, and the next try uses it, or with one that is
            # not, and the next try says so.
            if made and key_id not in await self._store.secret_keys():
                self._keys.discard(key_id)

    async def resolve(self, names: Sequence[str]) -> dict[str, str]:
        """Values, for the dispatch of a task and nothing else. Raises UnknownSecret, SecretKeyError."""
        if not names:
            return {}
        rows = {row.name: row for row in await self._store.secrets(names)}
        for name in names:
            if name not in rows:  # before the keys: where no secret was ever set there are none
                raise UnknownSecret(name)
        keyring = self._keys.keyring()
        values = {name: keyring.unseal(name, rows[name].key_id, rows[name].sealed) for name in names}
        self.redactor.learn(values.values())
        return values

    async def secret(self, name: str) -> str | None:
        """The value of one secret, for a check that happens here; None: there is none. Raises SecretKeyError."""
        try:
            return (await self.resolve([name]))[name]
        except UnknownSecret:
            return None

    # -- keys ----------------------------------------------------------------------------------------------

    async def check(self) -> None:
        """Raises SecretKeyError where a key is missing here; otherwise the redactor knows every secret afterwards."""
        if await sealed_with(self._store, self._keys) != self._known:
            async with self._learning:  # others may have learned the same meanwhile
                sealed = await sealed_with(self._store, self._keys)
                if sealed != self._known:
                    await self._learn()
                    self._known = sealed

    async def keyring_for_sealing(self) -> Keyring:
        """The keys, made where no secret was ever set. Raises SecretKeyError where secrets have another key."""
        await sealed_with(self._store, self._keys)
        return self._keys.keyring(make=True)

    def add_key(self) -> Keyring:
        """A new key before all others. Raises SecretKeyError, KeysElsewhere."""
        return self._keys.add()

    async def reseal(self, keyring: Keyring | None = None) -> int:
        """Seal with the first key all that is sealed with another; how many. Raises SecretKeyError."""
        keyring = keyring or self._keys.keyring()
        total = 0
        # Until none is left: others may have set one meanwhile, with a key that was still in use.
        while done := await self._reseal_once(keyring):
            total += done
        return total

    async def _reseal_once(self, keyring: Keyring) -> int:
        after, done = "", 0
        while page := await self._store.secrets(after=after, limit=PAGE):
            after = page[-1].name
            for row in page:
                if row.key_id != keyring.current:
                    key_id, sealed = keyring.reseal(row.name, row.key_id, row.sealed)
                    new = await self._store.put_secret(row.name, key_id, sealed, was=row.sealed)
                    done += new is not None
        return done

    # -- redaction -----------------------------------------------------------------------------------------

    async def redaction(self) -> Redact:
        """Takes secrets out of a JSON value: those that are set at this moment, on whichever node they were.

        A task knows a secret only after it was set, so asking before writing the task's words misses none. If
        some cannot be opened here, the words are withheld: runs must still end.
        """
        try:
            await self.check()
        except SecretKeyError as error:
            if str(error) != self._locked:
                self._locked = str(error)
                log.error("what tasks say is withheld: %s", error)
            return withhold
        self._locked = ""
        return self.redactor.redact_value

    def redaction_in_threads(self) -> Redact:
        """The same for another thread, which asks again for each value: secrets may be set while a call runs."""
        loop = asyncio.get_running_loop()

        def redact(value: Any) -> Any:
            asking = self.redaction()
            try:
                found = asyncio.run_coroutine_threadsafe(asking, loop).result(ASKING_TIMEOUT)
            except (RuntimeError, TimeoutError):  # the loop ends, and no caller is left
                asking.close()
                return withhold(value)
            return found(value)

        return redact

    async def _learn(self) -> None:
        """A pass counts only if it is complete: an interrupted one is repeated."""
        after, values = "", list[str]()
        opened: dict[str, tuple[int, datetime]] = {}
        while page := await self._store.secrets(after=after, limit=PAGE):
            after, keyring = page[-1].name, self._keys.keyring()
            for row in page:
                version = (row.version, row.updated_at)
                if self._opened.get(row.name) != version:
                    values += _value(keyring, row)
                opened[row.name] = version
        self.redactor.learn(values)
        self._opened = opened


def _value(keyring: Keyring, row: SecretRow) -> list[str]:
    """The value; none where the row is damaged, for then nobody can use it. Raises SecretKeyError for a missing key."""
    try:
        return [keyring.unseal(row.name, row.key_id, row.sealed)]
    except DamagedSecret as error:
        log.warning("%s", error)
        return []
