"""One object that its store does not describe is set aside and holds no other; one that is closed is asked again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from penstock import Engine
from penstock.objects.errors import ObjectRefused, ObjectStoreAway
from penstock.objects.s3 import Credentials, S3Store
from tests.api.conftest import Client
from tests.objects.places import S3Place
from tests.objects.servers import SeaweedFS
from tests.objects.telling import PICS, TASKS, TOKEN, body, inputs_of, record, talk_to
from tests.objects.test_hooks import tell
from tests.objects.test_search import keys_of, play, searched, workflow
from tests.sources.feeding.feeders import until_there
from tests.topics.brokers import NatsServer
from tests.topics.conftest import nats as nats
from tests.waiting import until

KEYS = ("a.txt", "m-sse.txt", "z.txt")


@pytest.fixture
def bucket(seaweed: SeaweedFS, request: pytest.FixtureRequest) -> str:
    """One with three objects; the second is described only to who has its key."""
    made = seaweed.bucket(f"closed-{abs(hash(request.node.name)) % 10**8}")
    for key in KEYS:
        sealed = {"SSECustomerAlgorithm": "AES256", "SSECustomerKey": "k" * 32} if "sse" in key else {}
        seaweed.put(made, key, b"x", **sealed)
    return made


@pytest.mark.parametrize("more", [{}, {"where": "size > 0 && tags == {}"}], ids=["all", "where"])
def test_a_search_sets_aside_what_is_not_described(
    bucket: str, seaweed: SeaweedFS, more: dict[str, Any]
) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow(**more), start=True)
        seen = await searched(engine)
        [aside] = await engine.undelivered()

        assert await keys_of(engine) == ["a.txt", "z.txt"]
        assert (seen["last"]["looked"], seen["last"]["started"], seen["last"]["refused"]) == (3, 2, 1)
        assert f"the store refuses this for {bucket}/m-sse.txt" in aside["reason"]

    play(S3Place(seaweed, bucket), main)


def test_a_hook_sets_aside_what_is_not_described(bucket: str, seaweed: SeaweedFS, tmp_path: Path) -> None:
    told = body(*(record(key, bucket=bucket, sequencer=key) for key in KEYS))

    async def talk(client: Client) -> None:
        await client.engine.publish(PICS, start=True)
        answers = [await tell(client, told) for _ in range(2)]
        [aside] = await client.engine.undelivered()

        assert answers == [
            (201, {"started": 2, "duplicate": 0, "ignored": 0, "refused": 1}),
            (200, {"started": 0, "duplicate": 2, "ignored": 0, "refused": 1}),
        ]
        assert "m-sse.txt" in aside["reason"]
        await client.engine.redeliver(aside["id"])
        assert sorted(each["key"] for each in await inputs_of(client)) == sorted(KEYS)

    talk_to(talk, tmp_path, {"pics": seaweed.address(bucket, hook_token=TOKEN)})


def test_a_topic_goes_on_after_what_is_not_described(
    bucket: str, seaweed: SeaweedFS, nats: NatsServer, tmp_path: Path
) -> None:
    async def main() -> None:
        await nats.make("closed")
        stores = {"pics": seaweed.address(bucket, bus="main", topic="closed")}
        buses = {"main": nats.url}
        async with (
            asyncio.timeout(60),
            Engine(str(tmp_path / "p.db"), tasks=TASKS, stores=stores, buses=buses) as engine,
        ):
            await engine.publish(PICS, start=True)
            for key in KEYS:
                await nats.put("closed", body(record(key, bucket=bucket, sequencer=key)), key, {})
            assert sorted(await until_there(engine, 2)) == [f"{bucket}/a.txt", f"{bucket}/z.txt"]
            aside = await until(engine.undelivered, "what was set aside")
            assert "m-sse.txt" in aside[0]["reason"]

    asyncio.run(main())


LIST = b'<?xml version="1.0"?><ListBucketResult><Name>b</Name><IsTruncated>false</IsTruncated></ListBucketResult>'


@pytest.mark.parametrize(
    ("object", "listing", "raises"),
    [
        (403, 200, ObjectRefused),
        (400, 200, ObjectRefused),
        (403, 403, ObjectStoreAway),
        (400, 400, ObjectStoreAway),
        (400, 403, ObjectStoreAway),
        (503, 200, ObjectStoreAway),
    ],
)
def test_whose_fault_an_answer_is_is_told_by_the_listing(
    object: int, listing: int, raises: type[Exception]
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/k"):
            return web.Response(status=object)
        return web.Response(
            status=listing, body=LIST if listing == 200 else b"", content_type="application/xml"
        )

    async def main() -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        base = f"http://127.0.0.1:{runner.addresses[0][1]}"
        store = S3Store("s", "b", endpoint=base, region="us-east-1", credentials=Credentials("a", "b"))
        try:
            with pytest.raises(raises):
                await store.head("k")
        finally:
            await store.close()
            await runner.cleanup()

    asyncio.run(main())
