"""Settings of a whole installation: what is appended to task lists, and how large payloads may be."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from tests.cli.command import penstock, process, write
from tests.cli.serving import GREETER, HELLO, LONGEST, serving
from tests.cli.test_front import base_of

LARGE = """\
from penstock import task


@task
def greet(size: int = 1500):
    return "x" * size
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a workflow and its tasks."""
    (tmp_path / "flows").mkdir()
    write(tmp_path, "flows/hello.yaml", HELLO)
    write(tmp_path, "flows/hello.py", GREETER)
    return tmp_path


def test_a_suffix_is_appended_where_tasks_are_put_and_where_they_are_read(folder: Path) -> None:
    with serving("up", "--workflows", "flows", "--json", cwd=folder, PENSTOCK_TASK_LIST_SUFFIX="-ada") as up:
        assert up.process.stdout is not None
        said = json.loads("".join(iter(up.process.stdout.readline, "}\n")) + "}")
        done = penstock("start", "hello", "--wait", "--json", "--server", said["server"])
        workers = penstock("workers", "--json", "--server", said["server"]).json
        up.stop()

    assert (said["task_lists"], done.json["status"]) == (["default-ada"], "succeeded")
    assert [worker["task_lists"] for worker in workers] == [["default-ada"]]


def test_a_worker_reads_its_server_its_tasks_and_its_suffix_from_the_file(folder: Path) -> None:
    write(folder, "tasks.py", GREETER)
    with serving("server", "--db", "own.db", cwd=folder, PENSTOCK_TASK_LIST_SUFFIX="-ada") as server:
        base = base_of(server)
        assert penstock("publish", folder / "flows/hello.yaml", "--server", base).code == 0
        write(
            folder, "penstock.toml", f'server = "{base}"\ntasks = ["tasks.py"]\ntask_list_suffix = "-ada"\n'
        )
        with serving("worker", cwd=folder) as worker:
            run = penstock("start", "hello", "--wait", "--json", "--server", base)
            worker.stop()
        server.stop()

    assert run.json["status"] == "succeeded"


def test_a_worker_with_another_suffix_does_not_serve_the_list(folder: Path) -> None:
    write(folder, "tasks.py", GREETER)
    with serving("server", "--db", "own.db", cwd=folder, PENSTOCK_TASK_LIST_SUFFIX="-ada") as server:
        base = base_of(server)
        penstock("publish", folder / "flows/hello.yaml", "--server", base)
        bob = {"PENSTOCK_SERVER": base, "PENSTOCK_TASK_LIST_SUFFIX": "-bob"}
        with serving(
            "worker", "--tasks", "tasks.py", cwd=folder, ready=True, longest=LONGEST, program=None, **bob
        ) as worker:
            run = penstock("start", "hello", "--server", base).out.strip()
            why = penstock("why", run, "--server", base)
            worker.stop()
        server.stop()

    assert "on list 'default-ada', and no worker serves that list" in why.out


def test_a_payload_over_the_limit_that_is_set_is_refused_wherever_it_comes_in(folder: Path) -> None:
    write(folder, "flows/hello.py", LARGE)
    with serving("up", "--workflows", "flows", cwd=folder, PENSTOCK_PAYLOAD_LIMIT="1KiB") as up:
        base = base_of(up)
        input = penstock("start", "hello", "--input", json.dumps("y" * 2000), "--server", base)
        result = penstock("start", "hello", "--wait", "--json", "--server", base)
        up.stop()

    assert (input.code, "has 2002 bytes of JSON, 1024 at most" in input.err) == (2, True)
    assert (result.json["status"], result.json["error"]["kind"]) == ("failed", "too_large")


def test_a_limit_above_that_of_bodies_lets_larger_bodies_in(folder: Path) -> None:
    body = json.dumps({"input": "y" * 1_500_000}).encode()
    with serving("up", "--workflows", "flows", cwd=folder, PENSTOCK_PAYLOAD_LIMIT="2MiB") as up:
        url = f"{base_of(up)}/api/workflows/hello/runs"
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answered:
            status, answer = answered.status, json.load(answered)
        up.stop()

    assert (status, len(answer["input"])) == (201, 1_500_000)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("PENSTOCK_PAYLOAD_LIMIT", "5MiB", "must be a size from 1KiB to 4MiB"),
        (
            "PENSTOCK_TASK_LIST_SUFFIX",
            "-a/b",
            "must have only letters, digits and _.- and 64 of them at most",
        ),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(tmp_path: Path, name: str, value: str, sentence: str) -> None:
    said = process("up", cwd=tmp_path, **{name: value})

    assert (said.code, said.err) == (2, f"error: {name} '{value}' {sentence}.\n")
