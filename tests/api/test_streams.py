"""Server-sent events: nothing is missed, nothing comes twice, and nothing stays behind."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import msgspec
import pytest
from msgspec import Struct

from penstock import Engine
from penstock.access.caller import ANYBODY_HERE, Caller
from penstock.api import streams
from penstock.api.routes import streams as routes
from penstock.runtime.queries import change_feed
from penstock.store.rows.rows import RunState
from tests.api.conftest import OWN, Client, Serve
from tests.waiting import until

WAITS = {
    "penstock": 1,
    "name": "waits",
    "endless": True,
    "external": [{"name": "go", "many": True}],
    "steps": {"a": {"task": "one", "after": "go"}},
}


class Message(Struct):
    event: str
    data: Any
    id: str | None = None


class Listener:
    """Reads a stream, event by event."""

    begins = ""

    def __init__(self, response: Any) -> None:
        self.response = response

    async def block(self) -> dict[str, str]:
        """The lines up to an empty one; a comment has no name."""
        found: dict[str, str] = {}
        while (line := (await self.response.content.readline()).decode()) != "\n":
            if not line:
                raise EOFError
            name, _, value = line.rstrip("\n").partition(": ")
            found[name] = value
        return found

    async def next(self) -> Message:
        while "event" not in (block := await self.block()):
            pass
        return Message(block["event"], msgspec.json.decode(block["data"]), block.get("id"))

    async def take(self, count: int) -> list[Message]:
        return [await self.next() for _ in range(count)]

    async def rest(self) -> list[Message]:
        found = []
        try:
            while True:
                found.append(await self.next())
        except EOFError:
            return found


@asynccontextmanager
async def listening(client: Client, path: str, last: str | None = None) -> AsyncIterator[Listener]:
    headers = {} if last is None else {"last-event-id": last}
    async with client.session.get(client.base + path, headers=headers) as response:
        assert response.status == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        listener = Listener(response)
        hello = await listener.block()
        listener.begins = hello.pop("id")
        assert hello == {"retry": "2000", "": "here"}
        yield listener


async def begin(client: Client) -> str:
    await client.engine.publish(WAITS, again=False)
    id = await client.engine.start("waits")
    await client.engine.wait(id, 10, rest=True)
    return id


def test_a_run_is_followed_from_its_beginning_to_its_end(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[list[Message], Any]:
        id = await begin(client)
        async with listening(client, f"/api/runs/{id}/stream?after=0") as listener:
            first = await listener.next()
            await client.engine.emit("go", run=id)
            await client.engine.wait(id, 10, rest=True)
            await client.engine.cancel(id)
            return [first, *await listener.rest()], await client.engine.history(id)

    heard, history = serve(talk)

    assert [each.data for each in heard[:-1]] == history
    assert [each.id for each in heard[:-1]] == [str(item["seq"]) for item in history]
    assert {each.event for each in heard[:-1]} == {"history"}
    assert heard[-1] == Message("end", {})


def test_a_stream_goes_on_after_the_last_entry_that_was_seen(serve: Serve) -> None:
    async def talk(client: Client) -> list[list[str | None]]:
        id = await begin(client)
        await client.engine.emit("go", run=id)
        await client.engine.wait(id, 10, rest=True)
        seen = []
        length = len(await client.engine.history(id))
        for last in range(length):
            async with listening(client, f"/api/runs/{id}/stream?after=0", str(last)) as listener:
                seen.append([each.id for each in await listener.take(length - last)])
        async with listening(client, f"/api/runs/{id}/stream") as listener:
            await client.engine.cancel(id)
            seen.append([each.id for each in await listener.rest()])
        return [*seen, [str(len(await client.engine.history(id)))]]

    *after, now, [length] = serve(talk)

    numbers = [str(number + 1) for number in range(len(after))]
    assert len(after) > 3
    assert after == [numbers[last:] for last in range(len(after))]
    assert now[-2:] == [length, None]


def test_the_stream_of_a_run_that_has_ended_ends(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        id = (await client.post("/api/workflows/chain/runs")).json["id"]
        await client.engine.wait(id, 10)
        found = []
        for last in (None, "9999"):
            async with listening(client, f"/api/runs/{id}/stream", last) as listener:
                found.append(await listener.rest())
        return [*found, await client.engine.history(id)]

    whole, nothing, history = serve(talk)

    assert [each.data for each in whole] == [*history, {}]
    assert nothing == [Message("end", {})]


def test_many_who_look_on_while_a_run_goes_on_miss_nothing(serve: Serve) -> None:
    async def follow(client: Client, id: str, after: int) -> list[str | None]:
        async with listening(client, f"/api/runs/{id}/stream?after={after}") as listener:
            return [each.id for each in await listener.rest()]

    async def talk(client: Client) -> tuple[list[Any], int]:
        id = await begin(client)
        tasks = []
        for _ in range(20):
            tasks.append(asyncio.create_task(follow(client, id, 0)))
            await client.engine.emit("go", run=id)
        await client.engine.wait(id, 10, rest=True)
        await client.engine.cancel(id)
        return await asyncio.gather(*tasks), len(await client.engine.history(id))

    heard, length = serve(talk)

    assert heard == [[*map(str, range(1, length + 1)), None]] * 20


@pytest.mark.parametrize("last", ["x", "-1", "1e3", "9" * 30])
def test_what_is_no_number_of_an_entry_is_refused(serve: Serve, last: str) -> None:
    async def talk(client: Client) -> Any:
        id = await begin(client)
        return await client.get(f"/api/runs/{id}/stream", headers={"last-event-id": last})

    answer = serve(talk)

    assert (answer.status, answer.json["code"]) == (400, "invalid_parameter")


def test_a_comment_comes_when_nothing_happens(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "HEARTBEAT_INTERVAL", 0.01)

    async def talk(client: Client) -> list[Any]:
        id = await begin(client)
        found = []
        for path in (f"/api/runs/{id}/stream?after=9999", "/api/stream"):
            async with listening(client, path) as listener:
                blocks = [await listener.block() for _ in range(3)]
                found.append(blocks == [{"id": listener.begins, "": "still here"}] * 3)
        return found

    assert serve(talk) == [True, True]


def test_who_is_cut_off_before_anything_came_misses_nothing(serve: Serve) -> None:
    async def talk(client: Client) -> list[Message]:
        id = await begin(client)
        begins = []
        for path in (f"/api/runs/{id}/stream", "/api/stream"):
            async with listening(client, path) as listener:
                begins.append(listener.begins)
        newest = int(begins[0])
        await client.engine.emit("go", run=id)
        async with listening(client, f"/api/runs/{id}/stream", begins[0]) as listener:
            entry = await listener.next()
        async with listening(client, "/api/stream", begins[1]) as listener:
            change = await listener.next()
        assert (newest + 1, id) == (entry.data["seq"], change.data["run"])
        return [entry, change]

    assert [each.event for each in serve(talk)] == ["history", "change"]


def test_who_may_see_nothing_of_what_happens_is_told_that_the_line_is_alive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(routes, "HEARTBEAT_INTERVAL", 0.05)

    class Busy:
        number = 0

        @property
        def id(self) -> str:
            return f"x-{self.number}"

        def id_of(self, number: int) -> str:
            return f"x-{number}"

        async def read(self, timeout: float) -> change_feed.Batch:
            await asyncio.sleep(0.001)  # changes come at a pace, and others have their turn
            self.number += 1
            return change_feed.Batch([(self.number, RunState("r", "hidden", "running", 1, None))])

    async def main() -> bytes:
        reader: Any = Busy()
        return await anext(routes._changes(reader, lambda workflow: False))

    piece = asyncio.run(asyncio.wait_for(main(), 10))

    assert re.fullmatch(rb"id: x-[1-9]\d*\n: still here\n\n", piece)


def test_a_client_that_takes_nothing_is_given_up_without_a_last_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "WRITE_TIMEOUT", 0.01)

    async def main() -> list[str]:
        sent: list[str] = []

        async def source() -> AsyncGenerator[bytes, None]:
            yield b"more"

        async def send(message: Any) -> None:
            sent.append(message["type"])
            if len(sent) > 1:
                await asyncio.Event().wait()

        async def forever(*_: object) -> Any:
            await asyncio.Event().wait()

        response = streams.StreamResponse(source(), 1, streams.Streams(), ANYBODY_HERE, forever)
        await asyncio.wait_for(response({"type": "http", "method": "GET"}, forever, send), 5)
        return sent

    assert asyncio.run(main()) == ["http.response.start", "http.response.body"]


def test_all_runs_are_followed(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[str, list[Message], list[Any]]:
        async with listening(client, "/api/stream") as listener:
            id = await client.engine.start("chain", subject="s")
            heard = [await listener.next()]
            while heard[-1].data["status"] != "succeeded":
                heard.append(await listener.next())
        return id, heard, await client.engine.history(id)

    id, heard, history = serve(talk)

    last = {"run": id, "workflow": "chain", "status": "succeeded", "seq": len(history), "subject": "s"}
    assert (heard[-1].event, heard[-1].data) == ("change", last)
    assert {each.data["run"] for each in heard} == {id}
    numbers = [each.id.rpartition("-") for each in heard if each.id]
    assert [int(number) for _, _, number in numbers] == list(range(1, len(heard) + 1))
    assert len({epoch for epoch, _, _ in numbers}) == 1


def test_who_comes_back_gets_what_it_missed(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[Message, list[Message]]:
        async with listening(client, "/api/stream") as listener:
            await client.engine.wait(await client.engine.start("chain"), 10)
            first = await listener.next()
        await client.engine.wait(await client.engine.start("chain"), 10)
        async with listening(client, "/api/stream", first.id) as listener:
            heard = [await listener.next()]
            while [each.data["status"] for each in heard].count("succeeded") < 2:
                heard.append(await listener.next())
        return first, heard

    first, heard = serve(talk)

    numbers = [int((each.id or "").rpartition("-")[2]) for each in (first, *heard)]
    assert numbers == list(range(1, len(heard) + 2))


@pytest.mark.parametrize("last", ["nonsense", "00000000-1", "", "x-", "-5"])
def test_who_comes_back_with_what_is_not_known_begins_anew(serve: Serve, last: str) -> None:
    async def talk(client: Client) -> list[Message]:
        async with listening(client, "/api/stream", last) as listener:
            reset = await listener.next()
            await client.engine.start("chain")
            return [reset, await listener.next()]

    reset, change = serve(talk)

    assert (reset.event, reset.data, change.event) == ("reset", {}, "change")
    assert (reset.id or "").rpartition("-")[0] == (change.id or "").rpartition("-")[0]


def test_who_was_away_for_too_long_begins_anew(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_feed, "MAX_REMEMBERED", 3)

    async def talk(client: Client) -> list[str]:
        async with listening(client, "/api/stream") as listener:
            await client.engine.wait(await client.engine.start("chain"), 10)
            first = await listener.next()
        for _ in range(3):
            await client.engine.wait(await client.engine.start("chain"), 10)
        async with listening(client, "/api/stream", first.id) as listener:
            return [(await listener.next()).event]

    assert serve(talk) == ["reset"]


def test_who_is_bound_to_workflows_hears_of_these_alone(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Caller, "sees", lambda self, workflow: workflow == "waits")

    async def talk(client: Client) -> Message:
        async with listening(client, "/api/stream") as listener:
            await client.engine.wait(await client.engine.start("chain"), 10)
            await begin(client)
            return await listener.next()

    assert serve(talk).data["workflow"] == "waits"


def test_nothing_stays_behind_when_a_client_goes(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[int, int, Any]:
        id = await begin(client)
        running = await client.engine._open()
        open_ = client.service.streams
        async with listening(client, f"/api/runs/{id}/stream"), listening(client, "/api/stream"):
            while not running.node.run_watch._waiters:
                await asyncio.sleep(0)
            most = len(open_)
        await until(lambda: not len(open_), "both streams to end")
        await asyncio.sleep(0)
        return most, len(running.node.changes._wakes), running.node.run_watch._waiters

    assert serve(talk) == (2, 0, {})


def test_a_server_that_stops_ends_its_streams_at_once(serve: Serve) -> None:
    async def talk(client: Client) -> list[Message]:
        async with listening(client, "/api/stream") as listener:
            client.service.streams.close()
            return await listener.rest()

    assert serve(talk) == []


def test_only_so_many_streams_are_served(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_STREAMS", 1)

    async def talk(client: Client) -> Any:
        async with listening(client, "/api/stream"):
            return await client.get("/api/stream")

    answer = serve(talk)

    assert (answer.status, answer.json["code"]) == (503, "too_many_streams")
    assert "retry-after" in answer.headers


async def forever() -> None:
    await asyncio.Event().wait()


def test_who_signed_in_without_a_token_has_a_share_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_STREAMS_PER_CALLER", 1)

    async def main() -> None:
        here, task = streams.Streams(), asyncio.create_task(forever())
        here.begin(task, Caller(name="ann@x.org", role="viewer"))
        here.limit_streams(Caller(name="bob@x.org", role="viewer"))
        with pytest.raises(streams.TooManyStreams):
            here.limit_streams(Caller(name="ann@x.org", role="viewer"))
        task.cancel()

    asyncio.run(main())


def test_a_token_opens_its_share_of_the_streams_and_leaves_the_rest(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MAX_STREAMS_PER_CALLER", 1)

    async def talk(client: Client) -> Any:
        made = await client.post(
            "/api/access", {"name": "ann", "role": "viewer"}, headers={"authorization": f"Bearer {OWN}"}
        )
        headers = {"authorization": f"Bearer {made.json['token']}"}
        async with client.session.get(client.base + "/api/stream", headers=headers) as response:
            await Listener(response).block()
            full = await client.get("/api/stream", headers=dict(headers))
            async with listening(client, "/api/stream"), listening(client, "/api/stream"):
                return full.status, full.json["code"]

    assert serve(talk) == (503, "too_many_streams")


def test_to_ask_for_the_head_of_a_stream_ends(serve: Serve) -> None:
    answer = serve(lambda client: client.ask("HEAD", "/api/stream"))

    assert (answer.status, answer.text) == (200, "")


async def listeners(url: str) -> int:
    """How many connections to a database listen."""
    line = await asyncpg.connect(url)
    try:
        asked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'"
        return int(await line.fetchval(asked))
    finally:
        await line.close()


def test_changes_on_another_node_are_heard(postgres: str) -> None:
    async def main() -> tuple[Any, Any]:
        tasks: dict[str, Any] = {"one": lambda: 1}
        async with Engine(postgres, tasks=tasks) as here, Engine(postgres, tasks=tasks, work=False) as there:
            await here.publish(WAITS)
            await there.workflows()
            reader = await there.following.changes()
            await until(lambda: listeners(postgres), "both to listen", so=lambda count: count == 2)
            id = await here.start("waits", subject="far")
            heard: list[Any] = []
            while not heard or heard[-1].status != "waiting":
                batch = await reader.read(10)
                heard += [state for _, state in batch.changes] if batch else []
            await here.cancel(id)
            return id, heard[-1]

    id, last = asyncio.run(asyncio.wait_for(main(), 30))

    assert (last.run, last.workflow, last.status, last.subject) == (id, "waits", "waiting", "far")


@pytest.mark.parametrize("path", ["/api/stream", "/api/runs/{run}/stream?after=9999"])
def test_a_stream_ends_when_its_token_is_revoked(
    serve: Serve, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT_INTERVAL", 0.1)

    async def talk(client: Client) -> list[Message]:
        await client.engine.publish(WAITS)
        run = await client.engine.start("waits")
        admin = {"authorization": f"Bearer {OWN}"}
        made = await client.post("/api/access", {"name": "ann", "role": "viewer"}, headers=dict(admin))
        headers = {"authorization": f"Bearer {made.json['token']}"}
        await client.engine.wait(run, 10, rest=True)
        address = client.base + path.format(run=run)
        async with client.session.get(address, headers=headers) as response:
            listener = Listener(response)
            await listener.block()
            await client.ask("DELETE", f"/api/access/{made.json['id']}", headers=dict(admin))
            return await listener.rest()

    assert [each.event for each in serve(talk, open=False)] == []
