"""`shell`: a command in its folder, with a clean environment, and killed as a group."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from penstock import Engine
from penstock.boxes.shell import _Talk, shell_task
from tests.waiting import until

NEVER: dict[str, Any] = {}
SOON = {"timeouts": {"start_to_close": "2s"}, "timeout_retries": [1, 1]}


async def ran(
    folder: Path, input: Any = None, timeouts: dict[str, Any] = NEVER, **params: Any
) -> dict[str, Any]:
    step = {"task": "shell", "with": params, "fails": "bad", **timeouts}
    async with Engine(tasks={"shell": shell_task(folder)}) as engine:
        await engine.publish({"penstock": 1, "name": "w", "steps": {"s": step}})
        run = await engine.wait(await engine.start("w", input=input), 20)
        found: dict[str, Any] = run["steps"]["s"]
        return found


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_the_task_is_on_stdin_and_the_last_line_of_stdout_is_the_output(tmp_path: Path) -> None:
    code = "import json,sys; t = json.load(sys.stdin); print('noise'); print(json.dumps({'n': t['data']['n'] + 1}))"

    step = asyncio.run(ran(tmp_path, {"n": 1}, command=python(code)))

    assert step["output"] == {"n": 2}


def test_a_command_in_one_line_is_no_line_of_a_shell(tmp_path: Path) -> None:
    step = asyncio.run(ran(tmp_path, command="echo '\"a; rm -rf $HOME\"'"))

    assert step["output"] == "a; rm -rf $HOME"


def test_it_runs_in_its_folder_with_a_clean_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.setenv("PENSTOCK_TOKEN", "hush")
    code = (
        "import json,os; print(json.dumps([os.getcwd(), os.environ.get('PENSTOCK_TOKEN'), os.environ['A']]))"
    )

    step = asyncio.run(ran(tmp_path, command=python(code), cwd="sub", env={"A": 7}))

    assert step["output"] == [str((tmp_path / "sub").resolve()), None, "7"]


@pytest.mark.parametrize("cwd", ["..", "/etc", "sub/../../x", "link"])
def test_nothing_leads_out_of_the_folder(cwd: str, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to("/etc")

    step = asyncio.run(ran(inside, command="true", cwd=cwd))

    assert "leads out of the folder" in step["error"]["message"]


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (python("import sys; print('why', file=sys.stderr); sys.exit(3)"), "ended with code 3"),
        (["no-such-program-here"], "cannot be started"),
        (python("print('plain text')"), "is no JSON"),
        (python("print('x' * 300000)"), "has more than 262144 bytes"),
        (python("import json; print(json.dumps('x' * 300000))"), "has more than 262144 bytes"),
    ],
)
def test_a_command_that_fails_says_why(command: list[str], says: str, tmp_path: Path) -> None:
    step = asyncio.run(ran(tmp_path, command=command))

    assert step["status"] == "failed"
    assert says in step["error"]["message"]


def test_what_a_command_started_dies_with_it_when_it_is_not_wanted_any_more(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "  # until it is killed
        "open('pids', 'w').write(f'{child.pid}\\n'); time.sleep(600)"  # until it is killed
    )

    async def main() -> None:
        async with Engine(tasks={"shell": shell_task(tmp_path)}) as engine:
            flow = {
                "penstock": 1,
                "name": "w",
                "steps": {"s": {"task": "shell", "with": {"command": python(code)}}},
            }
            await engine.publish(flow)
            run = await engine.start("w")
            file = tmp_path / "pids"
            await until(lambda: file.exists() and file.read_text().strip(), "the number of the child")
            child = int(file.read_text())
            await engine.cancel(run)
            await until(lambda: not _lives(child), "the end of the child")

    asyncio.run(asyncio.wait_for(main(), 30))


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z" and os.path.exists(f"/proc/{pid}")


def uvlooped(step: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """As in the processes of Penstock, whose loop tells other errors."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(step)


