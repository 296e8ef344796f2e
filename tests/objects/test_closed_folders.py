"""A folder inside that is closed, or a link, stops nothing: the rest is listed and watched."""

from __future__ import annotations

import asyncio
import ctypes
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from penstock.sources.objects.folder_watch import FolderWatch
from tests.suites import first_short

MORTAL = """
import asyncio, json, os, sys
import penstock.sources.objects.folder as feeding
from penstock import Engine
from penstock.objects.folder import FolderStore
from tests.objects.telling import PICS, TASKS
from tests.objects.test_folder_watch import told, watched

feeding.QUIET_SECONDS, feeding.CLOCK_SLACK, feeding.WALK_INTERVAL = 0.2, 0.0, 0.3
root, mode, before = sys.argv[1], int(sys.argv[2], 8), sys.argv[3] == "before"


def put(key):
    os.makedirs(os.path.dirname(f"{root}/{key}"), exist_ok=True)
    open(f"{root}/{key}", "w").close()


async def main():
    async with asyncio.timeout(40), Engine("memory:", tasks=TASKS, stores={"pics": f"dir://{root}"}) as engine:
        if before:
            put("closed/in/x")
            os.chmod(f"{root}/closed", mode)
        await engine.publish(PICS, start=True)
        await watched(engine)
        if not before:
            put("closed/in/x")
            await told(engine, 1)
            os.chmod(f"{root}/closed", mode)
        put("open/b")
        await told(engine, 1 if before else 2)
        put("open/c")  # meanwhile all is walked through again
        shut = await told(engine, 2 if before else 3)
        os.chmod(f"{root}/closed", 0o755)
        put("last")
        runs = await told(engine, 4)
        os.chmod(f"{root}/closed", mode)
        listed = [each.key async for page in FolderStore("s", root).pages() for each in page]
        print(json.dumps({"shut": sorted(shut), "runs": sorted(runs), "listed": listed}))
        os.chmod(f"{root}/closed", 0o755)


asyncio.run(main())
"""


def give_up_rights() -> None:
    """Have no more rights to files than their modes give, also as root."""
    libc = ctypes.CDLL(None)
    for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        libc.prctl(24, right, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.parametrize(
    "case",
    first_short([("000", "before"), ("644", "meanwhile"), ("000", "meanwhile"), ("644", "before")], 2),
    ids="-".join,
)
def test_a_closed_folder_stops_no_other(case: tuple[str, str], tmp_path: Path) -> None:
    mode, when = case
    root = tmp_path / "inbox"
    root.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", MORTAL, str(root), mode, when],
        capture_output=True,
        timeout=60,
        preexec_fn=give_up_rights,
        check=False,
    )

    assert done.returncode == 0, done.stderr.decode()
    told = msgspec.json.decode(done.stdout)
    keys = ["open/b", "open/c"] if when == "before" else ["closed/in/x", "open/b", "open/c"]
    assert told["shut"] == [["created", key] for key in keys]
    assert told["runs"] == [["created", key] for key in ("closed/in/x", "last", "open/b", "open/c")]
    assert told["listed"] == ["last", "open/b", "open/c"]


async def until(watch: FolderWatch, path: Path) -> None:
    """Wait until a change there is told."""
    async with asyncio.timeout(20):
        while not any(each == str(path) for _, each in await watch.changes(asyncio.Event()) or ()):
            continue


async def listening(watch: FolderWatch, folder: Path, there: bool = True) -> None:
    """Wait until a folder is watched, or is known to be gone."""
    async with asyncio.timeout(20):
        while (str(folder) in watch.folders) != there:
            await watch.changes(asyncio.Event())


def watching(root: Path, main: Any) -> None:
    async def bounded() -> None:
        watch = FolderWatch(str(root))
        try:
            await watch.refresh()
            await main(watch)
        finally:
            watch.close()

    asyncio.run(bounded())


def test_links_are_not_watched(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / ".penstock").mkdir()
    (tmp_path / "self").symlink_to(".")
    (tmp_path / "usr").symlink_to("/usr")

    async def main(watch: FolderWatch) -> None:
        (tmp_path / "real" / "later").symlink_to("/usr")
        await until(watch, tmp_path / "real" / "later")
        assert watch.folders == {str(tmp_path), str(tmp_path / "real")}

    watching(tmp_path, main)


def test_folders_that_come_later_are_watched_too(tmp_path: Path) -> None:
    async def main(watch: FolderWatch) -> None:
        inner = tmp_path / "a" / "b"
        for _ in range(2):  # one that went and came back is another
            inner.mkdir(parents=True)
            await listening(watch, inner)
            (inner / "file").touch()
            await until(watch, inner / "file")
            (inner / "file").unlink()
            inner.rmdir()
            inner.parent.rmdir()
            await listening(watch, inner, there=False)

    watching(tmp_path, main)


def test_a_folder_that_is_moved_is_watched_under_its_new_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()

    async def main(watch: FolderWatch) -> None:
        (tmp_path / "a").rename(tmp_path / "b")
        await listening(watch, tmp_path / "b")
        (tmp_path / "b" / "file").touch()
        await until(watch, tmp_path / "b" / "file")

    watching(tmp_path, main)


@pytest.mark.parametrize("name", ["root", "root/a"])
@pytest.mark.parametrize("how", ["moved", "removed"])
def test_a_folder_in_the_place_of_another_is_watched(name: str, how: str, tmp_path: Path) -> None:
    (tmp_path / "root" / "a").mkdir(parents=True)

    async def main(watch: FolderWatch) -> None:
        place = tmp_path / name
        if how == "moved":
            place.rename(tmp_path / "old")
        else:
            shutil.rmtree(place)
        place.mkdir()  # before anybody looked
        told: set[str] = set()
        async with asyncio.timeout(
            20
        ):  # what comes before somebody listens is told as a change of the folder
            while not any(each.startswith(str(place / "file")) for each in told):
                (place / f"file{time.monotonic()}").touch()
                told = {each for _, each in await watch.changes(asyncio.Event()) or ()}

    watching(tmp_path / "root", main)


def test_a_look_through_all_finds_a_folder_that_was_replaced(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "a").mkdir(parents=True)

    async def main(watch: FolderWatch) -> None:
        root.rename(tmp_path / "old")
        (root / "a").mkdir(parents=True)
        await watch.refresh()
        (root / "a" / "file").touch()
        await until(watch, root / "a" / "file")

    watching(root, main)


def test_a_folder_that_is_no_text_is_passed_over(tmp_path: Path) -> None:
    with suppress(OSError):  # some file systems have none
        os.mkdir(os.fsencode(tmp_path) + b"/\xff")

    async def main(watch: FolderWatch) -> None:
        (tmp_path / "file").touch()
        await until(watch, tmp_path / "file")

    watching(tmp_path, main)
