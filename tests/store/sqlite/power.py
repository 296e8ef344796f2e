"""A disk that can lose its power, or its room: only what was synced is sure to survive.

Unsynced writes survive by chance, sector by sector, as on a disk with a cache that is written in any order.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import count
from pathlib import Path

import apsw

SECTOR = 512
_names = count()


class Disk(apsw.VFS):
    """Writes go to real files; beside them it is noted what a power cut would leave."""

    def __init__(self, cut_at: int | None = None, room: int | None = None) -> None:
        self.name = f"penstock-disk-{next(_names)}"
        super().__init__(self.name, "")
        self.cut_at, self.room = cut_at, room
        self.operations, self.dead = 0, False
        self.failing, self.keeps_failed = (
            0,
            True,
        )  # so many syncs fail; whether what they drop can still be read
        self.durable: dict[str, bytearray] = {}
        self.pending: dict[str, list[Callable[[bytearray, random.Random, float], None]]] = {}
        self.sizes: dict[str, int] = {}

    def adopt(self, path: Path) -> None:
        """A file that was there before is durable."""
        self.durable[str(path)] = bytearray(path.read_bytes())

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return DiskFile(self, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        if self.tick():
            self.durable.pop(name, None)
            self.pending.pop(name, None)
            self.sizes.pop(name, None)
        super().xDelete(name, syncdir)

    def tick(self) -> bool:
        """Whether there is still power; the operation at which it goes raises, and is not done for sure."""
        if self.dead:
            return False
        self.operations += 1
        if self.operations == self.cut_at:
            self.dead = True
            raise apsw.IOError("the power is gone")
        return True

    def after_cut(self, chance: random.Random, folder: Path) -> None:
        """Write what is left into another folder, under the same names."""
        for name in self.durable.keys() | self.pending.keys():
            left = self.durable.get(name)
            survival = chance.choice([0.0, 0.5, 0.9, 1.0])
            if left is None and chance.random() > survival:
                continue  # the name itself was not yet in its folder
            image = bytearray(left or b"")
            for write in self.pending.get(name, ()):
                write(image, chance, survival)
            (folder / Path(name).name).write_bytes(image)


class DiskFile(apsw.VFSFile):
    """One file on the disk."""

    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self.disk = disk
        text = name.filename() if isinstance(name, apsw.URIFilename) else name
        self.name = text or ""
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        data = bytes(data)
        self._grow(offset + len(data))
        if not self.disk.dead:
            self.disk.pending.setdefault(self.name, []).append(_sectors(data, offset))
        self.disk.tick()
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        if not self.disk.dead:
            self.disk.pending.setdefault(self.name, []).append(_cut(newsize))
        self.disk.tick()
        self.disk.sizes[self.name] = newsize
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        if self.disk.failing:
            self.disk.failing -= 1
            self._fail()
        if self.disk.tick():
            image = self.disk.durable.setdefault(self.name, bytearray())
            for write in self.disk.pending.pop(self.name, ()):
                write(image, random.Random(0), 1.0)

    def _fail(self) -> None:
        """What was written since the last sync never reaches the disk; a cache may show it all the same."""
        self.disk.pending.pop(self.name, None)
        if not self.disk.keeps_failed:
            image = bytes(self.disk.durable.get(self.name, b""))
            super().xTruncate(len(image))
            for at in range(0, len(image), 1 << 16):  # SQLite takes less than 128 KiB in one call
                super().xWrite(image[at : at + (1 << 16)], at)
        raise apsw.IOError("the disk fails")

    def _grow(self, size: int) -> None:
        self.disk.sizes[self.name] = max(size, self.disk.sizes.get(self.name, 0))
        if self.disk.room is not None and sum(self.disk.sizes.values()) > self.disk.room:
            raise apsw.FullError("the disk is full")


def _sectors(data: bytes, offset: int) -> Callable[[bytearray, random.Random, float], None]:
    def write(image: bytearray, chance: random.Random, survival: float) -> None:
        at = 0
        while at < len(data):
            size = min(SECTOR - (offset + at) % SECTOR, len(data) - at)
            if chance.random() < survival:
                end = offset + at + size
                image.extend(bytes(max(0, end - len(image))))
                image[offset + at : end] = data[at : at + size]
            at += size

    return write


def _cut(size: int) -> Callable[[bytearray, random.Random, float], None]:
    def write(image: bytearray, chance: random.Random, survival: float) -> None:
        if chance.random() < survival:
            del image[size:]

    return write
