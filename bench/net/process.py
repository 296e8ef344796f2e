"""A contender in a process of its own: reads one request a line, answers one line each. `python -m ... NAME`."""

from __future__ import annotations

import gc
import importlib
import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from time import process_time_ns
from typing import Any, TextIO

from bench.net.work import Work, Works

CONTENDERS = ("penstock", "snakes", "searching", "spiff", "langgraph", "plain")


def serve(name: str, requests: TextIO, answers: Callable[[dict[str, Any]], None]) -> None:
    """Say hello with version and works, then measure what is asked for until the input ends."""
    try:
        module = importlib.import_module(f"bench.net.contenders.{name}")
    except ModuleNotFoundError as error:
        answers({"missing": error.name})
        return
    works: Works = module.works()
    known = version(module.PACKAGE) if module.PACKAGE else sys.version.split()[0]
    came_to = {work: each.run() for work, each in works.items()}
    answers(
        {"version": known, "steps": {work: each.steps for work, each in works.items()}, "answers": came_to}
    )
    for line in requests:
        request = json.loads(line)
        work = works[request["work"]]
        if "seconds" in request:
            answers({"repeats": repeats(work, request["seconds"])})
        else:
            answers({"ns": timed(work, request["repeats"])})


def repeats(work: Work, seconds: float) -> int:
    """How often the work is to be done to last about so long; it is warm after this."""
    count = 1
    while True:
        spent = timed(work, count) / 1e9
        if spent >= seconds / 4:
            return max(1, round(count * seconds / spent))
        count *= 2


def timed(work: Work, count: int) -> int:
    """Nanoseconds of processor time for doing the work `count` times, with the garbage collector at work."""
    run = work.run
    gc.collect()
    gc.freeze()
    start = process_time_ns()
    for _ in range(count):
        run()
    spent = process_time_ns() - start
    gc.unfreeze()
    return spent


def _say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer, sort_keys=True), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], sys.stdin, _say)
