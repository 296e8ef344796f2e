"""A node as a process of its own, to be killed: it runs what its database says, with one bus."""

from __future__ import annotations

import asyncio
import sys

from penstock import Engine
from tests.topics.engines import engine


async def serve(node: Engine) -> None:
    async with node:
        await node.running()
        print("ready", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(engine(sys.argv[1], sys.argv[2])))
