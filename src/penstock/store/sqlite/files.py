"""The file itself: whether its disk is local, and whether another process has it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import weakref
from pathlib import Path

from penstock.store.errors import BadAddress, StoreBusy, StoreError, disk_error

PRIVATE_MODE = 0o600
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
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_MODE))
    except FileExistsError:
        return
    except OSError as error:
        raise unwritable(path, error) from error


def validate_path(path: str) -> None:
    """Raises BadAddress where something else than a file has that name, or nothing can be there."""
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise BadAddress(path, "is in a folder that does not exist")
    if os.path.lexists(path) and not os.path.isfile(path):
        raise BadAddress(path, "is no file that can be a database")


def unwritable(path: str, error: OSError) -> StoreError:
    """What it means that a file beside the database cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE):
        return disk_error(error)
    why = (error.strerror or str(error)).lower()
    return BadAddress(path, f"is where no database can be made ({why})")


class FileLock:
    """An exclusive lock on the file beside the database; it says who has it, and goes with the process."""

    def __init__(self, path: str) -> None:
        self._path = f"{path}.lock"
        self.made = not os.path.exists(self._path)
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE_MODE)
        except OSError as error:
            raise unwritable(path, error) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._file, 100).decode(errors="replace").strip() or "another process"
            os.close(self._file)
            raise StoreBusy(path, holder) from None
        if not self._is_there():
            os.close(self._file)
            raise StoreBusy(path, "another process")
        _held.add(self)
        try:
            os.ftruncate(self._file, 0)
            os.write(self._file, f"process {os.getpid()}\n".encode())
        except OSError as error:
            self.remove()
            raise unwritable(path, error) from error

    def _is_there(self) -> bool:
        """Whether the file that is locked still has its name: who failed to open the database may have removed it."""
        try:
            return os.path.samestat(os.fstat(self._file), os.stat(self._path))
        except OSError:
            return False

    def release(self) -> None:
        if self in _held:
            _held.discard(self)
            os.close(self._file)

    def remove(self) -> None:
        """Where nothing came of the database: let go, and leave no file behind that was not there before."""
        if self.made and self in _held:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        self.release()

    def forget(self) -> None:
        """In a fork: a child that outlives us must not keep the lock."""
        os.close(self._file)


_held: weakref.WeakSet[FileLock] = weakref.WeakSet()


def _forget_all() -> None:
    for lock in list(_held):
        lock.forget()
    _held.clear()


os.register_at_fork(after_in_child=_forget_all)
