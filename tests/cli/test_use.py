"""The command as a whole: help, wrong use, unreadable files, streams, signals."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from penstock import __version__
from penstock.cli.main import app
from tests.cli.command import EXAMPLES, command, environment, penstock, process, write
from tests.suites import first_short


def names(group: Any, before: str = "") -> Iterator[str]:
    """Every command there is; those of a group by both names."""
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from names(each, f"{before}{name} ")
        else:
            yield f"{before}{name}"


COMMANDS = tuple(names(get_command(app)))


def test_every_command_of_the_contract_is_there() -> None:
    wanted = """
        up server worker demo check run simulate draw publish workflows start-source stop-source pause resume
        start runs show history logs watch why emit cancel retry rerun skip workers queues doctor incidents
    """
    groups = {
        "tokens": "ls cat put rm",
        "access": "create list revoke",
        "secret": "set list rm",
        "db": "migrate check backup restore retention",
    }

    every = wanted.split() + [
        f"{group} {name}" for group, inside in groups.items() for name in inside.split()
    ]

    assert sorted(set(every) - set(COMMANDS)) == []


def test_version_and_help_exit_0() -> None:
    assert penstock("--version").out == f"penstock {__version__}\n"
    assert penstock("--help").code == penstock("-h").code == penstock().code == penstock("db").code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_examples_and_json(name: str) -> None:
    said = penstock(*name.split(), "--help")

    assert said.code == 0
    assert f"penstock {name}" in said.out
    assert "Examples" in said.out
    assert "--json" in said.out


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["chekc"], "error: No such command 'chekc'. Did you mean 'check'? See `penstock --help`.\n"),
        (["run"], "error: Missing argument 'FILE'. See `penstock run --help`.\n"),
        (["check"], "error: Missing argument 'FILE...'. See `penstock check --help`.\n"),
        (["db", "mend"], "error: No such command 'mend'. See `penstock db --help`.\n"),
        (["server"], "error: a server needs a database: name it with --db, or PENSTOCK_DB.\n"),
        (
            ["worker", "--db", "postgresql://nobody@127.0.0.1:1/none"],
            "error: a worker needs tasks: name their module or file with --tasks, a Celery app with --celery, "
            "or a --shell.\n",
        ),
    ],
)
def test_wrong_use_exits_2_with_one_sentence(args: list[str], sentence: str) -> None:
    said = penstock(*args)

    assert (said.code, said.out, said.err) == (2, "", sentence)


def test_wrong_use_is_json_where_json_is_asked_for() -> None:
    said = penstock("run", "--json")

    assert said.code == 2
    assert said.json == {
        "file": None,
        "problems": [
            {
                "code": "usage",
                "path": "",
                "message": "Missing argument 'FILE'. See `penstock run --help`.",
                "line": None,
                "column": None,
            }
        ],
    }


@pytest.mark.parametrize("name", ["check", "run", "draw", "simulate"])
def test_an_unreadable_file_exits_2_with_its_place(name: str, tmp_path: Path) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    empty = write(tmp_path, "empty.yaml", "\n")
    missing = tmp_path / "missing.yaml"

    told = [penstock(name, path) for path in (binary, empty, missing, tmp_path)]

    assert [(said.code, said.out) for said in told] == [(2, "")] * 4
    assert [said.err for said in told] == [
        f"error: {binary}: the file is not text in UTF-8: save it as UTF-8\n",
        f"error: {empty}: the file is empty: write a workflow into it\n",
        f"error: {missing}: the file does not exist: look at the path\n",
        f"error: {tmp_path}: the file is a folder: name a file in it\n",
    ]


def test_a_wrong_definition_shows_every_problem_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "w.yaml", "penstock: 1\nname: w\nsteps:\n  a: {tsk: x}\n  b: {task: wait}\n")

    said = penstock("check", path)

    assert (said.code, said.out) == (2, "")
    assert said.err.splitlines()[0].startswith(f"error: {path}:4:")
    assert "4 |   a: {tsk: x}\n  |       ^^^\n" in said.err


def test_a_wrong_definition_is_json_where_json_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "w.yaml", "penstock: 1\nname: w\nsteps:\n  a: {task: decide, with: {if: '('}}\n")

    said = penstock("check", path, "--json")

    assert said.code == 2
    assert said.json["file"] == str(path)
    (problem,) = said.json["problems"]
    assert list(problem) == ["code", "path", "message", "line", "column"]
    assert (problem["code"], problem["line"]) == ("bad_expression", 4)


def test_a_bug_shows_one_line_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("penstock.cli.author.draw.drawn", broken)

    said = penstock("draw", EXAMPLES / "zenko" / "authorization.yaml")

    assert said.code == 70
    assert said.err == (
        "error: this is a bug in Penstock, please report it: ZeroDivisionError: oh (PENSTOCK_TRACEBACK=1 shows where)\n"
    )


def test_output_survives_a_terminal_that_is_not_unicode() -> None:
    said = process("run", EXAMPLES / "zenko" / "authorization.yaml", PYTHONIOENCODING="ascii")

    assert said.code == 0
    assert "complete" in said.out


def test_no_colours_where_there_is_no_terminal_or_none_are_wanted() -> None:
    broken = EXAMPLES / "broken" / "mediathread.yaml"

    assert "\x1b" not in process("check", broken).out
    assert "\x1b[1;31m" in process("check", broken, FORCE_COLOR="1").out
    assert "31m" not in process("check", broken, FORCE_COLOR="1", NO_COLOR="1").out


def test_closed_streams_are_no_mistake() -> None:
    shell = ["sh", "-c", '"$0" "$@" >&- 2>&-', *command("check", EXAMPLES / "broken" / "mediathread.yaml")]

    assert subprocess.run(shell, env=environment(), timeout=60, check=False).returncode == 1


def test_a_broken_pipe_ends_quietly(tmp_path: Path) -> None:
    steps = "".join(f"  step {number}: {{task: x}}\n" for number in range(400))
    path = write(tmp_path, "big.yaml", f"penstock: 1\nname: big\nsteps:\n{steps}")
    running = subprocess.Popen(
        command("draw", path), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert running.stdout and running.stderr
    running.stdout.close()

    assert running.stderr.read() == b""
    assert running.wait(30) == 141
    running.stderr.close()


SLEEPER = """\
import time

