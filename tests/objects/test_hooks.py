"""A verified notification starts one run for each object that is wanted, however often it comes."""

from __future__ import annotations

import asyncio
import base64
import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Client
from tests.objects.places import FolderPlace
from tests.objects.servers import SeaweedFS
from tests.objects.telling import PICS, TOKEN, body, inputs_of, record, shown, talk_to


@pytest.fixture
def folder(tmp_path: Path) -> FolderPlace:
    return FolderPlace(tmp_path / "pics")


def stores_of(folder: FolderPlace) -> dict[str, str]:
    return {"pics": f"{folder.url}?hook_token={TOKEN}"}


async def tell(client: Client, data: bytes | BytesIO, store: str = "pics", **headers: str) -> Any:
    answer = await client.post(f"/hooks/s3/{store}", data=data, headers={**shown(), **headers})
    return answer.status, answer.json


TRANSPORT = {
    "name": "ObjectCreated:Put",
    "at": "2026-01-31T12:00:00.000Z",
    "region": "eu-west-1",
    "user": "AWS:ABC",
    "source_ip": "192.0.2.7",
    "request_id": "C3D13FE58DE4C810",
    "sequencer": "0055AED6DCD90281E5",
}


def test_the_context_of_an_object_is_the_input_of_its_run(seaweed: SeaweedFS, tmp_path: Path) -> None:
    bucket = seaweed.bucket("context", versions=True)
    put = seaweed.put(
        bucket,
        "a b/x+y.png",
        b"four",
        Metadata={"who": "me"},
        Tagging="kind=picture",
        ContentType="image/png",
    )

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        told = record("a+b/x%2By.png", bucket=bucket, versionId=put["VersionId"], size=4)
        status, answer = await tell(client, body(told))
        assert (status, answer) == (201, {"started": 1, "duplicate": 0, "ignored": 0, "refused": 0})
        [run] = await client.engine.runs(workflow="pics")
        return await client.engine.wait(run["id"], 20)

    stores = {"pics": seaweed.address(bucket, hook_token=TOKEN)}
    run = talk_to(talk, tmp_path, stores)
    system = run["input"].pop("system")
    assert (run["subject"], run["tags"]) == (f"{bucket}/a b/x+y.png", {"kind": "picture"})
    assert run["input"] == {
        "bucket": bucket,
        "key": "a b/x+y.png",
        "version": put["VersionId"],
        "size": 4,
        "etag": put["ETag"].strip('"'),
        "metadata": {"who": "me"},
        "transport": TRANSPORT,
        "event": "created",
    }
    assert (system["store"], system["content_type"]) == ("pics", "image/png")


def test_max_running_holds_no_call_back(folder: FolderPlace, tmp_path: Path) -> None:
    """Its sender may not call again: what it tells is a run, or it is lost."""
    for number in range(3):
        folder.put(f"{number}.png")
    records = [record(f"{number}.png", sequencer=str(number)) for number in range(3)]
    waiting = {**PICS, "max_running": 1, "steps": {"hold": {"task": "wait", "with": {"for": "1h"}}}}

    async def talk(client: Client) -> Any:
        await client.engine.publish(waiting, start=True)
        return await tell(client, body(*records)), len(await client.engine.runs(workflow="pics"))

    (status, answer), runs = talk_to(talk, tmp_path, stores_of(folder))
    assert (status, answer["started"], runs) == (201, 3, 3)


def test_each_record_is_a_run_and_a_repeat_is_none(folder: FolderPlace, tmp_path: Path) -> None:
    for number in range(500):
        folder.put(f"{number}.png")
    records = [record(f"{number}.png", sequencer=str(number)) for number in range(500)]

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        first = await asyncio.gather(tell(client, body(*records)), tell(client, body(*records[:300])))
        again = await tell(client, body(*records))
        keys = [each["key"] for each in await inputs_of(client)]
        return sum(each[1]["started"] for each in first), again, keys

    started, again, keys = talk_to(talk, tmp_path, stores_of(folder))
    assert (started, sorted(keys)) == (500, sorted(f"{number}.png" for number in range(500)))
    assert again == (200, {"started": 0, "duplicate": 500, "ignored": 0, "refused": 0})


def test_a_record_that_cannot_be_read_is_set_aside_and_holds_no_other(
    folder: FolderPlace, tmp_path: Path
) -> None:
    folder.put("a.png")
    records = [record("a.png"), record("b.png", bucket="others"), {"x": 1}]

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        answers = [await tell(client, body(*records)) for _ in range(2)]
        return answers, await client.engine.undelivered()

    answers, [aside] = talk_to(talk, tmp_path, stores_of(folder))
    assert answers == [
        (201, {"started": 1, "duplicate": 0, "ignored": 1, "refused": 1}),
        (200, {"started": 0, "duplicate": 1, "ignored": 1, "refused": 1}),
    ]
    assert aside["data"] == {"store": "pics", "record": {"x": 1}}
    assert "a record has no `s3`" in aside["reason"]


