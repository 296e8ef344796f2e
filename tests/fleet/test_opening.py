"""What is said where a fleet cannot be used, and what it costs where none is asked for."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from celery import Celery

from penstock.testing.scripted_gate import ScriptedGate
from penstock.workers.bridges.celery import celery_executor_factory
from penstock.workers.bridges.celery_app import celery_tasks, checked_app, open_app
from penstock.workers.bridges.ray import RayCluster
from penstock.workers.execute.fleet import CannotOpen
from penstock.workers.resources import Resources
from penstock.workers.task import task
from tests.cli.command import penstock, write
from tests.workers.working import working

TASKS = "from penstock import task\n\n\n@task\ndef echo() -> None: ...\n"


@pytest.mark.parametrize(
    ("extra", "option", "sentence"),
    [
        ("celery", ["--celery", "shop:app"], "Celery is not installed here: install penstock[celery]."),
        (
            "ray",
            ["--tasks", "shop.py", "--executor", "ray"],
            "Ray is not installed here: install penstock[ray].",
        ),
    ],
)
def test_a_missing_extra_is_named_in_one_sentence(
    extra: str, option: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(tmp_path, "shop.py", TASKS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, extra, None)

    said = penstock("worker", "--db", tmp_path / "runs.db", *option)

    assert (said.code, said.err) == (2, f"error: {sentence}\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "a worker needs tasks"),
        (["--celery", "shop:app", "--tasks", "shop.py"], "start another worker for --tasks"),
        (["--tasks", "shop.py", "--executor", "ray", "--processes", "2"], "Ray has processes of its own"),
        (["--tasks", "shop.py", "--ray-address", "127.0.0.1:6379"], "add --executor ray"),
        (["--celery", "no such module:app"], "names no Celery app"),
        (["--celery", "nowhere.to_be_found:app"], "cannot be imported"),
        (["--celery", "json:loads"], "is no Celery app"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: list[str], words: str, tmp_path: Path) -> None:
    said = penstock("worker", "--db", tmp_path / "runs.db", *options)

    assert (said.code, words in " ".join(said.err.split())) == (2, True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [({}, "has no result backend"), ({"task_always_eager": True}, "has task_always_eager on")],
)
def test_an_app_whose_results_cannot_be_read_is_refused(settings: dict[str, Any], words: str) -> None:
    app = Celery("shop", broker="memory://", set_as_current=False)
    app.conf.update(settings)

    with pytest.raises(CannotOpen, match=words):
        checked_app("shop:app", app)


def test_an_app_is_found_without_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(tmp_path, "a_shop.py", "from celery import Celery\n\napp = Celery(backend='cache+memory://')\n")
    monkeypatch.chdir(tmp_path)

    assert isinstance(open_app("a_shop"), Celery)


def test_what_cannot_be_sent_because_the_broker_is_away_is_given_back_at_the_end() -> None:
    nowhere = "redis://127.0.0.1:1"
    app = Celery("shop", broker=nowhere, backend=nowhere, set_as_current=False)

    async def main() -> ScriptedGate:
        gate = ScriptedGate()
        async with working(gate, celery_tasks(app), fleet=celery_executor_factory(app)):
            gate.give("celery", {"task": "shop.ship"})
            await gate.until(lambda: gate.leased)
        return gate

    gate = asyncio.run(main())

    assert (gate.released, gate.reports) == (list(gate.leased), [])


def test_a_cluster_that_is_not_there_is_told_in_one_sentence() -> None:
    with pytest.raises(CannotOpen, match=r"^Ray cannot be reached at 'nowhere'"):
        RayCluster("nowhere")


def test_neither_celery_nor_ray_is_imported_unasked() -> None:
    code = "import sys, penstock, penstock.cli.main, penstock.cli.serve.worker\n"
    code += "print({'ray', 'celery'} & set(sys.modules))"

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout == "set()\n"


def test_resources_are_read_with_their_units() -> None:
    @task(resources={"cpus": 2, "gpus": 0.5, "memory": "1.5GiB", "tpu": 1})
    def train() -> None: ...

    made: Any = train.__penstock_task__  # type: ignore[attr-defined]
    assert made.resources == Resources(2, 0.5, 3 * 2**29, {"tpu": 1})


@pytest.mark.parametrize(
    ("resources", "sentence"),
    [
        (
            {"memory": "much"},
            "the memory of task 'train' must be a size such as '512MiB' or '2GB', not 'much'",
        ),
        ({"cpus": "two"}, "resource 'cpus' of task 'train' must be a number such as 1 or 0.5, not 'two'"),
        ({"gpus": -1}, "resource 'gpus' of task 'train' must be a number such as 1 or 0.5, not -1"),
    ],
)
def test_resources_that_are_none_are_refused(resources: dict[str, Any], sentence: str) -> None:
    def train() -> None: ...

    with pytest.raises(ValueError) as caught:
        task("train", resources=resources)(train)
    assert str(caught.value) == sentence
