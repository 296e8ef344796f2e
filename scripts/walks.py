"""Count the walks: how many modules of Penstock three pieces of work visit, and how often they change the module.

A *walk* is the sequence of calls of Penstock's functions, from where the work comes in to where it is done. The module
of a call is the file that holds the function. A walk *visits* each module in which it calls a function, and *changes*
the module with each call whose module is not that of the call before. Not counted: returns, coroutines that continue
after an `await`, comprehensions and lambdas, the bodies of modules, code without a file (a generated `__init__`), and
`penstock.testing`, which simulates loop and clock. Each walk is taken once before it is counted, so caches are warm.

The table in CONTRIBUTING.md holds the figures; a walk that exceeds them fails. `--write` writes them anew, `--trace`
prints the modules of each walk in order.
"""

from __future__ import annotations

import asyncio
import dis
import io
import re
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, redirect_stdout
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

from anyio import to_thread
from msgspec import Struct
from tests.simloop import SimLoop, run_simulated
from uvicorn import Config
from uvicorn.server import ServerState

from penstock.access.access import Access
from penstock.api.app import App
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.cli.main import app
from penstock.engine.engine import Engine
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.server.protocol import LimitedHttpProtocol
from penstock.store.rows.change import Change, Committed
from penstock.store.sqlite.connection import Options
from penstock.store.sqlite.store import SqliteStore

ROOT = Path(__file__).resolve().parent.parent
SOURCES = f"{ROOT / 'src' / 'penstock'}/"
TABLE = ROOT / "CONTRIBUTING.md"
UNCOUNTED = frozenset({"<module>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"})

CHECKED = ROOT / "examples" / "tea.yaml"
CHAIN = {
    "penstock": 1,
    "name": "chain",
    "steps": {"one": {"task": "one"}, "two": {"task": "two", "after": "one"}},
}
INBOX = {**CHAIN, "name": "inbox", "source": {"kind": "object", "store": "inbox", "events": ["created"]}}
TOKEN = "the-first-admin-token-of-this-server"
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
REST = 1.037
"""Seconds between two walks, on the simulated clock: everything else is done by then, and no timer is due."""


class Figures(Struct, frozen=True):
    modules: int
    changes: int


class Walk:
    """The modules of the calls between `begin` and `end`, in order."""

    def __init__(self) -> None:
        self._calls: list[str] = []

    def begin(self) -> None:
        self._calls.clear()
        sys.setprofile(self._see)

    def end(self) -> None:
        sys.setprofile(None)

    @property
    def modules(self) -> list[str]:
        """Those of calls that change the module."""
        pairs = zip(["", *self._calls], self._calls, strict=False)
        return [module for before, module in pairs if module != before]

    @property
    def figures(self) -> Figures:
        return Figures(len(set(self._calls)), len(self.modules) - 1)

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_name in UNCOUNTED or not code.co_filename.startswith(SOURCES):
            return
        module = code.co_filename.removeprefix(SOURCES)
        if frame.f_lasti <= _beginning(code) and not module.startswith("testing/"):
            self._calls.append(module)


@cache
def _beginning(code: CodeType) -> int:
    """Where the code of a function begins; a coroutine that continues is beyond it."""
    return next(each.offset for each in dis.get_instructions(code) if each.opname == "RESUME")


def walks() -> dict[str, Walk]:
    """The three, by the names in the table."""
    return {
        "`POST /api/workflows/{name}/runs`, to the commit": _simulated(start_run),
        "`penstock check FILE`": check_file(),
        "a file dropped into a watched folder, to the commit": _simulated(drop_file),
    }


# -- the walks ---------------------------------------------------------------------------------------------


def check_file() -> Walk:
    """From the command line to the exit code."""
    walk = Walk()
    for _ in range(2):
        with redirect_stdout(io.StringIO()):
            walk.begin()
            code = app(["check", str(CHECKED)], standalone_mode=False)
            walk.end()
        if code:
            raise RuntimeError(f"penstock check ended with {code}")
    return walk


async def start_run(walk: Walk, folder: Path, loop: SimLoop) -> None:
    """From the bytes of a request with a token to the commit of the run that it starts."""
    async with _engine(walk, folder, loop, feed=False) as engine:
        await engine.publish(CHAIN)
        store = (await engine.running()).store
        service = await Service.of(engine, Access(store, Vault(store, Keys(folder / "penstock.key")), TOKEN))
        config = Config(
            App(service, CALLS), http=LimitedHttpProtocol, ws="none", lifespan="off", log_config=None
        )
        protocol = LimitedHttpProtocol(config, ServerState(), {}, loop)
        connection = Connection()
        protocol.connection_made(connection)
        for _ in range(2):
            connection.sent.clear()
            walk.begin()
            protocol.data_received(_request(b'{"input": {"cups": 2}}'))
            await asyncio.sleep(REST)
            if not connection.sent.startswith(b"HTTP/1.1 201"):
                raise RuntimeError(connection.sent.decode())
        protocol.connection_lost(None)


