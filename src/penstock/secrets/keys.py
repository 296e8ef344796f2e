"""Keys: each secret is sealed with a key of its own, and that with the key of the installation.

The key is the file `penstock.key`, or the variable PENSTOCK_SECRET_KEY: 32 bytes in base64. There may be several, a
line each (in the variable with commas between); the first seals, all open. A sealed secret names its key, and is bound
to its own name: it cannot be put in the place of another. Every node of an installation needs the same keys.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
import secrets
import stat
from collections.abc import Container, Sequence
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from penstock.secrets.errors import DamagedSecret, KeysElsewhere, SecretKeyError
from penstock.store.open import is_shared, sqlite_path
from penstock.store.sql.backup_files import sync_folder

VARIABLE = "PENSTOCK_SECRET_KEY"
FILE = "penstock.key"
_KEY, _NONCE, _TAG = 32, 12, 16
_WRAPPED = _NONCE + _KEY + _TAG
_FORM = b"\x01"


def key_id(key: bytes) -> str:
    """By what a key is told from others; it tells nothing of the key."""
    return sha256(b"penstock key\0" + key).hexdigest()[:12]


class Keyring:
    """Keys: the first seals where none is in use, all open."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        self._keys = {key_id(key): key for key in keys}
        self.ids = tuple(self._keys)
        self.current = self.ids[0]

    def seal(self, name: str, value: str, used: Container[str] = ()) -> tuple[str, bytes]:
        """The id of the key, and the sealed value. Of keys that are `used` already, the first that is here seals."""
        key = next((each for each in self.ids if each in used), self.current)
        inner = secrets.token_bytes(_KEY)
        wrapped = _lock(self._keys[key], _bound(name, "key"), inner)
        return key, _FORM + wrapped + _lock(inner, _bound(name, "value"), value.encode())

    def unseal(self, name: str, key: str, sealed: bytes) -> str:
        """The value. Raises SecretKeyError where the key is not there, or the row is not what was sealed."""
        inner = self._inner(name, key, sealed)
        return _unlock(inner, _bound(name, "value"), sealed[1 + _WRAPPED :], name).decode()

    def reseal(self, name: str, key: str, sealed: bytes) -> tuple[str, bytes]:
        """The same value under the first key. Raises SecretKeyError."""
        inner = self._inner(name, key, sealed)
        wrapped = _lock(self._keys[self.current], _bound(name, "key"), inner)
        return self.current, _FORM + wrapped + sealed[1 + _WRAPPED :]

    def _inner(self, name: str, key: str, sealed: bytes) -> bytes:
        if key not in self._keys:
            raise SecretKeyError(
                f"the secret '{name}' is sealed with the key {key}, which is not here: "
                f"bring back its {FILE}, or remove the secret and set it again"
            )
        if sealed[:1] != _FORM:
            raise SecretKeyError(f"the secret '{name}' is sealed in a way that this Penstock does not know")
        return _unlock(self._keys[key], _bound(name, "key"), sealed[1 : 1 + _WRAPPED], name)


def _bound(name: str, what: str) -> bytes:
    return f"penstock secret {what}\0{name}".encode()


def _lock(key: bytes, bound: bytes, plain: bytes) -> bytes:
    nonce = secrets.token_bytes(_NONCE)
    return nonce + AESGCM(key).encrypt(nonce, plain, bound)


def _unlock(key: bytes, bound: bytes, sealed: bytes, name: str) -> bytes:
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE], sealed[_NONCE:], bound)
    except (InvalidTag, ValueError):
        raise DamagedSecret(name) from None