from penstock import task


@task("sleep")
def sleep():
    print("asleep", flush=True)
    time.sleep(600)  # it works until it is stopped


@task("clean")
def clean():
    print("cleaned", flush=True)
"""


def interrupted(tmp_path: Path, cleaner: str) -> subprocess.Popen[bytes]:
    """A run that sleeps in a thread and was sent Ctrl-C."""
    tasks = write(tmp_path, "w.py", SLEEPER)
    path = write(
        tmp_path,
        "w.yaml",
        f"penstock: 1\nname: w\nsteps: {{nap: {{task: sleep}}, tidy: {{task: {cleaner}, after: CANCEL}}}}\n",
    )
    running = subprocess.Popen(
        command("run", path, "--tasks", tasks),
        env=environment(PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    _read_until(running, b"asleep")
    running.send_signal(signal.SIGINT)
    return running


def _read_until(running: subprocess.Popen[bytes], words: bytes) -> bytes:
    assert running.stderr
    read = b""
    while words not in read:
        line = running.stderr.readline()
        assert line, read
        read += line
    return read


def test_ctrl_c_cancels_the_run_with_its_clean_up(tmp_path: Path) -> None:
    out, err = interrupted(tmp_path, "clean").communicate(timeout=30)

    assert out.decode().startswith("w canceled in ")
    assert "canceling the run; Ctrl-C again quits at once" in err.decode()
    assert "cleaned" in err.decode()
    assert "Traceback" not in err.decode()


def test_a_second_ctrl_c_quits(tmp_path: Path) -> None:
    running = interrupted(tmp_path, "sleep")
    _read_until(running, b"asleep")

    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=30)

    assert running.returncode == 130
    assert "Traceback" not in err.decode()


def test_ctrl_c_stops_a_loop_of_decisions(tmp_path: Path) -> None:
    steps = "{a: {task: set, after: START | b.done, with: {n: 1}}, b: {task: set, after: a, with: {n: 2}}}"
    path = write(tmp_path, "w.yaml", f"penstock: 1\nname: w\nendless: true\nsteps: {steps}\n")
    running = subprocess.Popen(
        command("run", path),
        env=environment(PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    _read_until(running, b"b ends")

    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)

    assert (running.returncode, out.decode().startswith("w canceled in ")) == (130, True)
    assert "Traceback" not in err.decode()


NOISY = """\
import atexit
import os
import subprocess
import sys

from penstock import task

print("printed by the import")
os.write(1, b"written by the import\\n")
atexit.register(print, "printed at the end")


@task("noise")
def noise():
    print("printed by the task")
    print("printed past the task", file=sys.__stdout__, flush=True)
    os.write(1, b"written by the task\\n")
    subprocess.run(["echo", "echoed by a program"], check=True)
"""
NOISES = [
    "printed by the import",
    "written by the import",
    "printed by the task",
    "printed past the task",
    "written by the task",
    "echoed by a program",
    "printed at the end",
]


def noisy(folder: Path) -> Path:
    """A workflow whose tasks write to stdout in every way there is."""
    write(folder, "noisy.py", NOISY)
    return write(folder, "noisy.yaml", "penstock: 1\nname: noisy\nsteps: {a: {task: noise}}\n")


@pytest.mark.parametrize("how", [[], ["--fast"]])
def test_with_json_stdout_holds_one_document_whatever_tasks_write(how: list[str], tmp_path: Path) -> None:
    said = process("run", noisy(tmp_path), "--json", *how, PYTHONUNBUFFERED="1")

    assert said.json["status"] == "succeeded"
    assert [line for line in said.err.splitlines() if line in NOISES] == NOISES


@pytest.mark.parametrize(
    "name",
    first_short(["check", "simulate", "draw", "tasks"]),
)
def test_what_an_import_prints_is_no_part_of_the_answer(name: str, tmp_path: Path) -> None:
    path = noisy(tmp_path)

    said = process(name, path.with_suffix(".py") if name == "tasks" else path, "--json")

    assert said.code == 0
    assert said.json
    assert "printed by the import" in said.err


@pytest.mark.parametrize("how", [[], ["--json"]])
@pytest.mark.parametrize("name", first_short(["check", "run", "draw"]))
def test_an_answer_that_cannot_be_written_is_one_sentence(name: str, how: list[str]) -> None:
    shell = [
        "sh",
        "-c",
        '"$0" "$@" > /dev/full',
        *command(name, EXAMPLES / "zenko" / "authorization.yaml", *how),
    ]

    done = subprocess.run(shell, env=environment(), capture_output=True, timeout=60, check=False)

    assert done.returncode == 2
    assert done.stderr.decode().splitlines()[-1] == "error: the system: No space left on device."
    assert b"Traceback" not in done.stderr and b"Exception ignored" not in done.stderr


def test_a_closed_stdin_is_one_sentence() -> None:
    shell = ["sh", "-c", '"$0" "$@" <&-', *command("check", "-")]

    done = subprocess.run(shell, env=environment(), capture_output=True, timeout=60, check=False)

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == "error: <stdin>: stdin is closed: pipe text into it, or name a file\n"
