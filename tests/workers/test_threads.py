"""Threads for plain functions: bounded, replaced when stuck, no hindrance at the end of a process."""

from __future__ import annotations

import subprocess
import sys
import threading
from queue import SimpleQueue

from penstock.workers.execute.threads import Threads


def test_no_more_calls_run_at_once_than_allowed_and_threads_are_used_again() -> None:
    threads, came, release = Threads(2), SimpleQueue[str](), threading.Event()

    def call() -> None:
        came.put(threading.current_thread().name)
        release.wait(10)

    for _ in range(5):
        threads.submit(call)
    first = {came.get(timeout=10), came.get(timeout=10)}
    waiting = came.qsize()
    release.set()
    later = {came.get(timeout=10) for _ in range(3)}

    assert (len(first), waiting, later <= first) == (2, 0, True)
    threads.close()


def test_a_call_that_was_given_up_makes_room_and_one_that_waits_is_not_begun() -> None:
    threads, came, release = Threads(1), SimpleQueue[str](), threading.Event()

    def stuck() -> None:
        came.put("stuck")
        release.wait(10)

    job = threads.submit(stuck)
    assert came.get(timeout=10) == "stuck"
    unwanted = threads.submit(lambda: came.put("unwanted"))
    threads.submit(lambda: came.put("next"))
    threads.give_up(unwanted)
    threads.give_up(job)

    assert came.get(timeout=10) == "next"
    release.set()
    threads.close()


STUCK = """
import threading
from penstock import Engine

with Engine.sync(tasks={"stuck": threading.Event().wait}) as engine:
    steps = {"a": {"task": "stuck", "timeouts": {"start_to_close": "20ms"}, "timeout_retries": []}}
    engine.publish({"penstock": 1, "name": "w", "steps": steps})
    print(engine.wait(engine.start("w"), 20)["status"])
"""


def test_a_task_that_never_ends_does_not_keep_the_process_alive() -> None:
    done = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, timeout=30, check=False)

    assert (done.stdout.decode(), done.returncode) == ("failed\n", 0), done.stderr.decode()
