"""Folders as they are found: what cannot be read in one is told, and all the rest goes on."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from penstock.objects.address import read_address
from penstock.objects.errors import BadStore
from penstock.objects.folder import FolderStore


async def keys(store: FolderStore) -> list[str]:
    return [each.key async for page in store.pages() for each in page]


def test_a_time_that_no_calendar_has_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "odd").touch()
    (tmp_path / "plain").touch()
    real = os.lstat

    def far_off(path: str) -> object:
        status = real(path)
        told = {name: getattr(status, name) for name in dir(status) if name.startswith("st_")}
        return SimpleNamespace(**told | ({"st_mtime": 4e11} if path.endswith("odd") else {}))

    monkeypatch.setattr("penstock.objects.folder.os.lstat", far_off)

    assert asyncio.run(keys(FolderStore("s", str(tmp_path)))) == ["odd", "plain"]


def test_a_closed_folder_inside_is_told_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("closed/a", "open/b"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    real = os.scandir

    def refuse(path: str) -> object:  # as it is for everybody but root, who may run the tests
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr("penstock.objects.folder.os.scandir", refuse)
    store = FolderStore("s", str(tmp_path))

    assert asyncio.run(keys(store)) == ["open/b"]
    assert "One name in the folder of store 's' cannot be read" in str(store.why_unread())


def test_a_name_that_is_too_long_for_a_key_is_told(tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*["é" * 100] * 6)
    folder.mkdir(parents=True)
    (folder / "a").touch()
    store = FolderStore("s", str(tmp_path))

    assert asyncio.run(keys(store)) == []
    assert store.unreadable


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:x", "http://127.0.0.1:99999", "http://:80", "nonsense"]
)
def test_an_endpoint_that_cannot_be_asked_is_refused_at_once(endpoint: str) -> None:
    with pytest.raises(BadStore, match="endpoint"):
        read_address("s", f"s3://pictures?endpoint={endpoint}")
