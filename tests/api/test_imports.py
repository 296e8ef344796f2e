"""`POST /api/import`."""

from __future__ import annotations

from typing import Any

from tests.api.conftest import Client, Serve
from tests.importing.others import VPW, Diagram

WAITS = "VPW = {'A': {'prerequisites': ['B']}}"


def test_a_text_of_another_engine_becomes_a_definition_and_nothing_is_kept(serve: Serve) -> None:
    async def talk(client: Client) -> Any:
        made = await client.ask("POST", "/api/import", {"kind": "viblio", "text": VPW, "name": "video"})
        return made, await client.ask("GET", "/api/workflows")

    made, workflows = serve(talk)
    assert (made.status, made.json["definition"]["name"], len(workflows.json["items"])) == (200, "video", 1)
    assert made.json["text"].startswith("# Imported from Viblio's stage dictionary.")
    assert any("The locks of" in note for note in made.json["notes"])


def test_what_is_made_can_be_checked(serve: Serve) -> None:
    text = Diagram("new>f f>end", new="data", f="function", end="stopper").text()

    async def talk(client: Client) -> Any:
        made = await client.ask("POST", "/api/import", {"kind": "zenko", "text": text})
        return await client.ask("POST", "/api/check", made.json["definition"])

    assert serve(talk).json["verdict"] == "proved"


def test_a_text_that_is_wrong_is_refused_with_each_thing(serve: Serve) -> None:
    async def talk(client: Client) -> Any:
        return [
            await client.ask("POST", "/api/import", {"kind": kind, "text": text})
            for kind, text in (
                ("zenko", '{"nodes": 1}'),
                ("viblio", "VPW = {'A': {'prerequisites': ['B']}}"),
                ("bpmn", ""),
            )
        ]

    answers = serve(talk)
    assert [answer.status for answer in answers] == [422, 422, 422]
    assert "'A' waits for 'B', which is no stage" in answers[1].text
