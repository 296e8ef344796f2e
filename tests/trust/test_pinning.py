"""C11: a run goes by the version that it began with, and by what was recorded of it whatever release reads that."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock import Engine
from penstock.flow.views.replay import fold
from tests.chaos.checking import read_runs, torn
from tests.trust.replaying import CORPUS, SHAPES, Recorded

VERSIONS, SEEDS = 8, (1,)


def edited(random: Random, version: int) -> dict[str, Any]:
    """A chain of other steps each time, of which one waits for word from outside."""
    names = random.sample("abcdefgh", random.randint(2, 6))
    waits = random.randrange(1, len(names))
    steps: dict[str, Any] = {}
    for place, name in enumerate(names):
        after = ([names[place - 1]] if place else []) + (["go"] if place == waits else [])
        steps[name] = {"task": "echo", "with": {"v": version}, **({"after": after} if after else {})}
    return {
        "penstock": 1,
        "name": "carry",
        "external": ["go"],
        "steps": steps,
        "result": f"[{version}, steps.{names[-1]}.output]",
    }


async def echo(v: int) -> int:
    return v


async def begin(url: str, definitions: list[dict[str, Any]], random: Random) -> dict[str, int]:
    """Publish one after the other, while runs of those before are under way; run → the version it must keep."""
    wanted: dict[str, int] = {}
    async with Engine(url, tasks={"echo": echo}, grace=0) as engine:
        for version, definition in enumerate(definitions, 1):
            assert await engine.publish(definition) == version
            wanted[await engine.start("carry", input={"number": version})] = version
            old = random.randint(1, version)
            wanted[await engine.start("carry", input={"number": -version}, version=old)] = old
            lucky = random.choice(list(wanted))
            await engine.emit("go", run=lucky, id="once")
    return wanted


@pytest.mark.parametrize("seed", SEEDS)
def test_c11_runs_keep_their_version_whatever_is_published_meanwhile(url: str, seed: int) -> None:
    random = Random(seed)
    definitions = [edited(random, version) for version in range(1, VERSIONS + 1)]

    async def main() -> None:
        wanted = await begin(url, definitions, random)
        async with Engine(url, tasks={"echo": echo}, grace=0) as engine:  # which has compiled nothing yet
            for run in wanted:
                await engine.emit("go", run=run, id="once")
            found = {run: await engine.wait(run, 30) for run in wanted}
            store = (await engine.running()).store
            runs = await read_runs(store)
            assert list(torn(runs, {})) == []
        for run, version in wanted.items():
            fired = {entry.step for entry in runs[run].history if entry.kind == "fired"}
            assert found[run]["status"] == "succeeded", found[run]["error"]
            assert (found[run]["version"], found[run]["result"]) == (version, [version, version])
            assert fired == set(definitions[version - 1]["steps"])

    asyncio.run(main())


FILES = sorted(CORPUS.glob("*.json"))


def recorded(file: Path) -> list[Recorded]:
    return [Recorded(said) for said in json.loads(file.read_text(encoding="utf-8"))["runs"]]


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_c11_recorded_histories_lead_to_the_markings_that_they_led_to_then(file: Path) -> None:
    for run in recorded(file):
        said = run.said
        assert run.markings() == said["markings"], said["workflow"]
        assert (run.snapshot.status, run.snapshot.result) == (said["status"], said["result"])
        assert fold(run.flow, run.history).tokens == run.snapshot.marking.tokens


def test_c11_a_history_that_leads_elsewhere_is_seen() -> None:
    run = next(run for run in recorded(FILES[-1]) if run.said["workflow"] == "branch")
    run.history = [entry for entry in run.history if entry.event != "c"]

    with pytest.raises(Exception, match="was not enabled"):
        run.markings()


def test_c11_every_shape_is_recorded() -> None:
    assert {run.said["workflow"] for file in FILES for run in recorded(file)} >= set(SHAPES)
