"""Who takes part, with which settings, and what each does not promise."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

HOME = Path(__file__).resolve().parent
PLACE, ENVS = HOME / "peers", HOME / ".envs"
PEERS = ("dbos", "celery", "temporal", "restate", "procrastinate", "prefect", "snakes", "spiff", "langgraph")
"""Neighbours that have an environment of their own; those of W5 (in memory) come last."""

OURS = "penstock"
STORES = ("sqlite", "postgresql")


class Contestant(Struct, frozen=True, kw_only=True):
    """One program with one store. `runs` are those of W1 in a short round, `singles` those of W3, `seconds` is the
    limit of a whole session.

    `separate` names the variants in which the system schedules each step by itself, as Penstock does. `always` names
    what is measured of it also in rounds in which not everybody has a turn: that which narrow bars are about. `slow`
    says why a short measurement has no time for it.
    """

    key: str
    title: str
    peer: str
    store: str = ""
    runs: int
    fans: tuple[int, ...] = (100, 1_000)
    singles: int = 100
    seconds: float = 60.0
    durable: bool = True
    separate: tuple[str, ...] = ("",)
    always: tuple[str, ...] = ()
    slow: str = ""
    variants: Mapping[str, str] = {}
    settings: str
    lacks: str

    @property
    def python(self) -> Path:
        return ENVS / self.peer / "bin" / "python"

    @property
    def module(self) -> str:
        return f"bench.peers.{self.peer}.worker" if self.peer != OURS else "bench.ours"


CONTESTANTS = (
    Contestant(
        key="penstock-sqlite",
        title="Penstock on SQLite",
        peer=OURS,
        store="sqlite",
        runs=24_000,
        singles=200,
        always=("W1", "W3", "W4"),
        settings="engine in one process, WAL, synchronous=FULL, 2,000 runs under way",
        lacks="one process writes the file: no second node on SQLite",
    ),
    Contestant(
        key="penstock-postgresql",
        title="Penstock on PostgreSQL",
        peer=OURS,
        store="postgresql",
        runs=24_000,
        singles=200,
        always=("W1", "W3", "W4"),
        settings="engine in one process, stock PostgreSQL 18 with fsync, 2,000 runs under way",
        lacks="a step that was under way at a crash is done again, as with every system here that tries again",
    ),
    Contestant(
        key="dbos-postgresql",
        title="DBOS on PostgreSQL",
        peer="dbos",
        store="postgresql",
        runs=250,
        variants={"": "fan through a queue", "steps": "fan of gathered steps"},
        settings="same PostgreSQL, pool of 32, workflows started in its own process by 32 threads;"
        " the queue of the fan is polled every 10 ms",
        lacks="a workflow is Python code that must stay deterministic; changed code does not fit runs under way",
    ),
    Contestant(
        key="dbos-sqlite",
        title="DBOS on SQLite",
        peer="dbos",
        store="sqlite",
        runs=200,
        variants={"": "fan through a queue", "steps": "fan of gathered steps"},
        settings="as on PostgreSQL, with the SQLite of its driver at its default settings",
        lacks="the same, and SQLite is meant for development",
    ),
    Contestant(
        key="restate",
        title="Restate",
        peer="restate",
        runs=300,
        variants={"": "each step a call", "steps": "steps written down inside of one handler"},
        settings="one server with its defaults, service behind Hypercorn with uvloop, 64 calls over HTTP at a time",
        lacks="its licence is BSL; steps inside of one handler are not scheduled by themselves",
    ),
    Contestant(
        key="temporal",
        title="Temporal",
        peer="temporal",
        runs=40,
        singles=20,
        seconds=90.0,
        variants={"": "activities", "local": "local activities"},
        settings="development server on SQLite in WAL mode, worker without sandbox, 64 workflows at a time",
        lacks="the development server is not for production; local activities are done again after a crash"
        " together with their neighbours",
    ),
    Contestant(
        key="celery",
        title="Celery on Valkey",
        peer="celery",
        runs=300,
        durable=False,
        always=("W3",),
        settings="two worker processes, defaults: acknowledged early (acks_late off), results in Valkey,"
        " no append-only file",
        lacks="not durable: a task under way at a crash is lost, and Valkey may lose its last seconds",
    ),
    Contestant(
        key="procrastinate",
        title="Procrastinate",
        peer="procrastinate",
        store="postgresql",
        runs=200,
        settings="same PostgreSQL, worker in its own process with 32 jobs at a time, woken by NOTIFY and looking by"
        " itself every 50 ms",
        lacks="no workflows: the chain is made by hand, a step may be done twice after a crash,"
        " and the join is counted in memory",
    ),
    Contestant(
        key="prefect",
        title="Prefect",
        peer="prefect",
        runs=4,
        fans=(100,),
        singles=3,
        seconds=90.0,
        slow="its server takes up to half a minute to start",
        settings="its server on SQLite, flows in the calling process, no logs to the server, no retries",
        lacks="nothing of a flow is taken up again after a crash: it is only told what happened",
    ),
)

BY_KEY = {each.key: each for each in CONTESTANTS}
