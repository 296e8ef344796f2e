"""The whole measurement: rounds in which everybody has a turn, with the limits of the machine before and after."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from tests.postgres_server import PostgresServer

from bench.bars import bars
from bench.engine.places import disk
from bench.growth import growth
from bench.limits import fsyncs, limits
from bench.memory import TITLES, Found, in_memory
from bench.results import Entry, Results
from bench.roster import CONTESTANTS, OURS, Contestant
from bench.session import ROOT, Heard, session

Say = Callable[[str], None]
WORKS = ("W1", "W2", "W3", "W4")
PATIENCE = 90.0
"""Seconds for all of W5."""
LONG = 3
"""Turns of which W6 has the time, in which a million runs are copied, and nodes, which are started."""


class Plan(Struct, frozen=True, kw_only=True):
    """How much is done. `budget` is the time after which nobody gets another turn."""

    kind: str = "full"
    rounds: int = 3
    whole: tuple[int, ...] = (0, 1, 2)
    """Rounds in which everybody has a turn, with all that is measured."""
    parts: int = 3
    long: bool = True
    factor: float = 2.0
    idle: float = 5.0
    past: int = 1_000_000
    past_runs: int = 20_000
    http: float = 4.0
    nodes: int = 8_000
    memory: tuple[int, float] = (15, 0.05)
    probe: float = 1.0
    budget: float = 1_600.0
    grow: bool = True


QUICK = Plan(
    kind="quick",
    whole=(1,),
    parts=1,
    long=False,
    factor=0.5,
    idle=2.0,
    past=50_000,
    past_runs=18_000,
    http=1.5,
    nodes=4_000,
    memory=(15, 0.03),
    probe=0.4,
    budget=262.0,
    grow=False,
)


class Comparison:
    """One measurement under way."""

    def __init__(self, plan: Plan, folder: Path, server: PostgresServer, say: Say) -> None:
        self._plan, self._folder, self._server, self._say = plan, folder, server, say
        self._began = time.monotonic()
        self._number = 0  # of the round
        others = sum(bool(each.always) for each in CONTESTANTS) * (plan.rounds - len(plan.whole))
        # In a whole round two stores of W7 and the nodes besides; once two stores of W6.
        self._turns = len(plan.whole) * (len(CONTESTANTS) + 2 + LONG) + others + 2 * LONG
        self.results = Results(
            kind=plan.kind,
            began=datetime.now(UTC).isoformat(timespec="seconds"),
            rounds=plan.rounds,
            whole=len(plan.whole),
            python=platform.python_version(),
            machine=platform.platform(),
            cores=os.cpu_count() or 1,
            commit=_commit(),
        )

    def run(self) -> Results:
        """Everything. Who interrupts it has what was measured until then."""
        try:
            self._all()
        except KeyboardInterrupt:
            self._note("It was interrupted: all that would have followed is missing.")
        self.results.seconds = time.monotonic() - self._began
        self.results.bars = bars(self.results)
        return self.results

    def _all(self) -> None:
        self._limits()
        self._memory()
        self._special("W6", self._plan.past_runs, 420.0, {"BENCH_PAST": str(self._plan.past)}, turns=LONG)
        for number in range(self._plan.rounds):
            self._round(number)
        if self._plan.grow:
            self._grow()
        self._limits()

    # -- turns -------------------------------------------------------------------------------------------------

    def _round(self, number: int) -> None:
        """Everybody once, and each round begins with somebody else."""
        self._number = number
        whole = number in self._plan.whole
        if whole:
            self._special("W7", 0, 60.0)
            self._special("nodes", self._plan.nodes, 120.0, turns=LONG)
        for each in [*CONTESTANTS[number:], *CONTESTANTS[:number]]:
            if whole or each.always:
                with self._noted(f"{each.title} in round {number + 1}"):
                    self._turn(each, number, WORKS if whole else each.always)

    def _turn(self, each: Contestant, number: int, works: Collection[str]) -> None:
        seconds = min(each.seconds * max(1.0, self._plan.factor), self._share())
        if not self._time_for(each.title):
            return
        entry = self._entry(each)
        if each.peer != OURS and not each.python.exists():
            entry.errors = ["not installed: run `make bench-setup`"]
            return
        if each.slow and not self._plan.long:
            entry.errors = [f"only in the full measurement: {each.slow}"]
            return
        self._say(f"round {number + 1} of {self._plan.rounds}: {each.title}")
        self.results.fsyncs.setdefault(each.key, []).append(fsyncs(self._folder, 0.1))
        self._take(each, self._session(each, self._orders(each, works), seconds))

    def _orders(self, each: Contestant, works: Collection[str]) -> dict[str, object]:
        plan = self._plan
        fans = each.fans if plan.long else each.fans[-1:]
        return {
            "runs": int(each.runs * plan.factor) if "W1" in works else 0,
            "fans": fans if "W2" in works else [],
            "singles": each.singles,
            "idle": plan.idle if "W4" in works else 0,
            "parts": plan.parts,
            "long": plan.long,
        }

    def _special(
        self, want: str, runs: int, seconds: float, more: dict[str, str] | None = None, turns: int = 1
    ) -> None:
        """What Penstock alone is asked for, on each store that it is about."""
        for each in CONTESTANTS:
            if each.peer != OURS or (want == "nodes" and each.store != "postgresql"):
                continue
            share, what = min(seconds, self._share(turns)), f"{want} of {each.title}"
            if self._time_for(what):
                self._say(f"{want}: {each.title}")
                orders = {"runs": runs, "fans": [], "singles": 0, "idle": self._plan.http, "wants": [want]}
                with self._noted(what):
                    self._take(each, self._session(each, orders, share, more))

    def _session(
        self, each: Contestant, orders: dict[str, object], seconds: float, more: dict[str, str] | None = None
    ) -> Heard:
        url = self._server.create_database() if each.store == "postgresql" else ""
        self._settle()
        python = sys.executable if each.peer == OURS else str(each.python)
        asked = {**orders, "store": each.store, "url": url}
        try:
            return session(python, each.module, asked, self._folder, seconds, more)
        finally:
            if url:
                self._server.query(f"DROP DATABASE IF EXISTS {url.rpartition('/')[2]} WITH (FORCE)")

    def _settle(self) -> None:
        """What the one before left to be written is written down: the next one's commits need not wait for it."""
        self._server.query("CHECKPOINT")
        os.sync()

    def _take(self, each: Contestant, heard: Heard) -> None:
        entry = self._entry(each)
        entry.versions.update(heard.facts.get("versions", {}))
        for line in heard.lines:
            if line.value is not None:
                entry.add(line.work, line.variant, line.value, line.unit, self._number)
            elif line.error is not None:
                said = f"{line.work}{f' ({line.variant})' if line.variant else ''}: {line.error}"
                self._say(f"  {each.title}: {said}")
                if said not in entry.errors:
                    entry.errors.append(said)

    def _entry(self, each: Contestant) -> Entry:
        settings = f"{each.settings}; W3 of {each.singles} runs"
        made = Entry(title=each.title, settings=settings, lacks=each.lacks)
        return self.results.entries.setdefault(each.key, made)

    # -- what is not a turn --------------------------------------------------------------------------------------

    def _limits(self) -> None:
        self._say("the limits of the machine")
        with self._noted("The machine"):
            self.results.limits.append(limits(self._folder, self._server.url(), self._plan.probe))

    def _memory(self) -> None:
        if not self._time_for("W5"):
            return
        self._say("W5: runs in memory")
        with self._noted("W5"):
            self._take_in_memory(in_memory(*self._plan.memory, min(PATIENCE, self._left())))

    def _take_in_memory(self, found: Found) -> None:
        for name, title in TITLES.items():
            key = f"{OURS}-memory" if name == OURS else name
            entry = self.results.entries.setdefault(key, Entry(title=title))
            if name in found.missing:
                entry.errors = [found.missing[name]]
            if name in found.versions:
                entry.versions = {name: found.versions[name]}
            for work, samples in found.micros.items():
                for number, micros in enumerate(samples.get(name, ())):
                    entry.add(f"W5 {work}", "", micros, "µs a step", number)

    def _grow(self) -> None:
        database = self._server.create_database
        for each in growth(self._folder, database, self._time_for, self._say, self._noted):
            self.results.growth.append(each)

    def _share(self, turns: int = 1) -> float:
        """Twice what is left for each turn that is to come: on a slow machine everybody has a part of the time."""
        share = max(8.0, 2 * self._left() * turns / max(turns, self._turns))
        self._turns -= turns
        return share

    def _left(self) -> float:
        return max(0.0, self._plan.budget - (time.monotonic() - self._began))

    def _time_for(self, what: str) -> bool:
        if self._left() > 0:
            return True
        self._note(f"No time was left for {what}.")
        return False

    @contextmanager
    def _noted(self, what: str) -> Iterator[None]:
        """Whatever goes wrong inside costs this figure, and none of the others."""
        try:
            yield
        except Exception as error:
            self._note(f"{what} has no figure: {str(error) or type(error).__name__}.")

    def _note(self, text: str) -> None:
        """Said, and in the table."""
        self._say(text)
        self.results.notes.append(text)


def _commit() -> str:
    """Of which code the figures are; none where it is no clone."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def measure(plan: Plan, say: Say) -> Results:
    """Everything, on a folder of a real disk and a PostgreSQL of our own."""
    with _place() as (folder, server):
        return Comparison(plan, folder, server, say).run()


@contextmanager
def _place() -> Iterator[tuple[Path, PostgresServer]]:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="penstock-bench-", dir=disk()))
        server = PostgresServer(folder=disk()).start()
        stack.callback(server.remove)
        yield Path(folder), server
