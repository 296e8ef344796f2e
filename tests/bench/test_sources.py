"""The measurement of sources: every notification starts its run, every key is looked at, gaps are told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from bench.engine.workloads import NotDone
from bench.sources.calling import called
from bench.sources.notifying import notified
from bench.sources.searching import searched_by_itself

from penstock import Engine


def test_every_notification_starts_a_run(tmp_path: Path) -> None:
    found = asyncio.run(notified(str(tmp_path / "b.db"), 50))
    assert found.per_s > 0 and 0 < found.processor < 1000
    with Engine.sync(str(tmp_path / "b.db"), tasks={}, work=False, feed=False) as engine:
        assert engine.counts(workflow="bench-objects")["running"] == 51  # and the one that warmed up


def test_notifications_that_start_nothing_are_no_figure(tmp_path: Path) -> None:
    asyncio.run(notified(str(tmp_path / "b.db"), 3))
    with pytest.raises(NotDone, match="0 of 3"):
        asyncio.run(notified(str(tmp_path / "b.db"), 3))


def test_a_search_looks_at_every_key_and_tells_its_memory() -> None:
    found = asyncio.run(searched_by_itself(2_500))
    assert (found.looked, found.seconds > 0, 10 < found.memory < 1000) == (2_500, True, True)


def test_a_search_takes_no_more_memory_for_more_keys() -> None:
    few, many = (asyncio.run(searched_by_itself(keys)).memory for keys in (1_000, 25_000))
    assert many < few + 8  # kept, 24,000 keys alone would be more


def test_a_call_is_set_beside_an_empty_request() -> None:
    found = called("memory:", 0.2)
    assert found.call > found.empty > 0
    assert found.adds == found.call - found.empty
