"""Banzai's callback: an outside event by webhook, found by its key, whenever and however often it comes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from penstock import Engine
from penstock.runtime.json.strict_json import Unreadable
from penstock.sources.errors import CallRefused, CertificateAway, UnknownHook, Untrusted, Unverified
from penstock.sources.hooks.envelope import Call
from tests.durable.conftest import FILE, Place
from tests.sources.amazon import ADDRESS, AMAZON, CONFIRM, ISSUER_ADDRESS, Web
from tests.sources.hooking import BANZAI, TASKS, counted, hooks_of, letter
from tests.waiting import until

ACCEPTED, DUPLICATE, IGNORED = (202, False, False), (200, True, False), (200, False, True)


def delivered(history: list[dict[str, Any]]) -> int:
    return sum(entry["kind"] == "event" and entry["event"] == "finished" for entry in history)


@FILE
def test_a_callback_before_its_key_twice_and_after_the_end_is_one_delivery(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(BANZAI)
        hooks = await hooks_of(engine)
        assert counted(await hooks.receive("video", "finished", letter())) == ACCEPTED
        assert counted(await hooks.receive("video", "finished", letter())) == DUPLICATE
        assert [each["key"] for each in await engine.undelivered()] == [{"et_job": "7"}]

        id = await engine.start("video")
        view = await engine.wait(id, 30)
        assert (view["status"], view["steps"]["use"]["output"], view["data"]["s3_output"]) == (
            "succeeded",
            [{"key": "a.mp4"}, "a.mp4"],
            "a.mp4",
        )

        assert counted(await hooks.receive("video", "finished", letter())) == DUPLICATE
        assert delivered(await engine.history(id)) == 1

    place.run(main, TASKS)


@FILE
def test_a_callback_to_a_run_that_waits_goes_to_that_run_alone(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(BANZAI)
        hooks = await hooks_of(engine)
        mine, other = [await engine.start("video", input={"job": job}) for job in (7, 8)]
        for run in (mine, other):
            await engine.wait(run, 30, rest=True)

        answers = await asyncio.gather(*(hooks.receive("video", "finished", letter()) for _ in range(5)))

        assert sorted(map(counted, answers)) == sorted([ACCEPTED, *[DUPLICATE] * 4])
        assert (await engine.wait(mine, 30))["status"] == "succeeded"
        assert (await engine.show(other))["status"] == "waiting"
        assert delivered(await engine.history(mine)) == 1

    place.run(main, TASKS)


def test_row_38_a_callback_for_nobody_and_one_for_an_ended_run_are_kept_and_shown(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(BANZAI)
        hooks = await hooks_of(engine)
        run = await engine.start("video")
        await engine.wait(run, 30, rest=True)
        await hooks.receive("video", "finished", letter())
        assert (await engine.wait(run, 30))["status"] == "succeeded"
        before = await engine.history(run)

        unknown = letter(Message='{"jobId": "99", "outputs": [{"key": "b"}]}', MessageId="m-2")
        late = letter(MessageId="m-3")
        assert [counted(await hooks.receive("video", "finished", each)) for each in (unknown, late)] == [
            ACCEPTED,
            ACCEPTED,
        ]
        assert [(each["key"], each["reason"]) for each in await engine.undelivered()] == [
            ({"et_job": "99"}, "no live run has its key"),
            ({"et_job": "7"}, "no live run has its key"),
        ]
        assert await engine.history(run) == before

    place.run(main, TASKS)


@FILE
def test_a_callback_is_never_taken_by_a_run_of_another_workflow(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(BANZAI)
        await engine.publish(BANZAI.replace("name: video", "name: audio"))
        hooks = await hooks_of(engine)
        assert counted(await hooks.receive("audio", "finished", letter())) == ACCEPTED
        run = await engine.start("video")
        await engine.wait(run, 30, rest=True)
        await until(
            engine.undelivered, "a refused event", so=lambda kept: kept and "of 'audio'" in kept[0]["reason"]
        )
        assert counted(await hooks.receive("audio", "finished", letter(MessageId="m-2"))) == IGNORED
        assert counted(await hooks.receive("video", "finished", letter())) == ACCEPTED
        assert (await engine.wait(run, 30))["status"] == "succeeded"
        assert delivered(await engine.history(run)) == 1

    place.run(main, TASKS)


RENAMED = BANZAI.replace("name: finished", "name: transcoded").replace(
    "create, finished", "create, transcoded"
)


@FILE
def test_runs_under_way_get_an_event_that_the_newest_version_does_not_take_any_more(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(BANZAI)
        hooks = await hooks_of(engine)
        run = await engine.start("video", input={"job": 8})
        await engine.wait(run, 30, rest=True)
        await engine.publish(RENAMED)

        assert counted(await hooks.receive("video", "finished", letter())) == ACCEPTED
        told = letter(Message='{"jobId": "8", "outputs": [{"key": "b.mp4"}]}', MessageId="m-2")
        assert counted(await hooks.receive("video", "finished", told)) == ACCEPTED
        assert (await engine.wait(run, 30))["data"]["s3_output"] == "b.mp4"

        with pytest.raises(UnknownHook):
            await hooks.receive("video", "finished", letter(MessageId="m-3"))

    place.run(main, TASKS)


def test_forgeries_change_nothing_and_nothing_is_fetched_for_them() -> None:
    web = Web(AMAZON)
    forged: list[tuple[Call, type[Exception]]] = [
        (letter(SigningCertURL="https://sns.us-east-1.amazonaws.com.evil.io/x.pem"), Untrusted),
        (letter(TopicArn="arn:aws:sns:eu-west-1:123456789012:other"), Untrusted),
        (
            letter(
                Type="SubscriptionConfirmation",
                TopicArn="arn:aws:sns:eu-west-1:123456789012:other",
                Token="t0ken",
                SubscribeURL="http://169.254.169.254/",
                Subject=None,
            ),
            Untrusted,
        ),
        (letter(Timestamp="2026-03-01T10:00:00Z"), Unverified),
        (Call({}, b"{}"), Unreadable),
        (Call({}, b""), Unreadable),
    ]

    async def main(engine: Engine) -> None:
        await engine.publish(BANZAI)
        hooks = await hooks_of(engine, web)
        for call, error in forged:
            with pytest.raises(error):
                await hooks.receive("video", "finished", call)
        assert (web.fetched, await engine.undelivered(), hooks.taken) == ([], [], {})
        assert hooks.refused == {"certificate": 1, "topic": 2, "stale": 1, "bad_event": 1, "invalid_json": 1}

        changed = json.loads(letter().body)
        with pytest.raises(Unverified):
            await hooks.receive(
                "video", "finished", Call({}, json.dumps({**changed, "MessageId": "x"}).encode())
            )
        assert await engine.undelivered() == []

    Place("memory:").run(main, TASKS)


def test_a_subscription_to_a_listed_topic_is_confirmed_by_a_call_of_our_own() -> None:
    web = Web(AMAZON)
    asked = {
        "Type": "SubscriptionConfirmation",
        "Token": "t0ken",
        "Subject": None,
        "SubscribeURL": "http://169.254.169.254/latest/meta-data",
    }

    async def main(engine: Engine) -> None:
        await engine.publish(BANZAI)
        hooks = await hooks_of(engine, web)
        assert counted(await hooks.receive("video", "finished", letter(**asked))) == IGNORED
        assert web.fetched == [ADDRESS, ISSUER_ADDRESS, CONFIRM]
        left = letter(**{**asked, "Type": "UnsubscribeConfirmation"})
        assert counted(await hooks.receive("video", "finished", left)) == IGNORED
        assert len(web.fetched) == 3
        web.away = True
        with pytest.raises(CertificateAway):
            await hooks.receive("video", "finished", letter(**asked))
        assert await engine.undelivered() == []

    Place("memory:").run(main, TASKS)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ('{"jobId": null, "outputs": [{"key": 1}]}', "`key.et_job` of this hook"),
        ('{"jobId": "", "outputs": [{"key": 1}]}', "`key.et_job` of this hook"),
        ('{"outputs": [{"key": 1}]}', "`key.et_job` of this hook"),
        ('{"jobId": "7", "outputs": []}', "`data` of this hook"),
        ("text", "`where` of this hook"),
    ],
)
def test_a_call_without_what_the_hook_reads_is_refused_with_the_place(message: str, said: str) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(BANZAI)
        with pytest.raises(CallRefused, match=said):
            await (await hooks_of(engine)).receive("video", "finished", letter(Message=message))
        assert await engine.undelivered() == []

    Place("memory:").run(main, TASKS)


def test_what_the_condition_leaves_out_is_answered_well_and_left_alone() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(BANZAI)
        call = letter(Message='{"jobId": "7", "state": "PROGRESSING"}')
        assert counted(await (await hooks_of(engine)).receive("video", "finished", call)) == IGNORED
        assert await engine.undelivered() == []

    Place("memory:").run(main, TASKS)


def test_a_hook_that_is_not_there_is_said_to_be_unknown() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(BANZAI)
        hooks = await hooks_of(engine)
        for event in (None, "started", "create"):
            with pytest.raises(UnknownHook):
                await hooks.receive("video", event, letter())

    Place("memory:").run(main, TASKS)


def test_a_hook_without_verify_lets_nobody_pass() -> None:
    text = """
penstock: 1
name: w
external: [{name: e, from: {kind: webhook, key: {k: body.k}}}]
steps: {a: {task: use, after: e}}
"""

    async def main(engine: Engine) -> None:
        await engine.publish(text)
        with pytest.raises(Unverified):
            await (await hooks_of(engine)).receive("w", "e", Call({}, b'{"k": "1"}'))

    Place("memory:").run(main, TASKS)
