"""A folder as a bucket: files are objects; their tags and metadata lie under `.penstock/`, never among them."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from mimetypes import guess_type
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from penstock.objects.errors import ObjectGone, ObjectRefused, ObjectStoreAway
from penstock.objects.protocol import MAX_KEY, Access, Listed, Object, moment_text
from penstock.objects.tags import validate_metadata, validate_tags

METADATA_FOLDER = ".penstock"
PAGE = 1000
T = TypeVar("T")


class Side(Struct, frozen=True):
    """What is kept beside a file; it counts as long as the file is the one that it was written for."""

    key: str
    etag: str
    tags: dict[str, str] = {}
    metadata: dict[str, str] = {}


class FolderStore:
    """One folder. Links are not followed, and no key leads out of it."""

    def __init__(self, name: str, path: str) -> None:
        self.name, self.bucket, self.path = name, name, path
        self.unreadable: set[str] = set()
        """Names that are no text or too long, and closed folders, as the last walk through all of it found them."""

    async def head(self, key: str, version: str | None = None, *, tags: bool = True) -> Object:
        return await self._do(lambda: self._head(key))

    async def pages(self, prefix: str = "", after: str = "") -> AsyncIterator[list[Listed]]:
        await self.check()
        if not prefix and not after:
            self.unreadable = set()
        walk = self._walk(self.path, "", prefix, after)

        def page() -> list[Listed]:
            return [each for _, each in zip(range(PAGE), walk, strict=False)]

        while found := await self._do(page):
            yield found

    async def put_tags(self, key: str, tags: Mapping[str, str], version: str | None = None) -> None:
        validate_tags(tags)
        await self._do(lambda: self._keep(key, tags=dict(tags)))

    async def put_metadata(self, found: Object, metadata: Mapping[str, str]) -> Object:
        validate_metadata(metadata)
        await self._do(lambda: self._keep(found.key, found.etag, metadata=dict(metadata)))
        return await self.head(found.key)

    def now(self) -> None:
        """What lies beside a file does not change it."""

    async def presign(self, key: str, access: Access, expires: timedelta, version: str | None = None) -> str:
        raise ObjectRefused(
            f"the store '{self.name}' is a folder, which has no addresses: "
            "let the function read the file, or use an s3:// store"
        )

    async def check(self) -> None:
        await self._do(self._check)

    async def close(self) -> None:
        """Nothing is open."""

    def why_unread(self) -> str | None:
        """What is wrong with names in it, in a sentence."""
        if not self.unreadable:
            return None
        many = f"{len(self.unreadable)}{' or more' if len(self.unreadable) >= PAGE else ''} names"
        what = "One name" if len(self.unreadable) == 1 else many
        return (
            f"{what} in the folder of store '{self.name}' cannot be read and start nothing, such as "
            f"'{min(self.unreadable)[:200]}': no UTF-8, longer than {MAX_KEY} bytes, or closed to us"
        )

    # -- files ---------------------------------------------------------------------------------------------

    async def _do(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise ObjectStoreAway(self.name, f"{why} ({error.filename or self.path})") from None

    def _check(self) -> None:
        if not os.path.isdir(self.path):
            raise ObjectStoreAway(
                self.name, f"there is no folder {self.path}: make it, or correct the address"
            )
        os.scandir(self.path).close()

    def _head(self, key: str) -> Object:
        status = self._status(key)
        found, etag = self._side(key), etag_of(status)
        side = found if found is not None and found.etag == etag else Side(key, etag)
        kind, encoding = guess_type(key)
        system: dict[str, Any] = {
            "store": self.name,
            "content_type": kind or "application/octet-stream",
            "last_modified": moment_text(_changed_at(status)),
        }
        if encoding:
            system["content_encoding"] = encoding
        return Object(
            bucket=self.bucket,
            key=key,
            size=status.st_size,
            etag=etag,
            metadata=side.metadata,
            tags=side.tags,
            system=system,
        )

    def _status(self, key: str) -> os.stat_result:
        """Raises ObjectGone also where the way to the file leads over a link, or is none."""
        names = key.split("/")
        if not is_key(key):
            raise ObjectGone(self.bucket, key)
        path = self.path
        for number, name in enumerate(names):
            path = os.path.join(path, name)
            try:
                status = os.lstat(path)
            except OSError as error:
                if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
                    self._check()  # or else the folder itself is not there
                    raise ObjectGone(self.bucket, key) from None
                if error.errno == errno.EACCES and number:
                    self._check()
                    raise ObjectRefused(f"the folder of {self.bucket}/{key} is closed to us") from None
                raise
            wanted = stat.S_ISREG if number == len(names) - 1 else stat.S_ISDIR
            if not wanted(status.st_mode):
                raise ObjectGone(self.bucket, key)
        return status

    def _walk(self, folder: str, above: str, prefix: str, after: str) -> Iterator[Listed]:
        """Files in the order of their keys' bytes: a folder sorts as its name and a slash."""
        entries: list[tuple[bytes, str, bool]] = []
        try:
            with os.scandir(folder) as found:
                for each in found:
                    here = each.is_dir(follow_symlinks=False)
                    key = above + each.name + ("/" if here else "")
                    if not is_text(each.name) or len(os.fsencode(key)) > MAX_KEY:
                        self._note_unreadable(key)
                    if _wanted(key, here, prefix, after):
                        entries.append((os.fsencode(key), each.name, here))
        except FileNotFoundError:
            return
        except PermissionError:
            if folder == self.path:
                raise
            self._note_unreadable(above)  # as lost+found: the other folders are there
            return
        for raw, name, here in sorted(entries):
            path = os.path.join(folder, name)
            if here:
                yield from self._walk(path, os.fsdecode(raw), prefix, after)
            elif (listed := self._listed(path, os.fsdecode(raw))) is not None:
                yield listed

    def _listed(self, path: str, key: str) -> Listed | None:
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return None
        except PermissionError:
            self._note_unreadable(
                f"{key.rpartition('/')[0]}/"
            )  # its names can be read, and nothing else of it
            return None
        if not stat.S_ISREG(status.st_mode) or not is_key(key):
            return None
        return Listed(key, status.st_size, etag_of(status), _changed_at(status))

    def _note_unreadable(self, key: str) -> None:
        if len(self.unreadable) < PAGE:
            self.unreadable.add(os.fsencode(key).decode("utf-8", "backslashreplace"))

    # -- what lies beside ----------------------------------------------------------------------------------

    def _beside(self, key: str) -> Path:
        digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
        return Path(self.path, METADATA_FOLDER, "objects", digest[:2], f"{digest}.json")

    def _side(self, key: str) -> Side | None:
        try:
            found = msgspec.json.decode(self._beside(key).read_bytes(), type=Side)
        except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError):
            return None
        return found if found.key == key else None

    def _keep(self, key: str, etag: str | None = None, **changed: dict[str, str]) -> None:
        now = etag_of(self._status(key))
        if etag is not None and etag != now:
            raise ObjectRefused(f"{self.bucket}/{key} was replaced by somebody else meanwhile")
        found = self._side(key)
        side = found if found is not None and found.etag == now else Side(key, now)
        self._reject_links(self._beside(key))
        write_whole(self._beside(key), msgspec.json.encode(msgspec.structs.replace(side, **changed)))

    def _reject_links(self, beside: Path) -> None:
        for place in takewhile(lambda each: each != Path(self.path), beside.parents):
            if place.is_symlink():
                inside = place.relative_to(self.path)
                raise ObjectStoreAway(self.name, f"{inside} in it is a link, and would lead out: remove it")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: who reads it meanwhile sees the one before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def etag_of(status: os.stat_result) -> str:
    """What changes whenever the content of a file does."""
    return f"{status.st_mtime_ns:x}-{status.st_size:x}-{status.st_ino:x}"


def is_key(key: str) -> bool:
    """Whether it names a file inside a folder, and none that is ours."""
    names = key.split("/")
    plain = all(name not in ("", ".", "..") for name in names) and "\0" not in key
    return plain and names[0] != METADATA_FOLDER and len(key.encode("utf-8", "surrogateescape")) <= MAX_KEY


def _wanted(key: str, folder: bool, prefix: str, after: str) -> bool:
    if key == f"{METADATA_FOLDER}/" or not is_text(key):
        return False
    if folder:
        after_it = os.fsencode(key) > os.fsencode(after) or after.startswith(key)
        return (key.startswith(prefix) or prefix.startswith(key)) and after_it
    return key.startswith(prefix) and os.fsencode(key) > os.fsencode(after)


def is_text(key: str) -> bool:
    """A name that is no UTF-8 cannot be the subject of a run."""
    return key.isascii() or not any("\ud800" <= each <= "\udfff" for each in key)


def _changed_at(status: os.stat_result) -> datetime:
    """When a file was changed; a time that no calendar has is told as the nearest that one has."""
    try:
        return datetime.fromtimestamp(status.st_mtime, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.max.replace(tzinfo=UTC) if status.st_mtime > 0 else datetime(1970, 1, 1, tzinfo=UTC)
