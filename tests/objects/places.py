"""Where the objects of a test are: a folder or a bucket, written to as its users would, not through Penstock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from penstock.objects.protocol import ObjectStore
from penstock.objects.stores import Stores
from tests.objects.servers import S3Server

STEP = 0.025
"""Seconds in which also the clock of file systems has gone on: it goes in steps."""


async def clock_goes_on() -> None:
    """What comes next has a later time."""
    await asyncio.sleep(STEP)  # only time makes time stamps differ


def clock_goes_on_sync() -> None:
    time.sleep(STEP)  # only time makes time stamps differ


class StorePlace:
    """One store, called `pics`."""

    url: str

    def put(self, key: str, body: bytes = b"x") -> None:
        raise NotImplementedError

    def delete(self, key: str) -> None:
        raise NotImplementedError

    def run(self, talk: Callable[[ObjectStore], Awaitable[Any]]) -> Any:
        """What a talk with the store comes to."""

        async def main() -> Any:
            stores = Stores({"pics": self.url})
            try:
                async with asyncio.timeout(60):
                    return await talk(await stores.get("pics"))
            finally:
                await stores.close()

        return asyncio.run(main())


class FolderPlace(StorePlace):
    def __init__(self, path: Path) -> None:
        self.path, self.url = path, f"dir://{path}"
        path.mkdir()

    def put(self, key: str, body: bytes = b"x") -> None:
        path = self.path / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)

    def delete(self, key: str) -> None:
        (self.path / key).unlink()


class S3Place(StorePlace):
    def __init__(self, server: S3Server, bucket: str) -> None:
        self.server, self.bucket, self.url = server, bucket, server.address(bucket)

    def put(self, key: str, body: bytes = b"x") -> None:
        self.server.put(self.bucket, key, body)

    def delete(self, key: str) -> None:
        self.server.client.delete_object(Bucket=self.bucket, Key=key)
