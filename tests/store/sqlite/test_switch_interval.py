"""Turns at the interpreter are short while a thread writes, and as they were afterwards."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.store.sqlite.commit.commit import MIN_THREAD_CHANGES
from penstock.store.sqlite.session import Session
from penstock.store.sqlite.store import SqliteStore
from penstock.store.sqlite.switch_interval import SWITCH_INTERVAL, ShortSwitchInterval
from tests.store.sqlite.builders import begin


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


def test_turns_are_short_as_long_as_anybody_is_inside() -> None:
    sys.setswitchinterval(0.004)
    turns = ShortSwitchInterval()

    with turns:
        with turns:
            assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL)
        assert sys.getswitchinterval() == pytest.approx(SWITCH_INTERVAL)
    assert sys.getswitchinterval() == pytest.approx(0.004)


def test_they_are_as_before_after_a_failure_and_never_longer() -> None:
    sys.setswitchinterval(0.000064)
    turns = ShortSwitchInterval()

    with pytest.raises(ValueError, match="no"), turns:
        assert sys.getswitchinterval() == pytest.approx(0.000064, abs=0.000001)
        raise ValueError("no")
    assert sys.getswitchinterval() == pytest.approx(0.000064)


@pytest.mark.parametrize("micros", [50, 500, 4_999, 5_000])
def test_they_do_not_become_shorter_from_time_to_time(micros: int) -> None:
    sys.setswitchinterval((micros + 0.5) / 1_000_000)
    before, turns = sys.getswitchinterval(), ShortSwitchInterval()
    for _ in range(1_000):
        with turns:
            pass
    assert sys.getswitchinterval() == before


def test_in_a_fork_they_are_as_before() -> None:
    """Nobody writes there: who did is a thread of the parent."""
    script = """
import os, sys, threading
from penstock.store.sqlite.switch_interval import SHORT_SWITCH_INTERVAL
sys.setswitchinterval(0.004)
inside, left = threading.Event(), threading.Event()
def write():
    with SHORT_SWITCH_INTERVAL:
        inside.set()
        left.wait()
threading.Thread(target=write).start()
inside.wait()
if child := os.fork():
    _, status = os.waitpid(child, 0)
    left.set()
    sys.exit(os.waitstatus_to_exitcode(status))
with SHORT_SWITCH_INTERVAL:
    pass
os._exit(0 if sys.getswitchinterval() > 0.003 else 1)
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=30).returncode == 0


@pytest.mark.parametrize(("changes", "short"), [(MIN_THREAD_CHANGES - 1, False), (MIN_THREAD_CHANGES, True)])
def test_a_large_batch_is_written_by_a_thread_in_short_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: int, short: bool
) -> None:
    sys.setswitchinterval(0.004)
    seen: list[float] = []
    at_once = Session.at_once

    def noted(self: Session, *asked: object) -> int:
        seen.append(sys.getswitchinterval())
        return at_once(self, *asked)  # type: ignore[arg-type]

    monkeypatch.setattr(Session, "at_once", noted)

    async def scenario() -> None:
        store = SqliteStore.open(str(tmp_path / "a.db"))
        done = await store.commit([begin(number) for number in range(changes)])
        await store.close()
        assert done.outcomes == ["applied"] * changes

    asyncio.run(scenario())

    assert {turn < 0.001 for turn in seen} == {short}
    assert sys.getswitchinterval() == pytest.approx(0.004)