@pytest.mark.parametrize("run", [asyncio.run, uvlooped])
def test_a_command_need_not_read_what_it_is_told(
    tmp_path: Path, run: Callable[[Coroutine[Any, Any, dict[str, Any]]], dict[str, Any]]
) -> None:
    ended = [run(ran(tmp_path, {"long": "x" * 200_000}, command="true"))["status"] for _ in range(20)]

    assert ended == ["complete"] * 20


@pytest.mark.parametrize("run", [asyncio.run, uvlooped])
def test_a_command_ends_with_its_process_and_not_with_what_it_left_behind(
    tmp_path: Path, run: Callable[[Coroutine[Any, Any, dict[str, Any]]], dict[str, Any]]
) -> None:
    began = time.monotonic()

    step = run(ran(tmp_path, command=["sh", "-c", "cat > /dev/null; sleep 30 & echo 1"]))

    assert step["output"] == 1
    assert time.monotonic() - began < 15


APART = (
    "import os, sys\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        open('pid', 'w').write(str(os.getpid()))\n"
    "        os.execvpe('sleep', ['sleep', '60'], ENV)\n"
    "    os._exit(0)\n"
    "os.wait()\n"
    "while not os.path.exists('pid') or not open('pid').read(): pass\n"
)
"""A child with a session of its own and no parent, which holds all pipes."""


@pytest.mark.parametrize("run", [asyncio.run, uvlooped])
def test_what_left_its_session_ends_with_the_command(
    tmp_path: Path, run: Callable[[Coroutine[Any, Any, dict[str, Any]]], dict[str, Any]]
) -> None:
    code = APART.replace("ENV", "os.environ") + "print(1)"
    began = time.monotonic()

    step = run(ran(tmp_path, command=python(code)))

    assert (step["status"], step["output"]) == ("complete", 1)
    assert time.monotonic() - began < 15
    assert not _lives(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("run", [asyncio.run, uvlooped])
def test_what_cannot_be_found_any_more_does_not_hold_the_step(
    tmp_path: Path, run: Callable[[Coroutine[Any, Any, dict[str, Any]]], dict[str, Any]]
) -> None:
    code = APART.replace("ENV", "{'PATH': os.environ['PATH']}") + "print(1)"
    began = time.monotonic()

    step = run(ran(tmp_path, command=python(code)))
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)

    assert (step["status"], step["output"]) == ("complete", 1)
    assert time.monotonic() - began < 15


def test_a_time_out_ends_what_left_its_session_too(tmp_path: Path) -> None:
    code = APART.replace("ENV", "os.environ") + "import time; time.sleep(60)"  # longer than its time-out
    began = time.monotonic()

    step = asyncio.run(ran(tmp_path, command=python(code), timeouts=SOON))

    assert step["status"] == "failed"
    assert time.monotonic() - began < 15
    assert not _lives(int((tmp_path / "pid").read_text()))


def test_a_command_that_closes_its_pipes_goes_on_to_its_end(tmp_path: Path) -> None:
    step = asyncio.run(
        ran(tmp_path, command=["sh", "-c", "exec >&- 2>&-; cat > /dev/null; sleep 0.3; touch done"])
    )

    assert (step["status"], (tmp_path / "done").exists()) == ("complete", True)


def test_a_result_that_is_nested_too_deeply_is_told_and_not_tried_again(tmp_path: Path) -> None:
    step = asyncio.run(ran(tmp_path, command=python("print('[' * 5000 + ']' * 5000)")))

    assert "nested too deeply" in step["error"]["message"]


def test_a_command_that_is_not_wanted_has_ended_when_its_step_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its loop may close right after: what it had not heard by then would be told by nobody."""
    codes: list[int | None] = []
    close = _Talk.close

    async def closed(talk: _Talk) -> None:
        await close(talk)
        codes.append(talk._process.returncode)  # the next attempt may have begun

    monkeypatch.setattr(_Talk, "close", closed)
    deaf = ["sh", "-c", "exec <&- >&- 2>&-; sleep 60"]

    step = asyncio.run(
        ran(tmp_path, command=deaf, timeouts={**SOON, "timeouts": {"start_to_close": "500ms"}})
    )

    assert (step["status"], set(codes)) == ("failed", {-signal.SIGKILL})
