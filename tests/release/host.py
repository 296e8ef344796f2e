"""A coordinator in a process of its own, to be killed: `python -m tests.release.host DB FOLDER PORT`."""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from tests.release.conftest import coordinating


async def main(url: str, folder: str, port: str) -> None:
    async with coordinating(Path(folder), url, port=int(port), heartbeat=timedelta(milliseconds=500)):
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
