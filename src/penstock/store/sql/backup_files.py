"""Where a backup may be written: to a new file, in a folder that is there."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.store.errors import BadAddress


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


def sync_folder(path: str) -> None:
    """A new file is there after a power cut only if its folder was written too."""
    folder = os.open(Path(path).absolute().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
