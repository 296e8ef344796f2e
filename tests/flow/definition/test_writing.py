"""What is written reads as the same definition, in both notations, and fits the published schema."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from scripts.reference.schema.definition_schema import definition_schema

from penstock.flow.format.definition_parser import from_plain, read_definition
from penstock.flow.format.yaml_writer import to_plain, write_json, write_yaml
from penstock.flow.model.definition import (
    Backoff,
    Definition,
    External,
    From,
    Notice,
    Policy,
    Slot,
    Source,
    Step,
    Timeouts,
)

WORDS = """
no yes on off y n ~ null true 1:30 0o7 0x1F 1e3 1_000 .5 1. +1 -1 << = 2024-01-01 .inf .nan NaN 010 0b11
{a} [a] *a &a !a %a @a `a` > | - ? : -a a: 'a "a a#b ,a
"""
SPACED = (
    "",
    " a",
    "a ",
    "a: b",
    "a #b",
    "# a",
    "- a",
    "two\nlines\n",
    "\n",
    "a\n\n",
    "\ta",
    "a\tb",
    "x\n  y",
)
TRAPS = (*WORDS.split(), *SPACED)

letters = st.characters(categories=("L", "Nd"), include_characters="_./()- ")
names = st.text(letters, min_size=1, max_size=8).map(str.strip).filter(bool)
identifiers = st.text("abcXYZ019_.-", min_size=1, max_size=10).filter(lambda name: name.strip("."))
free_text = st.one_of(
    st.sampled_from(TRAPS),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
)
filled_text = free_text.filter(lambda text: bool(text.strip()))
durations = st.timedeltas(timedelta(microseconds=1), timedelta(days=4000))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | free_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(free_text, inner, max_size=3),
    max_leaves=6,
)
json_maps = st.dictionaries(free_text, json_values, max_size=3)
schemas = st.sampled_from(
    [{"type": "object", "required": ["a"]}, {"type": "string", "maxLength": 3}, True, {}]
)
factors = st.floats(1, 1000) | st.integers(1, 9).map(float)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def some(model: type[Any], **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values of `model` in which each of these fields is said or left out."""
    return st.builds(model, **{key: maybe(strategy) for key, strategy in fields.items()})


policies = some(
    Policy,
    task_list=identifiers,
    priority=st.integers(-9, 9),
    parallel=st.integers(1, 9),
    retries=st.integers(0, 9),
    backoff=some(Backoff, initial=durations, factor=factors, max=durations, jitter=st.floats(0, 1)),
    timeout_retries=st.lists(factors, max_size=3).map(tuple),
    timeouts=some(
        Timeouts,
        schedule_to_start=durations,
        start_to_close=durations,
        schedule_to_close=durations,
        heartbeat=durations,
    ),
    warn_after=durations,
)
emitted = st.sampled_from(["OK", "FAIL", "CANCEL"]) | names.map(lambda name: f"e {name}")
awaited = emitted | st.sampled_from(["START", "TIMEOUT"])
slots = st.one_of(
    st.lists(awaited, min_size=1, max_size=3, unique=True).map(lambda events: Slot(tuple(events))),
    st.lists(awaited, min_size=1, max_size=3, unique=True).flatmap(
        lambda events: st.builds(Slot, st.just(tuple(events)), st.integers(1, len(events)), st.booleans())
    ),
)
events = st.lists(emitted, max_size=3).map(tuple)
ports = st.sampled_from(["done", "failed", "then", "else", "no", "404"])
secrets = st.from_regex(r"[A-Z][A-Z0-9_]{0,20}", fullmatch=True)
verifies = st.just("sns") | st.builds(
    lambda secret, prefix: {"method": "hmac", "secret": secret, "prefix": prefix},
    *(secrets | st.lists(secrets, min_size=1, max_size=2), free_text),
)
sources = st.one_of(
    st.just(Source()),
    st.builds(
        lambda store, prefix, kinds: Source(
            kind="object", options={"store": store, "prefix": prefix, "events": kinds}
        ),
        *(
            identifiers,
            filled_text,
            st.lists(st.sampled_from(["created", "deleted"]), min_size=1, unique=True),
        ),
    ),
    st.builds(
        lambda every: Source(kind="schedule", options={"every": every}), st.sampled_from(["15m", 90, 1.5])
    ),
    st.builds(
        lambda cron: Source(kind="search", options={"store": "s", "cron": cron}),
        st.sampled_from(["0 2 * * *", "@daily", "*/5 8-18 * * MON-FRI"]),
    ),
    st.builds(lambda verify: Source(kind="webhook", options={"verify": verify, "where": "true"}), verifies),
    st.builds(lambda topic: Source(kind="topic", options={"bus": "b", "topic": topic}), filled_text),
)
froms = st.builds(
    From,
    kind=st.just("webhook"),
    verify=maybe(verifies),
    where=maybe(filled_text),
    key=maybe(st.dictionaries(free_text, filled_text, max_size=2)),
    data=maybe(filled_text),
    set=maybe(filled_text),
    id=maybe(filled_text),
) | st.builds(From, kind=st.just("topic"), bus=filled_text, topic=filled_text)


