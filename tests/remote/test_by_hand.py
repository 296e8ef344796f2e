"""A worker's job done by hand: the conversation of docs/spec/worker.md, word for word, with curl or a bare socket."""

from __future__ import annotations

import asyncio
import http.client
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from penstock import Engine
from tests.remote.engines import engine_behind_http

DOCUMENT = Path(__file__).parents[2] / "docs" / "spec" / "worker.md"
FLOW: dict[str, Any] = {"penstock": 1, "name": "video", "steps": {"size": {"task": "video.size"}}}
SAID = re.compile(r"^curl \$SERVER(\S+) -d '(.*)'$", re.M)


def words() -> list[tuple[str, str]]:
    """Path and body of each call of the document, with $ID and $LEASE to be filled in."""
    return SAID.findall(DOCUMENT.read_text(encoding="utf-8"))


def by_curl(base: str, path: str, body: str) -> tuple[int, Any]:
    said = subprocess.run(
        [
            "curl",
            "-s",
            "-w",
            "\n%{http_code}",
            "-H",
            "content-type: application/json",
            base + path,
            "-d",
            body,
        ],
        capture_output=True,
        check=True,
        timeout=30,
    ).stdout
    text, _, status = said.rpartition(b"\n")
    return int(status), msgspec.json.decode(text)


def by_socket(base: str, path: str, body: str) -> tuple[int, Any]:
    line = http.client.HTTPConnection(urlsplit(base).netloc, timeout=30)
    try:
        line.request("POST", path, body, {"content-type": "application/json"})
        answer = line.getresponse()
        return answer.status, msgspec.json.decode(answer.read())
    finally:
        line.close()


SPEAKERS = {"socket": by_socket} | ({"curl": by_curl} if shutil.which("curl") else {})


@pytest.mark.parametrize("speaker", SPEAKERS)
def test_the_conversation_of_the_document_does_a_task(speaker: str, tmp_path: Path) -> None:
    say = SPEAKERS[speaker]

    def talk(base: str) -> list[tuple[str, int]]:
        told, task = [], {"id": "", "lease": ""}
        for path, body in words():
            for name, value in (("$ID", task["id"]), ("'$LEASE'", task["lease"])):
                path, body = path.replace(name, value), body.replace(name, value)
            status, answer = say(base, path, body)
            told.append((path.rpartition("/")[2], status))
            if "tasks" in answer:
                [task] = answer["tasks"]
        return told

    async def play() -> tuple[list[tuple[str, int]], Any]:
        async with engine_behind_http(tmp_path) as (engine, base):
            return await _played(engine, base)

    async def _played(engine: Engine, base: str) -> tuple[list[tuple[str, int]], Any]:
        await engine.publish(FLOW)
        run = await engine.start("video", input={"path": "/a"})
        told = await asyncio.to_thread(talk, base)
        return told, (await engine.wait(run, 5))["steps"]["size"]["output"]

    told, output = asyncio.run(play())

    assert told == [
        ("poll", 200),
        ("heartbeat", 200),
        ("log", 200),
        ("complete", 200),
        ("complete", 200),
        ("complete", 409),
    ]
    assert output == {"bytes": 3}