def _request(body: bytes) -> bytes:
    head = (
        "POST /api/workflows/chain/runs HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {TOKEN}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join((*head, "", "")).encode() + body


async def drop_file(walk: Walk, folder: Path, loop: SimLoop) -> None:
    """From the word of the operating system that a file came to the commit of the run that it starts."""
    inbox = folder / "inbox"
    inbox.mkdir()
    dropped: asyncio.Queue[str] = asyncio.Queue()

    async def listen(watch: Callable[..., Any], *how: Any) -> Any:
        """In place of the thread that waits for the operating system."""
        name = await dropped.get()
        (folder / name).write_text("tea")
        (folder / name).rename(inbox / name)
        while isinstance(told := watch(*how), str):  # a word that nothing came yet
            pass
        walk.begin()
        return told

    at_once = patch(
        "penstock.sources.objects.folder.QUIET_SECONDS", 0.0
    )  # else the source looks again a second later
    with at_once, patch.object(to_thread, "run_sync", listen):
        async with _engine(walk, folder, loop, stores={"inbox": f"dir://{inbox}"}) as engine:
            await engine.publish(INBOX, start=True)
            for name in ("one.txt", "two.txt"):
                await asyncio.sleep(REST)
                dropped.put_nowait(name)
            await asyncio.sleep(REST)


def _simulated(take: Callable[[Walk, Path, SimLoop], Coroutine[Any, Any, None]]) -> Walk:
    walk = Walk()
    with TemporaryDirectory() as folder:
        run_simulated(partial(take, walk, Path(folder)), order="fifo")
    return walk


@asynccontextmanager
async def _engine(walk: Walk, folder: Path, loop: SimLoop, **more: Any) -> AsyncIterator[Engine]:
    """An engine without workers on a SQLite file; the walk ends with the commit of a new run."""
    store = SqliteStore.open(str(folder / "penstock.db"), VirtualTime(loop), Options(inline=True))
    commit = store.commit

    async def to_the_end(changes: Sequence[Change]) -> Committed:
        committed = await commit(changes)
        if any(change.new is not None for change in changes):
            walk.end()
        return committed

    store.commit = to_the_end  # type: ignore[method-assign]
    async with Engine(store=store, tasks={}, work=False, grace=0, **more) as engine:
        yield engine


class VirtualTime:
    """The store's clock, moved by the loop."""

    def __init__(self, loop: SimLoop) -> None:
        self._loop = loop

    def now(self) -> datetime:
        return BEGAN + timedelta(seconds=self._loop.time())


class Connection(asyncio.Transport):
    """The server's side of a connection."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.sent = bytearray()

    def write(self, data: Any) -> None:
        self.sent += data

    def is_closing(self) -> bool:
        return False

    def resume_reading(self) -> None:
        """Nothing paused it: requests come one at a time."""

    def close(self) -> None:
        """The walk is over."""


# -- the table ---------------------------------------------------------------------------------------------

ROW = re.compile(r"^\| (?P<name>[^|]+) \| (?P<modules>\d+) \| (?P<changes>\d+) \|$", re.MULTILINE)


def recorded(text: str) -> dict[str, Figures]:
    """The figures of each walk in the table."""
    rows = (match.groupdict() for match in ROW.finditer(text))
    return {row["name"]: Figures(int(row["modules"]), int(row["changes"])) for row in rows}


def judge(found: Mapping[str, Figures], table: Mapping[str, Figures]) -> list[str]:
    """What is wrong, one sentence each."""
    wrong = [f"{name} has no row in {TABLE.name}" for name in found if name not in table]
    for name in (each for each in found if each in table):
        now, then = found[name], table[name]
        if now.modules > then.modules or now.changes > then.changes:
            wrong.append(
                f"{name} visits {now.modules} modules and changes {now.changes} times: "
                f"{then.modules} and {then.changes} at most"
            )
    return wrong


def write(found: Mapping[str, Figures], path: Path = TABLE) -> None:
    """Put the figures into the rows of the table."""

    def row(match: re.Match[str]) -> str:
        figures = found.get(match["name"])
        return match[0] if figures is None else f"| {match['name']} | {figures.modules} | {figures.changes} |"

    path.write_text(ROW.sub(row, path.read_text(encoding="utf-8")), encoding="utf-8")


def main(arguments: list[str]) -> int:
    taken = walks()
    found = {name: walk.figures for name, walk in taken.items()}
    if "--write" in arguments:
        write(found)
    for name, walk in taken.items():
        print(f"walks: {name}: {found[name].modules} modules, {found[name].changes} changes")
        if "--trace" in arguments:
            print("\n".join(f"  {module}" for module in walk.modules))
    wrong = judge(found, recorded(TABLE.read_text(encoding="utf-8")))
    for line in wrong:
        print(f"walks: {line}")
    if wrong:
        print("walks: if that is worth it, `make budgets` writes the figures anew; say why in the commit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