def test_deleted_objects_start_runs_where_they_are_wanted(folder: FolderPlace, tmp_path: Path) -> None:
    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        await tell(client, body(record("gone.png", "ObjectRemoved:Delete", size=None, eTag=None)))
        return await inputs_of(client)

    [told] = talk_to(talk, tmp_path, stores_of(folder))
    assert (told["event"], told["key"], told["size"], told["metadata"]) == ("deleted", "gone.png", None, {})


def test_an_object_that_went_before_it_was_looked_at_is_told_as_gone(
    folder: FolderPlace, tmp_path: Path
) -> None:
    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        await tell(client, body(record("gone.png", size=7)))
        return await inputs_of(client)

    [told] = talk_to(talk, tmp_path, stores_of(folder))
    assert (told["event"], told["size"], told["system"]) == ("created", 7, {"store": "pics", "gone": True})


@pytest.mark.parametrize(
    ("says", "keys"),
    [
        ({"prefix": "in/"}, ["in/a.png", "in/b.txt"]),
        ({"suffix": ".png"}, ["c.png", "in/a.png"]),
        ({"glob": "*/*.png"}, ["in/a.png"]),
        ({"glob": "**.{png,txt}", "where": "object.size > 2"}, ["in/b.txt"]),
        ({"where": 'tags.kind == "x"'}, []),
        (
            {"where": 'event == "created" && transport.source_ip.startsWith("192.")', "suffix": "c.png"},
            ["c.png"],
        ),
        ({"events": ["deleted"]}, []),
        ({"store": "others"}, []),
    ],
)
def test_only_what_the_source_asks_for_starts(
    says: dict[str, Any], keys: list[str], folder: FolderPlace, tmp_path: Path
) -> None:
    made = {"in/a.png": b"1", "in/b.txt": b"333", "c.png": b"1"}
    for key, content in made.items():
        folder.put(key, content)
    wanted = {**PICS, "source": {"kind": "object", "store": "pics", **says}}

    async def talk(client: Client) -> Any:
        await client.engine.publish(wanted, start=True)
        status, _ = await tell(client, body(*(record(key) for key in made)))
        return status, sorted(each["key"] for each in await inputs_of(client))

    assert talk_to(talk, tmp_path, stores_of(folder)) == (201 if keys else 200, keys)


def test_one_notification_starts_every_workflow_that_wants_it(folder: FolderPlace, tmp_path: Path) -> None:
    folder.put("a.png")

    async def talk(client: Client) -> Any:
        for name in ("one", "two", "three"):
            await client.engine.publish({**PICS, "name": name}, start=name != "three")
        _, told = await tell(client, body(record("a.png")))
        return told["started"], [len(await inputs_of(client, name)) for name in ("one", "two", "three")]

    assert talk_to(talk, tmp_path, stores_of(folder)) == (2, [1, 1, 0])


def test_forged_calls_are_refused_and_change_nothing(folder: FolderPlace, tmp_path: Path) -> None:
    folder.put("a.png")
    wrong = [
        {"authorization": "Bearer another"},
        {"authorization": ""},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": "Basic !!!"},
        {"authorization": "Bearer"},
        {"authorization": "Basic " + base64.b64encode(b"user:another").decode()},
    ]

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        answers = [await tell(client, body(record()), **each) for each in wrong]
        return answers, await tell(client, body(record()), "bare"), await inputs_of(client)

    answers, bare, started = talk_to(talk, tmp_path, {**stores_of(folder), "bare": folder.url})
    assert {(status, told["code"]) for status, told in [*answers, bare]} == {(401, "unverified")}
    assert started == []


def test_a_stranger_does_not_learn_which_stores_there_are(folder: FolderPlace, tmp_path: Path) -> None:
    async def talk(client: Client) -> Any:
        return await tell(client, body(record()), "pic", authorization="")

    status, told = talk_to(talk, tmp_path, stores_of(folder))

    assert (status, told["code"]) == (404, "unknown_store")
    assert "pics" not in json.dumps(told)


@pytest.mark.parametrize(
    "shows", [TOKEN, f"bearer {TOKEN}", "Basic " + base64.b64encode(f"me:{TOKEN}".encode()).decode()]
)
def test_a_token_is_taken_as_stores_send_it(shows: str, folder: FolderPlace, tmp_path: Path) -> None:
    folder.put("a.png")

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        return (await tell(client, body(record()), authorization=shows))[0]

    assert talk_to(talk, tmp_path, stores_of(folder)) == 201


def test_a_token_may_be_a_secret_of_the_server(folder: FolderPlace, tmp_path: Path) -> None:
    folder.put("a.png")

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        await client.ask("PUT", "/api/secrets/OTHER", {"value": "another"})
        before = await tell(client, body(record()))
        await client.ask("PUT", "/api/secrets/PICS_HOOK", {"value": TOKEN})
        return before[0], before[1]["code"], (await tell(client, body(record())))[0]

    stores = {"pics": f"{folder.url}?hook_token=${{PICS_HOOK}}"}
    assert talk_to(talk, tmp_path, stores) == (401, "unverified", 201)


