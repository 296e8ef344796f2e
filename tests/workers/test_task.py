"""`@task`: a function becomes a task, its palette entry comes from its signature."""

from __future__ import annotations

import types
from typing import Any

import pytest

from penstock import Context, task
from penstock.workers.task import Task, make_task, tasks_of


def made(function: Any) -> Task:
    found: Task = function.__penstock_task__
    return found


def test_the_palette_entry_comes_from_the_signature() -> None:
    @task("video.extract_metadata", task_list="video")
    def extract_metadata(
        ctx: Context, path: str, deep: bool = False, sizes: list[int] | None = None
    ) -> dict[str, Any]:
        "Read type, size and aspect ratio of a video."
        return {}

    offer = made(extract_metadata).offer

    assert (offer.name, offer.title, offer.task_list) == (
        "video.extract_metadata",
        "Extract metadata",
        "video",
    )
    assert offer.doc == "Read type, size and aspect ratio of a video."
    assert offer.ports == ("done", "failed")
    assert offer.parameters["required"] == ["path"]
    assert offer.parameters["properties"]["path"] == {"type": "string"}
    assert offer.parameters["properties"]["deep"] == {"type": "boolean", "default": False}


def test_a_function_stays_as_it_is() -> None:
    @task
    def double(number: int) -> int:
        return 2 * number

    assert double(4) == 8
    assert (made(double).name, made(double).takes_context) == ("double", False)


def test_every_task_can_fail() -> None:
    assert make_task(lambda: None, "t", ports=["yes", "no"]).offer.ports == ("yes", "no", "failed")


@pytest.mark.parametrize(
    ("ports", "sentence"),
    [
        (
            ["done", "x y!"],
            "port 'x y!' of task 't' has the character `!`; letters, digits, spaces and _ . - / ( ) are allowed",
        ),
        ([""], "port '' of task 't' is empty"),
        ([1], "port '1' of task 't' is no text"),
        ("done", "`ports` of task 't' must be a list of names such as ['done'], not a text"),
    ],
)
def test_a_port_must_have_a_name_that_a_step_can_write(ports: Any, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        task("t", ports=ports)(lambda: None)

    assert str(caught.value) == sentence


def test_the_context_is_known_by_name_or_hint() -> None:
    def by_name(ctx: Any) -> None: ...
    def by_hint(context: Context) -> None: ...
    def without(number: int) -> None: ...

    assert [make_task(each, "t").takes_context for each in (by_name, by_hint, without)] == [True, True, False]


def test_hints_beyond_json_are_no_reason_to_refuse() -> None:
    def odd(ctx: Context, where: types.ModuleType, other: NoSuchName = None) -> None: ...  # type: ignore[name-defined] # noqa: F821

    offer = make_task(odd, "odd").offer

    assert offer.parameters["properties"] == {"where": {}, "other": {"default": None}}


def test_tasks_are_found_in_modules_functions_lists_and_maps() -> None:
    @task("one")
    def one() -> None: ...

    def two() -> None: ...

    module = types.ModuleType("m")
    module.one = one  # type: ignore[attr-defined]
    module.number = 3  # type: ignore[attr-defined]

    assert list(tasks_of(module)) == ["one"]
    assert list(tasks_of([module, two])) == ["one", "two"]
    assert list(tasks_of({"renamed": one, "new": two})) == ["renamed", "new"]


def test_an_async_function_is_known_as_one() -> None:
    async def later() -> None: ...

    assert make_task(later, "later").is_async


@pytest.mark.parametrize("ports", [["done"], ["done", "failed"], ["done", "failed", "done"]])
def test_ports_are_listed_once(ports: list[str]) -> None:
    assert make_task(lambda: None, "t", ports).offer.ports == ("done", "failed")
