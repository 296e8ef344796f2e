"""The example functions under the runtimes of their vendors, called by real steps."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from runpy import run_path
from typing import Any

from aiohttp import web

from penstock.objects.tags import validate_tags
from tests.boxes.conftest import functions, site
from tests.waiting import listens, until

FOLDER = Path(__file__).parents[2] / "examples" / "zenko" / "functions"
exif: Any = run_path(str(FOLDER / "exif_extract.py"))["exif"]
tag_text: Any = run_path(str(FOLDER / "exif_extract.py"))["tag_text"]
guess: Any = run_path(str(FOLDER / "file_type.py"))["guess"]
QUIET: dict[str, Any] = {"stdout": asyncio.subprocess.DEVNULL, "stderr": asyncio.subprocess.DEVNULL}


def picture() -> bytes:
    """The beginning of a JPEG with EXIF data."""
    make = b"Penstock\0"
    entries = struct.pack("<HHII", 0x010F, 2, len(make), 8 + 2 + 24 + 4) + struct.pack(
        "<HHIHH", 0x0112, 3, 1, 6, 0
    )
    tiff = b"II*\0" + struct.pack("<IH", 8, 2) + entries + struct.pack("<I", 0) + make
    return b"\xff\xd8\xff\xe1\x00\x50Exif\0\0" + tiff + b"\xff\xd9"


async def served(request: web.Request) -> web.StreamResponse:
    """The object, as a store gives it to who has a signed URL."""
    return web.Response(body=picture(), content_type="application/octet-stream")


@asynccontextmanager
async def framework(name: str) -> AsyncIterator[str]:
    """functions-framework with one of the examples; its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    source = str(FOLDER / f"{name}.py")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "functions_framework",
        "--source",
        source,
        "--target",
        name,
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        start_new_session=True,
        **QUIET,
    )
    try:
        await until(lambda: listens(port), "functions-framework to answer")
        yield f"http://127.0.0.1:{port}/"
    finally:
        os.killpg(process.pid, 9)
        await process.wait()


def describes(**calls: dict[str, Any]) -> dict[str, Any]:
    """Functions in parallel, and a join."""
    steps = {name: {"task": "http", "with": {**with_, "presign": "read"}} for name, with_ in calls.items()}
    return {"steps": {**steps, "join": {"task": "set", "after": list(calls), "with": {"tagged": True}}}}


async def described(folder: Path, **calls: dict[str, Any]) -> dict[str, Any]:
    async with site(folder) as here, functions(object=served) as there:
        running = await here.engine.running()
        assert running.environment is not None

        async def presign(how: str, data: Any) -> str:
            return f"{there.base}/object?how={how}"

        running.environment.presign = presign  # type: ignore[method-assign,assignment]
        return await here.run(describes(**calls))


def test_a_picture_gets_its_type_and_its_exif_tags_from_two_functions_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with framework("file_type") as first, framework("exif_extract") as second:
            run = await described(tmp_path, kind={"url": first}, exif={"url": second, "kind": "knative"})

            assert run["status"] == "succeeded"
            assert run["tags"] == {"mime": "image/jpeg", "exif_make": "Penstock", "exif_orientation": "6"}

    asyncio.run(asyncio.wait_for(main(), 60))


class RuntimeApi:
    """The two sides of Lambda: the Invoke API for callers, the runtime API for a function."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue()
        self.answers: dict[str, asyncio.Future[bytes]] = {}

    async def invoke(self, request: web.Request) -> web.StreamResponse:
        id = str(len(self.answers))
        self.answers[id] = asyncio.get_running_loop().create_future()
        await self.events.put((id, await request.read()))
        return web.Response(body=await self.answers[id], content_type="application/json")

    async def runtime(self, request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/next"):
            id, event = await self.events.get()
            headers = {
                "Lambda-Runtime-Aws-Request-Id": id,
                "Lambda-Runtime-Deadline-Ms": "4102444800000",
                "Lambda-Runtime-Invoked-Function-Arn": "arn:f",
            }
            return web.Response(body=event, headers=headers, content_type="application/json")
        self.answers[request.path.split("/")[4]].set_result(await request.read())
        return web.Response(status=202)


def test_a_function_on_lambda_is_invoked_by_its_name(tmp_path: Path) -> None:
    async def main() -> None:
        api = RuntimeApi()
        async with functions(**{"2015-03-31": api.invoke, "2018-06-01": api.runtime}) as cloud:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "awslambdaric",
                "file_type.handler",
                cwd=FOLDER,
                start_new_session=True,
                env={**os.environ, "AWS_LAMBDA_RUNTIME_API": cloud.base.removeprefix("http://")},
                **QUIET,
            )
            try:
                call = {
                    "kind": "lambda-invoke",
                    "url": cloud.base,
                    "function": "file-type",
                    "region": "eu-central-1",
                    "credentials": {"id": "AKID", "secret": "hush"},
                }
                run = await described(tmp_path, kind=call)
                assert run["tags"] == {"mime": "image/jpeg"}
            finally:
                os.killpg(process.pid, 9)
                await process.wait()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_types_are_told_by_the_first_bytes() -> None:
    files = (b"\x89PNG\r\n\x1a\n..", b"%PDF-1.7", b"plain text", b"\x00\xff\x00\xfe\xff\x00\x01\x02")

    assert [guess(each) for each in files] == [
        "image/png",
        "application/pdf",
        "text/plain",
        "application/octet-stream",
    ]


def test_a_picture_without_exif_data_has_no_tags() -> None:
    assert (exif(b"\xff\xd8\xff\xdb"), exif(b"Exif\0\0II*\0"), exif(picture()[:40])) == ({}, {}, {})


def test_what_a_camera_writes_becomes_a_tag_that_stores_take() -> None:
    said = ["Cam <&> Co", "X#100", "Adobe Photoshop CS6 (Windows)", "2026:01:31 12:00:00", "x" * 300]
    made = [tag_text(each) for each in said]
    assert made == ["Cam Co", "X 100", "Adobe Photoshop CS6 Windows", "2026:01:31 12:00:00", "x" * 256]
    for each in made:
        validate_tags({"exif_make": each})