def test_bad_notifications_get_a_plain_answer(folder: FolderPlace, tmp_path: Path) -> None:
    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        cases: list[tuple[bytes | BytesIO, str]] = [
            (b"{", "pics"),
            (b'{"a": 1}', "pics"),
            (body(record(bucket="theirs")), "pics"),
            (body(record()), "none"),
            (BytesIO(b"x" * (1024 * 1024 + 1)), "pics"),
        ]
        answers = [await tell(client, data, store) for data, store in cases]
        return [(status, told["code"]) for status, told in answers], await inputs_of(client)

    answers, started = talk_to(talk, tmp_path, stores_of(folder))
    assert answers == [
        (400, "invalid_json"),
        (400, "bad_notification"),
        (422, "other_bucket"),
        (404, "unknown_store"),
        (413, "body_too_large"),
    ]
    assert started == []


def test_a_store_that_is_away_lets_the_sender_send_again(tmp_path: Path) -> None:
    away = FolderPlace(tmp_path / "pics")
    away.path.rmdir()

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        before = await tell(client, body(record()))
        errors = [await error_of(client)]
        away.path.mkdir()
        errors.append(await error_of(client))
        away.put("a.png")
        return before, await tell(client, body(record())), errors

    (status, told), after, (wrong, mended) = talk_to(talk, tmp_path, stores_of(away))
    assert (status, told["code"]) == (503, "object_store_away")
    assert after[0] == 201
    assert (wrong is None, mended) == (False, None)


async def error_of(client: Client) -> str | None:
    """What is shown as wrong with the store."""
    [seen] = (await client.get("/api/stores")).json["items"]
    error: str | None = seen["error"]
    return error


def test_cloudevents_carry_notifications_too(folder: FolderPlace, tmp_path: Path) -> None:
    folder.put("a.png")
    folder.put("b.png")
    event = {
        "specversion": "1.0",
        "id": "1",
        "source": "aws:s3",
        "type": "Object Created",
        "data": {"bucket": {"name": "pics"}, "object": {"key": "a.png", "etag": "e", "sequencer": "1"}},
    }

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        first = await tell(
            client, json.dumps(event).encode(), **{"content-type": "application/cloudevents+json"}
        )
        binary = {
            "ce-specversion": "1.0",
            "ce-id": "2",
            "ce-source": "s3",
            "ce-type": "com.amazonaws.s3.objectcreated",
        }
        second = await tell(client, body(record("b.png")), **binary)
        return first[0], second[0], sorted(each["key"] for each in await inputs_of(client))

    assert talk_to(talk, tmp_path, stores_of(folder)) == (201, 201, ["a.png", "b.png"])


def test_a_run_that_cannot_be_started_does_not_hold_the_others(folder: FolderPlace, tmp_path: Path) -> None:
    folder.put("a.png")
    picky = {**PICS, "name": "picky", "params": {"type": "object", "required": ["color"]}}

    async def talk(client: Client) -> Any:
        await client.engine.publish(picky, start=True)
        await client.engine.publish(PICS, start=True)
        _, told = await tell(client, body(record("a.png")))
        [seen] = (await client.get("/api/stores")).json["items"]
        return told, seen

    told, seen = talk_to(talk, tmp_path, stores_of(folder))
    assert (told["started"], told["refused"]) == (1, 1)
    assert "picky" in seen["error"]


def test_the_stores_are_shown_without_secrets(folder: FolderPlace, tmp_path: Path) -> None:
    folder.put("a.png")

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        await tell(client, body(record("a.png")))
        return await client.get("/api/stores")

    stores = {
        **stores_of(folder),
        "away": "s3://nobody?endpoint=http://127.0.0.1:9&access_key=AK&secret_key=hush-hush",
    }
    answer = talk_to(talk, tmp_path, stores)
    away, pics = answer.json["items"]
    assert (pics["kind"], pics["reachable"], pics["error"], pics["counts"]["started"]) == (
        "dir",
        True,
        None,
        1,
    )
    assert pics["last_event"]["key"] == "a.png"
    assert (away["reachable"], away["bucket"]) == (False, "nobody")
    assert "away" in away["error"]
    assert TOKEN not in answer.text
    assert "hush" not in answer.text


def test_a_folder_that_somebody_drew_starts_nothing(seaweed: SeaweedFS, tmp_path: Path) -> None:
    bucket = seaweed.bucket("drawn")
    seaweed.put(bucket, "a/", b"")
    seaweed.put(bucket, "a/b", b"")
    told = [
        record("a/", bucket=bucket, size=0),
        record("a/b", bucket=bucket, size=0),
        record("gone/", "ObjectRemoved:Delete", bucket=bucket, size=None),
    ]

    async def talk(client: Client) -> Any:
        await client.engine.publish(PICS, start=True)
        answers = [await tell(client, body(each)) for each in told]
        return [answer["started"] for _, answer in answers], [each["key"] for each in await inputs_of(client)]

    stores = {"pics": seaweed.address(bucket, hook_token=TOKEN)}
    assert talk_to(talk, tmp_path, stores) == ([0, 1, 0], ["a/b"])
