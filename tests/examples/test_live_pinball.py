"""Pinball on a server: a schedule filled up for the past, a cycle, and a stream whose workers claim tokens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.cli.command import environment, penstock
from tests.examples.live import Live, until, upped
from tests.examples.shelf import FOLDER, functions

SYSTEM = FOLDER / "pinball"
WORKER = SYSTEM / "token_worker.py"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with upped(SYSTEM, tmp_path_factory.mktemp("pinball")) as live:
        yield live


@pytest.fixture
def master(live: Live) -> Any:
    return token_worker().Master(live.base)


def token_worker() -> Any:
    return functions("pinball_stream", "token_worker")


@contextmanager
def worker(live: Live, *args: str) -> Iterator[subprocess.Popen[str]]:
    """A token worker as a process."""
    process = subprocess.Popen(
        [sys.executable, str(WORKER), "--server", live.base, *args],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_token_workers_hand_each_record_to_its_run_once_though_one_of_them_is_killed(
    live: Live, master: Any
) -> None:
    run, amounts = live.start("pinball_stream"), [{"amount": number} for number in range(1, 41)]
    prefix = f"/custom/pinball/{run}/"
    token_worker().put(master, run, amounts)
    # Somebody claims two and dies: one was handed over already.
    [handed, lost] = live.good(
        "POST", "/api/tokens", {"claim": {"owner": "dead", "prefix": prefix, "lease": 1, "limit": 2}}
    )["items"]
    assert master.fire(run, "record", handed["data"]["record"], id=handed["name"])
    assert lost["data"]["record"] == {"amount": 39}

    with worker(live, "--prefix", prefix) as first, worker(live, "--prefix", prefix):
        assert first.stdout is not None
        assert prefix in first.stdout.readline()
        os.kill(first.pid, signal.SIGKILL)
        with worker(live, "--prefix", prefix):
            until(lambda: master.get(prefix), lambda left: left == [])
    live.good("POST", f"/api/runs/{run}/events", {"event": "close"})

    ended = live.until(run, "succeeded", "failed")
    assert ended["result"] == {"records": 40, "total": sum(range(1, 41))}


def test_the_worker_puts_the_records_of_a_file_and_works_until_nothing_is_left(
    live: Live, master: Any
) -> None:
    run = live.start("pinball_stream")
    command = [sys.executable, str(WORKER), "--server", live.base]
    put = [*command, "--put", run, str(SYSTEM / "data" / "amounts.json")]

    said = [
        subprocess.run(each, env=environment(), capture_output=True, text=True, timeout=60, check=True).stdout
        for each in (put, [*command, "--prefix", f"/custom/pinball/{run}/", "--once"])
    ]
    live.good("POST", f"/api/runs/{run}/events", {"event": "close"})

    assert said[0] == "5 tokens\n"
    assert [line.rpartition("/")[2] for line in said[1].splitlines()] == [
        "000004",
        "000002",
        "000001",
        "000003",
        "000000",
    ], "the largest amount first"
    assert live.until(run, "succeeded")["result"] == {"records": 5, "total": 67}


class Late:
    """A master whose claims run out before the work is done: somebody else is faster."""

    def __init__(self, master: Any) -> None:
        self.claim, self.delete, self._master = master.claim, master.delete, master

    def fire(self, run: str, event: str, data: Any, id: str) -> bool:
        taken: bool = self._master.fire(run, event, data, id)
        for token in self._master.get(id):
            self._master.delete(token)
        return taken


def test_a_worker_whose_claim_ran_out_says_so_and_goes_on(
    live: Live, master: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run = live.start("pinball_stream")
    token_worker().put(master, run, [{"amount": 1}])

    done = token_worker().work(Late(master), "late", f"/custom/pinball/{run}/")

    assert done == 1
    assert capsys.readouterr().out.endswith("/000000: the claim ran out, somebody else has it\n")


def test_a_worker_says_that_a_run_has_ended(
    live: Live, master: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run = live.start("pinball_stream")
    live.good("POST", f"/api/runs/{run}/events", {"event": "close"})
    live.until(run, "succeeded")
    token_worker().put(master, run, [{"amount": 1}])

    token_worker().work(master, "late", f"/custom/pinball/{run}/")

    assert capsys.readouterr().out.endswith("/000000: its run has ended\n")
    assert master.get(f"/custom/pinball/{run}/") == []


def test_a_token_that_was_changed_meanwhile_is_not_changed_again(master: Any) -> None:
    [made] = master.insert({"name": "/custom/pinball/jobs/a", "data": {"state": "WAITING"}})
    [changed] = master.update(
        {"name": made["name"], "version": made["version"], "data": {"state": "RUNNABLE"}}
    )

    with pytest.raises(OSError, match="409"):
        master.delete(made)

    assert [each["data"] for each in master.get("/custom/pinball/jobs/")] == [{"state": "RUNNABLE"}]
    master.delete(changed)


def test_a_token_that_is_owned_for_long_is_claimed_by_nobody(master: Any) -> None:
    [made] = master.insert({"name": "/custom/pinball/off/a", "data": {}})
    [owned] = master.update(
        {
            "name": made["name"],
            "version": made["version"],
            "owner": "nobody",
            "expires": "9999-01-01T00:00:00Z",
        }
    )

    assert master.claim("worker", "/custom/pinball/off/") == []
    master.delete(owned)


def test_the_schedule_is_filled_up_for_the_past(live: Live) -> None:
    said = penstock(
        "backfill", "pinball_daily", "--from", "2026-03-01", "--to", "2026-03-03", "--server", live.base
    )

    runs = until(lambda: live.runs("pinball_daily", status="succeeded"), lambda found: len(found) == 3)
    assert said.code == 0
    assert sorted(run["subject"] for run in runs) == [f"2026-03-0{day}T11:00:00Z" for day in (1, 2, 3)]
    [schedule] = live.good("GET", "/api/schedules")["items"]
    assert (schedule["workflow"], schedule["state"]) == ("pinball_daily", "started")


def test_the_cycle_turns_on_the_server(live: Live) -> None:
    run = live.start("pinball_cycle", {"turns": 50})

    assert live.until(run, "succeeded")["result"] == {"turns": 50, "total": 1275}
