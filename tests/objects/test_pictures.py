"""A picture that is put into a bucket gets its tags through two functions and a join, once, and that starts nothing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.boxes.task_environment import TaskEnvironment
from tests.api.conftest import Client
from tests.objects.camera import picture
from tests.objects.servers import JuiceFS
from tests.objects.telling import TOKEN, talk_to
from tests.postgres_server import free_port
from tests.waiting import listens, until, until_sync

EXAMPLES = Path(__file__).parents[2] / "examples" / "zenko" / "functions"
WORKFLOW = """
penstock: 1
name: pictures
source: {{kind: object, store: pics, suffix: .jpg}}
steps:
  file_type: {{task: http, with: {{url: "{file_type}", presign: read}}}}
  exif: {{task: http, with: {{url: "{exif}", presign: read}}}}
  write: {{task: update, after: [file_type, exif]{more}, emits: OK}}
"""


@contextmanager
def function(target: str) -> Iterator[str]:
    """One of the examples under the framework that clouds run functions with; its address."""
    port = free_port()
    command = [
        str(Path(sys.executable).parent / "functions-framework"),
        f"--target={target}",
        f"--source={EXAMPLES / target}.py",
        "--host=127.0.0.1",
        f"--port={port}",
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        until_sync(lambda: listens(port), f"the function {target}")
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module")
def functions() -> Iterator[dict[str, str]]:
    with function("file_type") as file_type, function("exif_extract") as exif:
        yield {"file_type": file_type, "exif": exif}


@pytest.mark.parametrize("more", ["", ", with: {metadata: {checked: 'yes'}, tags: '${ tags }'}"])
def test_a_picture_gets_its_tags_once_and_the_update_starts_nothing(
    more: str, telling: JuiceFS, functions: dict[str, str], tmp_path: Path
) -> None:
    bucket = telling.telling("pics")

    async def talk(client: Client) -> Any:
        await client.engine.publish(WORKFLOW.format(**functions, more=more), start=True)
        await asyncio.to_thread(telling.put, bucket, "a b/x+y.jpg", picture(), Tagging="album=summer")
        calls = client.service.hooks.taken
        counts = await until(
            client.engine.counts,
            "the end of a run",
            60,
            so=lambda counts: counts.get("succeeded") or counts.get("failed"),
        )
        assert not counts.get("failed"), await client.engine.runs()
        wanted = 2 if more else 1
        await until(lambda: calls["ignored"] >= wanted, "what the store tells of the update", 60)
        [run] = await client.engine.runs()
        return await client.engine.show(run["id"])

    stores = {"pics": telling.address(bucket, hook_token=TOKEN)}
    run = talk_to(
        talk, tmp_path, stores, port=telling.hook_port, world=TaskEnvironment(egress_allow=("127.0.0.1",))
    )
    wanted = {"album": "summer", "mime": "image/jpeg", "exif_make": "Acme Optical", "exif_model": "Mark IV"}
    found = telling.client.get_object_tagging(Bucket=bucket, Key="a b/x+y.jpg")["TagSet"]
    assert {each["Key"]: each["Value"] for each in found} == wanted == run["tags"]
    assert [run["steps"][name]["firings"] for name in ("file_type", "exif", "write")] == [1, 1, 1]
    head = telling.client.head_object(Bucket=bucket, Key="a b/x+y.jpg")
    assert head["Metadata"].get("checked") == ("yes" if more else None)
