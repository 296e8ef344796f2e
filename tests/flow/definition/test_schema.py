"""The published JSON Schema: current, as strict as reading can be told in one, and on the reference page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from scripts.reference.schema.definition_schema import definition_schema, schema_text

from penstock.flow import format
from penstock.flow.format.definition_parser import WORKFLOW, from_plain, read_definition
from penstock.flow.format.fields import Level
from penstock.flow.format.notify_parser import NOTICE, WEBHOOK
from penstock.flow.format.source_parser import EXTERNAL, FROM, SOURCES
from penstock.flow.format.step_parser import BACKOFF, DEFAULTS, SLOT, STEP, TIMEOUTS
from penstock.flow.format.verify_parser import METHODS
from penstock.flow.format.yaml_writer import to_plain
from penstock.flow.model import problems
from penstock.flow.model.problems import DefinitionError

PACKAGE = Path(format.__file__).parent
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "definition.md"
SCHEMA = definition_schema()
VALIDATOR = jsonschema_rs.validator_for(SCHEMA)


def test_the_published_file_is_current() -> None:
    published = (PACKAGE / "penstock-1.schema.json").read_text(encoding="utf-8")
    assert published == schema_text(), "run `make reference`"


def test_the_schema_is_a_schema_of_draft_2020_12() -> None:
    assert jsonschema_rs.meta.is_valid(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def maps(value: Any) -> Iterator[dict[str, Any]]:
    """Every part of the schema that lists properties."""
    if isinstance(value, dict):
        if "properties" in value:
            yield value["properties"]
        for each in value.values():
            yield from maps(each)
    elif isinstance(value, list):
        for each in value:
            yield from maps(each)


def test_the_schema_knows_exactly_the_keys_that_reading_knows() -> None:
    levels: list[Level] = [WORKFLOW, DEFAULTS, STEP, BACKOFF, TIMEOUTS, SLOT, EXTERNAL, NOTICE, WEBHOOK]
    known = {tuple(level.keys) for level in (*levels, *SOURCES.values(), *FROM.values(), *METHODS.values())}
    assert {tuple(properties) for properties in maps(SCHEMA)} == known


def test_every_key_has_a_description() -> None:
    told = [(key, "description" in value) for properties in maps(SCHEMA) for key, value in properties.items()]
    assert [key for key, has in told if not has] == []


STEPS = {"s": {"task": "t"}}
INVALID: list[dict[str, Any]] = [
    {"penstock": 2},
    {"penstock": None},
    {"name": "a b"},
    {"name": "a" * 129},
    {"titel": "a"},
    {"title": 5},
    {"timeout": "2 days"},
    {"timeout": 0},
    {"timeout": "0.0s"},
    {"timeout": -1},
    {"on_failure": "stop"},
    {"endless": "yes"},
    {"max_running": 0},
    {"labels": {"a": 1}},
    {"view": []},
    {"notify": None},
    {"notify": [{"bus": "b"}]},
    {"notify": [{"bus": "b", "topic": "t", "on": "failed"}]},
    {"notify": [{"bus": "b", "topic": "t", "statuses": ["running"]}]},
    {"notify": [{"bus": "b", "topic": "t", "events": []}]},
    {"notify": [{"url": "https://a.example/hook"}]},
    {"notify": [{"url": "a.example/hook", "secret": "S"}]},
    {"notify": [{"url": "https://a.example/hook#part", "secret": "S"}]},
    {"notify": [{"url": "https://a.example/hook", "secret": "a b"}]},
    {"notify": [{"url": "https://a.example/hook", "secret": "S", "bus": "b", "topic": "t"}]},
    {"params": []},
    {"result": " "},
    {"source": "api"},
    {"source": {"kind": "cron"}},
    {"source": {"kind": "object"}},
    {"source": {"kind": "schedule"}},
    {"source": {"kind": "schedule", "cron": "x", "every": 5}},
    {"source": {"kind": "webhook", "verify": ""}},
    {"source": {"kind": "webhook", "verify": "github"}},
    {"source": {"kind": "webhook", "verify": {"method": "hmac", "secret": "A", "algoritm": "sha1"}}},
    {"source": {"kind": "topic", "bus": "b"}},
    {"source": {"kind": "api", "cron": "x"}},
    {"external": "a"},
    {"external": ["OK"]},
    {"external": [{"many": True}]},
    {"external": [{"name": "a", "from": {"kind": "topic"}}]},
    {"external": [{"name": "a", "from": {"kind": "webhook", "bus": "b"}}]},
    {"defaults": {"task": "t"}},
    {"steps": {}},
    {"steps": {"START": {"task": "t"}}},
    {"steps": {"a|b": {"task": "t"}}},
    {"steps": {" a": {"task": "t"}}},
    {"steps": {"a": {}}},
    {"steps": {"a": {"task": ""}}},
]
INVALID_STEPS: list[dict[str, Any]] = [
    {"retrys": 1},
    {"retries": -1},
    {"retries": 1.5},
    {"parallel": 0},
    {"task_list": "a/b"},
    {"after": 5},
    {"after": "a |"},
    {"after": [["a"]]},
    {"after": {"need": 0, "of": ["a"]}},
    {"after": {"of": ["a"]}},
    {"after": {"need": 1, "of": ["a", "a"]}},
    {"after": {"need": 1, "of": ["a"], "rest": "drop"}},
    {"emits": "START"},
    {"emits": ["a", "TIMEOUT"]},
    {"emits": "a | b"},
    {"emits": {"OK": "a"}},
    {"emits": None},
    {"fails": {"a": "b"}},
    {"with": []},
    {"each": []},
    {"each_failure": "skip"},
    {"backoff": {"jitter": 3}},
    {"backoff": {"factor": 0}},
    {"timeout_retries": [0]},
    {"timeout_retries": 3},
    {"timeouts": {"heartbeat": "0s"}},
    {"disabled": 1},
    {"serialize_limit": 0},
]


@pytest.mark.parametrize(
    "keys", [*INVALID, *({"steps": {"s": {"task": "t", **keys}}} for keys in INVALID_STEPS)]
)
def test_schema_and_reading_refuse_the_same(keys: dict[str, Any]) -> None:
    value = {"penstock": 1, "name": "n", "steps": STEPS, **keys}
    assert not VALIDATOR.is_valid(value)
    with pytest.raises(DefinitionError):
        from_plain(value)


@pytest.mark.parametrize("missing", ["penstock", "name", "steps"])
def test_schema_and_reading_need_the_same_keys(missing: str) -> None:
    value = {"penstock": 1, "name": "n", "steps": STEPS}
    del value[missing]
    assert not VALIDATOR.is_valid(value)
    with pytest.raises(DefinitionError):
        from_plain(value)


def test_the_reference_page_tells_every_key() -> None:
    page = PAGE.read_text(encoding="utf-8")
    keys = {key for properties in maps(SCHEMA) for key in properties}
    assert sorted(key for key in keys if f"`{key}`" not in page) == []


READERS = (
    *("nodes", "yaml_text", "yaml_mistakes"),
    *("fields", "step_parser", "source_parser", "definition_parser"),
)


def test_the_reference_page_tells_every_error_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    sources = "".join((PACKAGE / f"{name}.py").read_text(encoding="utf-8") for name in READERS)
    raised = set(re.findall(r'(?:wrong|stop|add)\(\s*"([a-z_]+)"', sources)) | problems.UNREADABLE
    listed = set(re.findall(r"^\| `([a-z_]+)` \|", page[page.index("## Error codes") :], re.MULTILINE))
    assert listed == raised | {"too_many"}


def test_the_examples_of_the_reference_page_read() -> None:
    page = PAGE.read_text(encoding="utf-8")
    whole = [block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "penstock: 1" in block]
    assert len(whole) >= 2
    for block in whole:
        assert VALIDATOR.is_valid(to_plain(read_definition(block)))
