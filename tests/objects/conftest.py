"""Stores of every kind, started once for all tests that need them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.objects.places import FolderPlace, S3Place, StorePlace
from tests.objects.servers import JuiceFS, SeaweedFS
from tests.objects.telling import TOKEN
from tests.postgres_server import free_port

NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def seaweed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeaweedFS]:
    server = SeaweedFS(tmp_path_factory.mktemp("seaweed"))
    try:
        yield server.start()
    finally:
        server.end()


@pytest.fixture(scope="session")
def juice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JuiceFS]:
    server = JuiceFS(tmp_path_factory.mktemp("juice"))
    try:
        yield server.start()
    finally:
        server.end()


@pytest.fixture(params=["folder", "seaweed", "juice"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> StorePlace:
    """An empty store called `pics`, of each kind."""
    if request.param == "folder":
        return FolderPlace(tmp_path / "pics")
    server = request.getfixturevalue(request.param)
    bucket = server.bucket(f"pics-{next(NUMBERS)}")
    return S3Place(server, bucket)


@pytest.fixture
def telling(tmp_path: Path) -> Iterator[JuiceFS]:
    """A store that tells whoever listens at a port that is free yet."""
    folder = tmp_path / "juice"
    folder.mkdir()
    server = JuiceFS(folder, f"http://127.0.0.1:{free_port()}/hooks/s3/pics", TOKEN)
    try:
        yield server.start()
    finally:
        server.end()
