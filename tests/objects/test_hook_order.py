"""What a notification tells is started in its order, under the right name, and never lost without a word."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from penstock.objects.folder import FolderStore
from penstock.objects.protocol import Object
from tests.api.conftest import Client
from tests.objects.places import FolderPlace
from tests.objects.servers import SeaweedFS
from tests.objects.telling import PICS, TOKEN, body, inputs_of, record, shown, talk_to
from tests.sources.feeding.feeders import until_there
from tests.waiting import until

PICKY = {**PICS, "params": {"type": "object", "properties": {"size": {"type": "integer", "maximum": 1000}}}}


@pytest.fixture
def folder(tmp_path: Path) -> FolderPlace:
    return FolderPlace(tmp_path / "pics")


def stores_of(folder: FolderPlace) -> dict[str, str]:
    return {"pics": f"{folder.url}?hook_token={TOKEN}"}


async def tell(client: Client, *records: dict[str, Any]) -> Any:
    answer = await client.post("/hooks/s3/pics", data=body(*records), headers=shown())
    return answer.status, answer.json


def test_the_records_of_a_notification_start_in_their_order(
    folder: FolderPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = FolderStore.head

    async def slow(store: FolderStore, key: str, version: str | None = None, *, tags: bool = True) -> Object:
        await asyncio.sleep({"a.png": 0.3, "b.png": 0.1}.get(key, 0))  # a store answers when it likes
        return await head(store, key, version, tags=tags)

    monkeypatch.setattr(FolderStore, "head", slow)
    for key in ("a.png", "b.png", "c.png"):
        folder.put(key)
    records = [
        record("a.png", sequencer="1"),
        record("a.png", "ObjectRemoved:Delete", sequencer="2"),
        record("b.png", sequencer="3"),
        record("c.png", sequencer="4"),
    ]

    async def talk(client: Client) -> Any:
        for name in ("pics", "others"):
            await client.engine.publish({**PICS, "name": name}, start=True)
        await tell(client, *records)
        return [
            [(each["event"], each["key"]) for each in await inputs_of(client, name)]
            for name in ("pics", "others")
        ]

    wanted = [("created", "a.png"), ("deleted", "a.png"), ("created", "b.png"), ("created", "c.png")]
    assert talk_to(talk, tmp_path, stores_of(folder)) == [wanted, wanted]


def test_a_repeat_after_the_object_went_is_none_though_its_key_can_be_read_in_two_ways(
    seaweed: SeaweedFS, tmp_path: Path
) -> None:
    bucket = seaweed.bucket("spellings")
    seaweed.put(bucket, "in/b+raw.txt")

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        created = record("in/b+raw.txt", source="", bucket=bucket)
        first = await tell(client, created)
        seaweed.client.delete_object(Bucket=bucket, Key="in/b+raw.txt")
        again = await tell(client, created)
        deleted = record("in/b+raw.txt", "ObjectRemoved:Delete", source="", sequencer="2", bucket=bucket)
        await tell(client, deleted)
        told = [(each["event"], each["key"]) for each in await inputs_of(client)]
        return first[1]["started"], again[1], told

    stores = {"pics": seaweed.address(bucket, hook_token=TOKEN)}
    started, again, told = talk_to(talk, tmp_path, stores)
    assert (started, again["started"], again["duplicate"]) == (1, 0, 1)
    assert told == [("created", "in/b+raw.txt"), ("deleted", "in/b+raw.txt")]


def test_an_event_whose_run_cannot_be_made_is_set_aside_and_can_be_tried_again(
    folder: FolderPlace, tmp_path: Path
) -> None:
    folder.put("big.png", b"x" * 3000)

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICKY, start=True)
        answers = [await tell(client, record("big.png")) for _ in range(2)]
        [aside] = (await client.get("/api/events/undelivered")).json["items"]
        incidents = (await client.engine.incidents())["items"]
        path = f"/api/events/undelivered/{aside['id']}/redeliver"
        still = await client.post(path, headers={})
        await client.engine.publish(PICS)
        mended = await client.post(path, headers={})
        left = (await client.get("/api/events/undelivered")).json["items"]
        keys = [each["key"] for each in await inputs_of(client)]
        return answers, aside["reason"], incidents, still.status, mended.status, left, keys

    answers, reason, incidents, still, mended, left, keys = talk_to(talk, tmp_path, stores_of(folder))
    assert [(status, told["refused"]) for status, told in answers] == [(200, 1), (200, 1)]
    assert "no run of 'pics' was started for pics/big.png" in reason
    assert [(each["kind"], each["actions"]) for each in incidents] == [("undelivered", ["redeliver"])]
    assert (still, mended, left, keys) == (422, 200, [], ["big.png"])


def test_a_file_whose_run_cannot_be_made_is_set_aside_too(
    folder: FolderPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.sources.objects.folder.QUIET_SECONDS", 0.2)

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICKY, start=True)
        folder.put("big.png", b"x" * 3000)
        found = await until(client.engine.undelivered, "what was refused")
        await client.engine.publish(PICS)
        assert await client.engine.redeliver(found[0]["id"])
        return await until_there(client.engine, 1)

    assert talk_to(talk, tmp_path, stores_of(folder)) == ["pics/big.png"]
