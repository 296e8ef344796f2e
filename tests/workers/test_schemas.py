"""Types as JSON Schemas: what a function that returns them gives."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, NotRequired, TypedDict
from uuid import UUID

import msgspec
import pydantic
import pytest

from penstock import Context, Engine, Out, task
from penstock.flow.values.payload import pure
from penstock.flow.values.schema_validation import violations
from penstock.workers.task import make_task, tasks_of


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Line:
    n: int = 1
    notes: list[str] = field(default_factory=list)


@dataclass
class Note:
    text: str


class Box(msgspec.Struct):
    line: Line
    color: Color = Color.RED
    size: int | msgspec.UnsetType = msgspec.UNSET


class Brief(msgspec.Struct, omit_defaults=True):
    n: int = 1


class Tagged(msgspec.Struct, tag="t"):
    n: int


class Plan(TypedDict):
    name: str
    due: NotRequired[datetime]


class Item(pydantic.BaseModel):
    name: str
    price: Decimal = Decimal("1.5")
    id: UUID | None = None


class Order(pydantic.BaseModel):
    items: list[Item]
    count: int = pydantic.Field(default=0, alias="Count")
    secret: str = pydantic.Field(default="", exclude=True)
    parts: list[Order] = pydantic.Field(default_factory=list)


ITEM, ID = Item(name="a"), UUID("0b3a3f04-7bb5-4b4d-9b1c-6a3f5d0f8e11")
CASES: list[tuple[Any, Any, list[Any]]] = [
    (int, 3, ["3", None, 3.5]),
    (None, None, [0]),
    (Line, Line(), [{"n": 1}, {"n": 1, "notes": [], "more": 1}, {"n": "1", "notes": []}]),
    (Line | Note, Note("a"), [{"n": 1}, {"text": 3}]),
    (Line | None, None, [1]),
    (Box, Box(Line(), size=3), [{"line": {"n": 1, "notes": []}}]),
    (Box, Box(Line()), [{"line": {"n": 1, "notes": []}, "color": "green"}]),
    (Brief, Brief(), [{"n": "1"}]),
    (Tagged, Tagged(1), [{"n": 1}]),
    (Plan, {"name": "a"}, [{"due": "2026-01-01"}]),
    (Plan, {"name": "a", "due": datetime(2026, 1, 1)}, [{"name": "a", "due": 3}]),
    (Color, Color.BLUE, ["green"]),
    (Literal["a", 3], 3, ["b"]),
    (dict[str, UUID], {"a": ID}, [{"a": 3}]),
    (list[Decimal], [Decimal("1.5")], [["a", 1.5], "a"]),
    (tuple[int, str], (1, "a"), [[1], ["a", 1]]),
    (Item, ITEM, [{"name": "a"}, {"name": "a", "price": "1.5", "id": None, "more": 1}]),
    (Item | None, None, [1]),
    (Item | Line, Line(), [{}]),
    (dict[str, Item], {"a": ITEM}, [{"a": 3}]),
    (
        Order,
        Order(items=[ITEM], Count=3, parts=[Order(items=[])]),
        [{"items": [{}], "Count": 3, "parts": []}],
    ),
    (Out[Line], Line(), [3]),
    (Out[Line] | Out[Note], Note("a"), [3]),
]


def output_of(hint: Any) -> Any:
    def function() -> Any: ...

    function.__annotations__ = {"return": hint}
    return make_task(function, "t").offer.output


@pytest.mark.parametrize(("hint", "right", "wrong"), CASES)
def test_what_a_type_becomes_fits_its_schema_and_nothing_else_does(
    hint: Any, right: Any, wrong: list[Any]
) -> None:
    schema = output_of(hint)

    assert violations(schema, pure(right)) == []
    assert [each for each in wrong if not violations(schema, each)] == []


@pytest.mark.parametrize("hint", [Any, object, Out, Out | Line, list[Line | Note], Context])
def test_a_type_that_tells_nothing_gives_no_schema(hint: Any) -> None:
    assert output_of(hint) is None


def test_a_function_without_hints_gives_no_schema() -> None:
    assert make_task(lambda: None, "t").offer.output is None


def test_what_is_said_of_the_output_goes_before_the_return_type() -> None:
    @task("t", output=Line)
    def function() -> int:
        return 1

    offer = function.__penstock_task__.offer  # type: ignore[attr-defined]
    assert offer.output["$ref"] == "#/$defs/Line"


@pytest.mark.parametrize(
    ("port", "why"),
    [
        ("done", "cannot name port 'done': use `output`"),
        ("failed", "cannot name port 'failed': it ends well on done, no"),
        ("other", "cannot name port 'other': it ends well on done, no"),
    ],
)
def test_a_schema_of_a_port_that_the_task_does_not_end_well_on_is_refused(port: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        task("t", ports=["done", "no"], outputs={port: int})(lambda: None)


def run_of(function: Any, **params: Any) -> dict[str, Any]:
    name = function.__penstock_task__.name
    with Engine.sync("memory:", tasks=tasks_of([function])) as engine:
        engine.publish(
            {"penstock": 1, "name": "w", "steps": {"s": {"task": name, "with": params}}},
            override="some are wrong on purpose",
        )
        found: dict[str, Any] = engine.wait(engine.start("w"), 10)["steps"]["s"]
        return found


def test_a_pydantic_model_is_validated_on_the_way_in_and_encoded_on_the_way_out() -> None:
    @task("double")
    def double(order: Order, extra: Item | None = None) -> Order:
        assert (type(order), extra) == (Order, None)
        return Order(items=[*order.items, *order.items], Count=2 * order.count)

    step = run_of(double, order={"items": [{"name": "a", "price": "2"}], "Count": 3})

    item = {"name": "a", "price": "2", "id": None}
    assert step["output"] == {"items": [item, item], "Count": 6, "parts": []}


def test_a_parameter_that_its_pydantic_model_rejects_names_the_field() -> None:
    @task("take")
    def take(order: Order) -> None: ...

    error = run_of(take, order={"items": [{"name": 3}]})["error"]

    assert error["kind"] == "fatal"
    assert "items.0.name: Input should be a valid string - at `$.order`" in error["message"]


def test_a_number_that_json_does_not_have_is_refused_in_a_pydantic_model_too() -> None:
    class Measure(pydantic.BaseModel):
        value: float

    @task("measure")
    def measure() -> Any:
        return Measure(value=float("nan"))

    assert "nan is not a number of JSON" in run_of(measure)["error"]["message"]
