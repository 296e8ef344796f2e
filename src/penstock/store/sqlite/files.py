"""The file itself: whether its disk is local, and that no other process has it."""

from __future__ import annotations

import fcntl
import os
import re
import weakref
from contextlib import suppress
from pathlib import Path

from penstock.store.errors import StoreBusy

PRIVATE = 0o600
_NETWORK = re.compile(
    "nfs4?|cifs|smb3|smbfs|ncpfs|9p|afs|ceph|glusterfs|lustre|gpfs|beegfs|pvfs2|orangefs|ocfs2|gfs2|davfs"
    r"|fuse\.(sshfs|s3fs|gcsfuse|glusterfs|rclone|ceph|juicefs|goofys|davfs2|moosefs|mfs|nfs)"
)


def is_network(kind: str) -> bool:
    """Whether a kind of file system lies on other machines: their locks and maps cannot be trusted."""
    return _NETWORK.fullmatch(kind) is not None


def file_system(path: str) -> str:
    """The kind of file system that a path lies on; "" where that cannot be told."""
    real = os.path.realpath(path)
    try:
        table = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    best, kind = "", ""
    for line in table.splitlines():
        left, _, right = line.partition(" - ")
        # A space in a mount point is written as \040.
        point = left.split()[4].encode(errors="surrogateescape").decode("unicode_escape")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):  # of two on one point, the later hides the earlier
            best, kind = point, right.split()[0]
    return kind


def make_private(path: str) -> None:
    """Make an empty file that only its owner may read, unless there is one: what lies in it is nobody else's."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE))


class FileLock:
    """An exclusive lock on the file beside the database; it says who has it, and goes with the process."""

    def __init__(self, path: str) -> None:
        self._file = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._file, 100).decode(errors="replace").strip() or "another process"
            os.close(self._file)
            raise StoreBusy(path, holder) from None
        os.ftruncate(self._file, 0)
        os.write(self._file, f"process {os.getpid()}\n".encode())
        _held.add(self)

    def release(self) -> None:
        if self in _held:
            _held.discard(self)
            os.close(self._file)

    def forget(self) -> None:
        """In a fork: a child that outlives us must not keep the lock."""
        os.close(self._file)


_held: weakref.WeakSet[FileLock] = weakref.WeakSet()


def _forget_all() -> None:
    for lock in list(_held):
        lock.forget()
    _held.clear()


os.register_at_fork(after_in_child=_forget_all)