@st.composite
def steps(draw: st.DrawFn) -> dict[str, Step]:
    found = draw(
        st.lists(names.map(lambda name: f"s{name}".replace(".", "")), min_size=1, max_size=4, unique=True)
    )
    each = st.builds(
        Step,
        task=filled_text,
        title=maybe(free_text),
        after=maybe(st.lists(slots, max_size=3).map(tuple)),
        emits=maybe(st.dictionaries(ports, events, max_size=3)),
        params=maybe(json_maps),
        each=maybe(filled_text),
        each_failure=st.sampled_from([None, "fail", "collect"]),
        serialize=maybe(filled_text),
        serialize_limit=maybe(st.integers(1, 9)),
        serialize_scope=maybe(names.filter(lambda name: not name.isupper())),
        cancels=maybe(st.lists(st.sampled_from(found), max_size=2).map(tuple)),
        match=maybe(filled_text),
        disabled=st.sampled_from([None, True, False, "then", "no"]),
        policy=policies,
    )
    return {name: draw(each) for name in found}


told = {
    "events": maybe(st.sampled_from([("a",), ("OK", "b c")])),
    "statuses": maybe(st.sampled_from([("failed",), ("succeeded", "timed_out")])),
    "data": maybe(filled_text),
}
notices = st.one_of(
    st.builds(Notice, bus=filled_text, topic=filled_text, **told),
    st.builds(Notice, url=st.just("https://a.example/hook?x=1"), secret=identifiers, **told),
)
definitions = st.builds(
    Definition,
    name=identifiers,
    steps=steps(),
    title=maybe(free_text),
    description=maybe(free_text),
    source=maybe(sources),
    external=maybe(
        st.lists(
            st.builds(
                External,
                name=names.map(lambda name: f"x {name}"),
                many=maybe(st.booleans()),
                optional=maybe(st.booleans()),
                schema=maybe(schemas),
                from_=maybe(froms),
            ),
            max_size=2,
            unique_by=lambda event: event.name,
        ).map(tuple)
    ),
    params=maybe(schemas),
    result=maybe(filled_text),
    defaults=maybe(policies),
    timeout=maybe(durations),
    cleanup_timeout=maybe(durations),
    on_failure=st.sampled_from([None, "fail", "continue"]),
    endless=maybe(st.booleans()),
    max_running=maybe(st.integers(1, 99)),
    retention=maybe(durations),
    labels=maybe(st.dictionaries(free_text, free_text, max_size=2)),
    notify=maybe(st.lists(notices, max_size=2).map(tuple)),
    view=maybe(json_maps),
    extra=st.dictionaries(free_text.map(lambda text: f"x-{text}"), json_values, max_size=2),
)
bounded = settings(max_examples=80, deadline=None, derandomize=True)
VALIDATOR = jsonschema_rs.validator_for(definition_schema())


@bounded
@given(definitions)
def test_what_is_written_reads_as_the_same_definition(definition: Definition) -> None:
    written = (write_yaml(definition), write_json(definition))
    read = [read_definition(text) for text in written]
    assert read == [definition, definition]
    assert (write_yaml(read[0]), write_json(read[1])) == written
    assert from_plain(to_plain(definition)) == definition


@bounded
@given(definitions)
def test_what_is_written_validates_against_the_published_schema(definition: Definition) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(write_json(definition)))] == []


@pytest.mark.parametrize("text", TRAPS)
def test_readers_of_yaml_1_1_see_the_same_text(text: str) -> None:
    definition = Definition(name="a", steps={"s": Step(task="t", params={text or "k": text})})
    assert yaml.safe_load(write_yaml(definition))["steps"]["s"]["with"] == {text or "k": text}


SHORT = """\
penstock: 1
name: short
description: |
  First line.
  Second line.
source:
  kind: schedule
  cron: 0 2 * * *
  tz: Europe/Berlin
external:
- plain
- name: more
  many: true
defaults:
  retries: 2
  backoff:
    initial: 500ms
    factor: 2
    jitter: 0.25
  timeout_retries: [1, 2, 4]
timeout: 36h
labels:
  'on': 'no'
  at: '1:30'
steps:
  one:
    task: t
    after: plain | more
    emits: a
    fails: b
  two:
    task: decide
    after:
    - a
    - need: 2
      of: [b, c, d]
      rest: keep
    emits:
      then: [e, f]
      else: OK
    fails: []
    with:
      if: data.size > 1
  three:
    task: t
    after: []
    fails: FAIL
    disabled: done
    cancels: [one]
  four:
    task: t
    fails: g
x-note: [1, 2.5, null]
""".replace("    disabled: done\n    cancels: [one]\n", "    cancels: [one]\n    disabled: done\n")


def test_yaml_is_written_in_short_forms_and_the_order_of_the_reference() -> None:
    assert write_yaml(read_definition(SHORT)) == SHORT


LONG = """\
steps:
  one: {fails: [b], emits: {done: [a]}, after: ["plain|more"], task: t}
name: long
penstock: 1
timeout: 129600
external: [{name: plain}, {name: more}]
"""


def test_long_forms_become_short_ones() -> None:
    assert (
        write_json(read_definition(LONG))
        == json.dumps(
            {
                "penstock": 1,
                "name": "long",
                "external": ["plain", "more"],
                "timeout": "36h",
                "steps": {"one": {"task": "t", "after": "plain | more", "emits": "a", "fails": "b"}},
            },
            indent=2,
        )
        + "\n"
    )