class Keys:
    """Where the keys are: a variable, or else a file that is made when the first secret is sealed."""

    def __init__(self, path: Path, variable: str | None = None, shared: bool = False) -> None:
        """`shared`: other nodes may need the same keys."""
        self.path, self._variable, self.shared = path, variable, shared

    @classmethod
    def of(cls, db: str) -> Keys:
        """Those of a database: of the environment, else in a file beside a SQLite database or in this folder."""
        shared = is_shared(db)
        beside = Path() if shared or db in ("memory:", ":memory:") else Path(sqlite_path(db)[0]).parent
        return cls(beside / FILE, os.environ.get(VARIABLE), shared)

    @property
    def exist(self) -> bool:
        """Whether there is a key at all, good or bad."""
        return self._variable is not None or os.path.lexists(self.path)

    @property
    def in_file(self) -> bool:
        """Whether they are in the file, not in the variable."""
        return self._variable is None

    @property
    def where(self) -> str:
        """Where the keys come from, for people."""
        return VARIABLE if self._variable is not None else f"the file '{self.path}'"

    def keyring(self, make: bool = False) -> Keyring:
        """The keys as they are now. Raises SecretKeyError; with `make` a key is made where there is none."""
        if self._variable is not None:
            return Keyring(_read(self._variable.replace(",", "\n"), VARIABLE))
        if make and not self.path.exists():
            with contextlib.suppress(FileExistsError):  # another process was faster: its key counts
                _write_new(self.path, [secrets.token_bytes(_KEY)])
        return Keyring(self._from_file())

    def add(self) -> Keyring:
        """A new key before all others, which stay: rows and backups that they sealed can still be opened.

        Raises KeysElsewhere where only a person can do that: in a variable, or on several nodes.
        """
        if self.shared or self._variable is not None:
            where = f"line of {FILE}" if self.in_file else f"key in {VARIABLE}, after a comma,"
            raise KeysElsewhere(
                f"a new key must be on every node before it seals anything: add one as the last {where} on every node, "
                "then move it to the front on every node, then run `penstock secret rotate --reseal`"
            )
        keys = [secrets.token_bytes(_KEY), *(self._from_file() if self.path.exists() else ())]
        part = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
        _write_new(part, keys)
        os.replace(part, self.path)
        sync_folder(str(self.path))
        return Keyring(keys)

    def discard(self, only: str) -> None:
        """Remove the file again where it has no other key than this one, which has sealed nothing."""
        with contextlib.suppress(SecretKeyError):  # somebody else was faster
            if self.in_file and self.keyring().ids == (only,):
                self.path.unlink(missing_ok=True)

    def _from_file(self) -> list[bytes]:
        try:
            mode = self.path.stat().st_mode
            text = self.path.read_text(encoding="ascii")
        except (OSError, ValueError) as error:
            raise SecretKeyError(
                f"the key file '{self.path}' cannot be read ({error}): bring it back"
            ) from error
        if stat.S_IMODE(mode) & 0o077:
            raise SecretKeyError(
                f"the key file '{self.path}' can be read by others: run `chmod 600 {self.path}`"
            )
        return _read(text, f"the key file '{self.path}'")


def _read(text: str, where: str) -> list[bytes]:
    try:
        keys = [base64.b64decode(line, validate=True) for line in text.split()]
    except (binascii.Error, ValueError):
        keys = []
    if not keys or any(len(key) != _KEY for key in keys):
        raise SecretKeyError(
            f"{where} is no key: it takes 32 bytes in base64, such as `openssl rand -base64 32`"
        )
    return keys


def _write_new(path: Path, keys: Sequence[bytes]) -> None:
    """There whole, or not at all; raises FileExistsError, and SecretKeyError where it cannot be written."""
    try:
        _write_whole(path, keys)
    except FileExistsError:
        raise
    except OSError as error:
        raise SecretKeyError(
            f"the key file '{path}' cannot be written ({error.strerror}): start Penstock in a folder that it may write "
            f"to, or set {VARIABLE}"
        ) from error


def _write_whole(path: Path, keys: Sequence[bytes]) -> None:
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(file, "wb") as out:
            out.writelines(base64.b64encode(key) + b"\n" for key in keys)
            out.flush()
            os.fsync(out.fileno())
        os.link(part, path)
        sync_folder(str(path))  # or a power cut could take the key, and leave what it sealed
    finally:
        part.unlink()
