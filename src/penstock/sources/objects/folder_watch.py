"""Changes in a folder and its subfolders, reported as they happen.

Each folder is watched by itself: whoever watches a tree as a whole follows the links in it, which may lead anywhere,
and stops at the first folder that is closed.
"""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING, Any

from penstock.objects.folder import METADATA_FOLDER, is_text

if TYPE_CHECKING:
    from watchfiles import Change

    Changes = set[tuple[Change, str]]

DEBOUNCE, POLL_STEP, IDLE_TIMEOUT = 200, 50, 500
"""Milliseconds: to gather changes, between two polls, and to wait for a first change."""

REST_FACTOR = 10.0
"""After watching all folders again, wait for this many times its duration before the next time."""

MAX_WATCH_ATTEMPTS = 5

Mark = tuple[int, int]
"""What a folder is, whatever it is called: one that took the place of another is not listened to."""


class FolderWatch:
    """Watches one folder. What comes in a folder that has just been made is told as a change of that folder."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._heard: dict[str, Mark] = {}
        self._new: set[str] = set()
        self._notify: Any = None
        self._renew_at = 0.0

    @property
    def folders(self) -> Set[str]:
        """Those that are watched."""
        return self._heard.keys()

    async def refresh(self) -> Changes:
        """Watch every existing folder and no deleted one; the changes that they reported meanwhile."""
        there = await asyncio.to_thread(_marked, self.root)
        return (
            await self._renew(there) if self._notify is None or there.items() - self._heard.items() else set()
        )

    async def changes(self, stopping: asyncio.Event) -> Changes | None:
        """What changed within half a second, often nothing; None: it is to stop. A root that is another is `added`."""
        from anyio import to_thread
        from watchfiles import Change

        answer = await to_thread.run_sync(self._notify.watch, DEBOUNCE, POLL_STEP, IDLE_TIMEOUT, stopping)
        if answer == "stop":
            return None
        found = _read(answer)
        self._new |= await asyncio.to_thread(self._unwatched, found)
        if self._new and time.monotonic() >= self._renew_at:
            new, self._new = self._new, set()
            found |= await self._renew(self.folders | new)
            found |= {(Change.added, path) for path in new}  # what came before anybody listened there
        return found

    def close(self) -> None:
        if self._notify is not None:
            self._notify.close()

    def _unwatched(self, found: Changes) -> set[str]:
        """Folders in which nobody listens: also one that went and came back, or took another's place."""
        from watchfiles import Change

        for _, path in found:
            if not os.path.lexists(path):
                self._heard.pop(path, None)
        # The next may have the mark of the last.
        came = {path for change, path in found if change != Change.modified}
        answer = {self.root, *(path for _, path in found)}
        made = came | {path for path in answer if _mark(path) != self._heard.get(path)}
        return {each for path in made for each in real_folders(path, self.root)}

    async def _renew(self, folders: Iterable[str]) -> Changes:
        """Watch these folders before dropping the former ones, so no change is missed in between."""
        began = time.monotonic()
        before, (self._notify, self._heard) = self._notify, await asyncio.to_thread(_listen, folders)
        self._renew_at = time.monotonic() + REST_FACTOR * (time.monotonic() - began)
        if before is None:
            return set()
        answer = await asyncio.to_thread(before.watch, 1, 1, 1, None)
        before.close()
        return _read(answer)


def real_folders(path: str, root: str | None = None) -> set[str]:
    """A folder and all below it that we can read, without links, and without what lies beside objects."""
    found: set[str] = set()
    aside = os.path.join(root or path, METADATA_FOLDER)
    left = [] if os.path.islink(path) else [path]
    while left:
        folder = left.pop()
        if folder == aside or not is_text(folder):
            continue
        try:
            with os.scandir(folder) as entries:
                left += [each.path for each in entries if each.is_dir(follow_symlinks=False)]
        except OSError:
            continue  # no folder, gone, or closed to us
        found.add(folder)
    return found


def _mark(path: str) -> Mark | None:
    """None: it is no folder, or a link to one."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def _marked(root: str) -> dict[str, Mark]:
    return {path: mark for path in real_folders(root) if (mark := _mark(path)) is not None}


def _listen(folders: Iterable[str]) -> tuple[Any, dict[str, Mark]]:
    """Raises OSError where there is no room for so many."""
    from watchfiles._rust_notify import RustNotify

    for left in reversed(range(MAX_WATCH_ATTEMPTS)):
        there = {each: mark for each in folders if (mark := _mark(each)) is not None}
        try:
            return RustNotify(sorted(there), False, False, 0, False, True), there
        except FileNotFoundError:  # one went just now
            if not left:
                raise
    raise AssertionError("it is tried at least once")


def _read(answer: Any) -> Changes:
    from watchfiles import Change

    return set() if isinstance(answer, str) else {(Change(change), path) for change, path in answer}
