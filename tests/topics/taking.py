"""A consumer as a process of its own, to be killed: it takes messages, says which, and leaves some undone."""

from __future__ import annotations

import asyncio
import sys

from penstock.topics.buses import open_bus


async def take(url: str, topic: str, group: str, finish: int) -> None:
    async with open_bus(url).subscribe(topic, group) as subscription:
        taken = 0
        while True:
            for message in await subscription.take():
                taken += 1
                if taken <= finish:
                    await subscription.done([message])
                print(message.body.decode(), flush=True)


if __name__ == "__main__":
    asyncio.run(take(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
