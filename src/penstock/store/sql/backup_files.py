"""Where a backup may be written: to a new file in an existing folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from penstock.store.errors import BadAddress, disk_error


def validate_backup_path(path: str) -> None:
    """Raises BadAddress where a file cannot be made, or something is there."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise BadAddress(path, "cannot be written", f"the folder '{folder}' is not there")
    if os.path.lexists(path):
        raise taken(path)


def taken(path: str) -> BadAddress:
    """Something has the name already: a backup never replaces it."""
    return BadAddress(
        path, "is there already, and a backup is written only to a new file", "use another file name"
    )


@contextlib.contextmanager
def written_whole(path: str) -> Iterator[str]:
    """The name under which a backup is written: it gets its own once it is whole. Raises BadAddress, StoreFull."""
    validate_backup_path(path)
    part = f"{path}.part"
    remove_copy(part)
    try:
        yield part
        os.link(part, path)  # not rename: that would replace a file that came meanwhile
        sync_folder(path)
    except FileExistsError:
        raise taken(path) from None
    except OSError as error:
        raise disk_error(error) from error
    finally:
        remove_copy(part)


def remove_copy(path: str) -> None:
    """A copy that did not come about, and the journal of it: on a full disk that stays behind."""
    for each in (f"{path}-journal", path):
        Path(each).unlink(missing_ok=True)


def sync_folder(path: str) -> None:
    """A new file is there after a power cut only if its folder was written too."""
    folder = os.open(Path(path).absolute().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
