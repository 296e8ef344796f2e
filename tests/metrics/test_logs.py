"""Every line says what it is about, in a form for machines or for people, and no secret gets through."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from penstock import Engine
from penstock.metrics.logs import Format, logging_to, redactions
from penstock.runtime.node.log_context import ATTEMPT, REQUEST

log = logging.getLogger("shop")

TEXT = """
penstock: 1
name: w
steps:
  plain: {task: plain}
  slow: {task: slow, after: plain}
  each: {task: item, after: slow, each: '[1, 2]', emits: OK}
"""


def plain() -> None:
    log.info("packing %d boxes", 2, extra={"boxes": 2})


async def slow() -> None:
    await asyncio.sleep(0)
    log.warning("is slow")


async def item(ctx: Any) -> None:
    log.info("item")


@pytest.fixture
def redact() -> Iterator[None]:
    redactions.append(lambda text: text.replace('s3"cret', "***"))
    yield
    redactions.clear()


def written(format: Format, level: str = "info") -> tuple[str, list[str]]:
    """The id of a run, and the lines that were written while it ran."""
    stream = io.StringIO()

    async def main() -> str:
        async with Engine("memory:", tasks={"plain": plain, "slow": slow, "item": item}) as engine:
            await engine.publish(TEXT)
            run = await engine.start("w")
            assert (await engine.wait(run, 10))["status"] == "succeeded"
            return run

    with logging_to(level, format, stream):
        run = asyncio.run(main())
    log.info("after")
    return run, [line for line in stream.getvalue().splitlines() if "asyncio" not in line]


def test_json_lines_tell_run_step_and_attempt() -> None:
    run, lines = written("json")

    said = [json.loads(line) for line in lines]
    assert all(each.pop("time").endswith("+00:00") for each in said)
    about = {"run": run, "workflow": "w", "attempt": 1, "logger": "shop"}
    assert sorted(said, key=lambda each: (each["step"], each.get("index", 0))) == [
        {**about, "level": "info", "message": "item", "step": "each", "index": 0},
        {**about, "level": "info", "message": "item", "step": "each", "index": 1},
        {**about, "level": "info", "message": "packing 2 boxes", "step": "plain", "boxes": 2},
        {**about, "level": "warning", "message": "is slow", "step": "slow"},
    ]


def test_lines_for_people_tell_the_same() -> None:
    run, lines = written("text", "warning")

    [line] = lines
    assert line.endswith(f"WARNING is slow [run={run} workflow=w step=slow attempt=1]")


def test_outside_of_tasks_and_requests_a_line_is_about_nothing() -> None:
    stream = io.StringIO()
    with logging_to("info", "text", stream):
        log.info("begun")
        REQUEST.set("r-1")
        log.info("asked")
        REQUEST.set(None)

    first, second = stream.getvalue().splitlines()
    assert (first[24:], second[24:]) == ("INFO    begun", "INFO    asked [request=r-1]")
    assert ATTEMPT.get() is None


def test_an_error_is_one_line_of_json() -> None:
    stream = io.StringIO()
    with logging_to("info", "json", stream):
        try:
            raise ValueError("oh")
        except ValueError:
            log.exception("it failed", extra={"odd": object})

    [line] = stream.getvalue().splitlines()
    said = json.loads(line)
    assert (said["message"], said["error"].splitlines()[-1], said["odd"]) == (
        "it failed",
        "ValueError: oh",
        "<class 'object'>",
    )


@pytest.mark.parametrize("format", ["text", "json"])
def test_redactions_see_every_line_before_it_is_written(format: Format, redact: None) -> None:
    stream = io.StringIO()
    with logging_to("info", format, stream):
        log.info('token s3"cret', extra={"value": 's3"cret'})
        try:
            raise ValueError('with s3"cret')
        except ValueError:
            log.exception("failed")

    assert "cret" not in stream.getvalue()
    assert stream.getvalue().count("***") >= 3


def test_a_line_for_people_stays_one_whatever_strangers_wrote(redact: None) -> None:
    stream = io.StringIO()
    with logging_to("info", "text", stream):
        log.info("key %s", "a\n2026-01-01 INFO all is well\x1b[2J", extra={"of": 's3"cret\u2028x'})

    [line] = stream.getvalue().splitlines()
    assert line.endswith(r"key a\n2026-01-01 INFO all is well\x1b[2J [of=***\u2028x]")
