"""Histories that a release wrote, kept for all later ones: `python -m tests.trust.replaying` records those of today.

A file is never changed: the code of today must read what is in it, and come to the same markings.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from penstock import Context, Engine, __version__
from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Entry
from penstock.flow.views.replay import Replay
from penstock.kernel.marking import Marking
from penstock.runtime.codec.decoder import Stored, decode_page
from penstock.runtime.codec.encoder import Packer
from penstock.runtime.node.flow_cache import compile_version
from penstock.store.open import open_store
from penstock.store.protocol import Store
from penstock.store.rows.change import Part
from penstock.store.rows.rows import Filter, Version
from tests.durable.conftest import LoopTime
from tests.simloop import SimLoop, run_simulated
from tests.waiting import pass_time

CORPUS = Path(__file__).parent / "corpus"
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
_STEP = {"task": "echo", "with": {"n": "${ data.n }"}}


def step(*after: Any, **more: Any) -> dict[str, Any]:
    return {**_STEP, **({"after": list(after)} if after else {}), **more}


SHAPES: dict[str, dict[str, Any]] = {
    "chain": {"steps": {"a": step(), "b": step("a"), "c": step("b")}, "result": "steps.c.output"},
    "branch": {"steps": {"a": step(), "b": step("a"), "c": step("a"), "d": step("b", "c")}},
    "either": {"steps": {"a": step(), "b": step(), "c": step("a | b", emits="OK")}},
    "need": {"steps": {**{name: step() for name in "abc"}, "d": step({"need": 2, "of": ["a", "b", "c"]})}},
    "loop": {
        "steps": {
            "a": {"task": "set", "after": "START | again", "with": {"n": "${ data.n + 1 }"}},
            "b": {
                "task": "decide",
                "after": "a",
                "with": {"if": "data.n < 4"},
                "emits": {"then": "again", "else": "OK"},
            },
        }
    },
    "retried": {"steps": {"a": step(task="flaky", retries=3, backoff={"initial": "1s", "jitter": 0})}},
    "fan": {"steps": {"a": step(each="[1, 2, 3]", parallel=2), "b": step("a")}},
    "timer": {"steps": {"a": {"task": "wait", "with": {"for": "5s"}}, "b": step("a")}},
    "event": {"external": ["paid"], "steps": {"a": step(), "b": step("a", "paid")}},
    "canceled": {"steps": {"a": {"task": "wait", "with": {"for": "1h"}}, "undo": step("CANCEL")}},
    "failed": {"steps": {"a": step(task="bad", retries=0), "b": step("a"), "undo": step("FAIL")}},
    "parent": {
        "steps": {"a": {"task": "workflow", "with": {"name": "chain", "input": {"n": 1}}}, "b": step("a")}
    },
    "asked": {
        "steps": {
            "a": {"task": "approval", "emits": {"approved": "yes", "rejected": "no"}},
            "b": step("yes"),
            "c": step("no"),
        }
    },
    "serial": {"steps": {"a": step(serialize="string(data.n)"), "b": step("a")}},
    "set": {"steps": {"a": {"task": "set", "with": {"n": "${ data.n + 1 }"}}, "b": step("a")}},
}


async def echo(n: int) -> dict[str, int]:
    return {"n": n}


async def flaky(ctx: Context, n: int) -> int:
    if ctx.attempt < 3:
        raise ValueError("not yet")
    return ctx.attempt


async def bad(n: int) -> None:
    raise ValueError("never")


TASKS: dict[str, Any] = {"echo": echo, "flaky": flaky, "bad": bad}


async def pay(engine: Engine, run: str) -> None:
    await engine.emit("paid", {"n": 5}, run=run)


async def repair(engine: Engine, run: str) -> None:
    await engine.repair(run, put=[{"step": "b", "slot": 1, "event": "paid"}])


async def cancel(engine: Engine, run: str) -> None:
    await engine.cancel(run)


async def retry(engine: Engine, run: str) -> None:
    await engine.retry(run)


async def approve(engine: Engine, run: str) -> None:
    [asked] = [each for each in await engine.approvals() if each["run"] == run]
    await engine.decide(asked["id"], "approved")


ACTS: dict[str, tuple[Callable[[Engine, str], Awaitable[None]], ...]] = {
    "event": (pay, repair),
    "canceled": (cancel,),
    "failed": (retry,),
    "asked": (approve,),
}
"""What is done to runs of a shape; one run of each shape is left as it comes to rest."""


async def played(engine: Engine) -> None:
    for name, shape in SHAPES.items():
        await engine.publish({"penstock": 1, "name": name, **shape}, override="recorded")
        for act in (None, *ACTS.get(name, ())):
            run = await engine.start(name, input={"n": 1})
            await pass_time(20)
            if act is not None:
                await act(engine, run)
                await pass_time(20)


def text(body: bytes) -> str:
    return base64.b64encode(body).decode()


def shown(flow: Flow, marking: Marking) -> list[str]:
    """A marking that people can compare."""
    slots = {
        slot.index: f"{each.name}.{number}"
        for each in flow.wiring.steps
        for number, slot in enumerate(each.slots)
    }
    lines = []
    for place, tokens in marking.tokens.items():
        index, key = place if isinstance(place, tuple) else (place, "")
        lines += [f"{slots[index]} {key} {token.name} {token.number}" for token in tokens]
    return sorted(lines)


class Recorded:
    """A run as its rows were."""

    def __init__(self, said: dict[str, Any]) -> None:
        self.said = said
        version = Version(
            workflow=said["workflow"],
            version=said["version"],
            definition=said["definition"],
            offers=base64.b64decode(said["offers"]),
            note=None,
            at=LONG_AGO,
        )
        self.flow = compile_version(version)
        parts = tuple(
            Part(kind, firing, index, base64.b64decode(body)) for kind, firing, index, body in said["parts"]
        )
        stored = Stored(base64.b64decode(said["header"]), base64.b64decode(said["head"]), parts)
        self.snapshot = stored.snapshot({}, Packer())
        self.history: list[Entry] = [
            entry for page in said["pages"] for entry in decode_page(base64.b64decode(page))
        ]

    def markings(self) -> list[list[str]]:
        """After each entry."""
        replay, found = Replay(self.flow), []
        for entry in self.history:
            replay.take(entry)
            found.append(shown(self.flow, replay.marking.look()))
        return found


async def written(store: Store) -> list[dict[str, Any]]:
    """All runs of a store, as their rows are."""
    found = []
    rows = await store.runs(Filter(limit=1_000))
    for row, stored in zip(rows, await store.load([row.id for row in rows]), strict=True):
        version = await store.version(row.workflow, row.version)
        assert stored is not None and version is not None
        said: dict[str, Any] = {
            "workflow": row.workflow,
            "version": row.version,
            "definition": version.definition,
            "offers": text(version.offers),
            "header": text(stored.header),
            "head": text(stored.head),
            "parts": [[part.kind, part.firing, part.index, text(part.body or b"")] for part in stored.parts],
            "pages": [text(page) for page in await store.pages(row.id, 0, 1_000)],
        }
        run = Recorded(said)
        found.append(
            said | {"status": run.snapshot.status, "result": run.snapshot.result, "markings": run.markings()}
        )
    return found


def record() -> list[dict[str, Any]]:
    """Play every shape on virtual time."""

    async def play(loop: SimLoop) -> list[dict[str, Any]]:
        store = await open_store("memory:", clock=LoopTime(loop))
        async with Engine(store=store, tasks=TASKS) as engine:
            await played(engine)
            return await written(store)

    runs: list[dict[str, Any]] = run_simulated(play)
    return runs


def main() -> None:
    runs = record()
    path = CORPUS / f"{__version__}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"release": __version__, "runs": runs}, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(runs)} runs, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
