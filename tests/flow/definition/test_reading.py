"""What a definition reads as: the example of the reference, short and long forms, scalars, places."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from time import process_time
from typing import Any

import pytest
import yaml

from penstock.flow.format.definition_parser import from_plain, read_definition, read_located
from penstock.flow.model.definition import Definition, External, From, Policy, Slot, Source, Step

MEDIATHREAD = """\
penstock: 1
name: mediathread
title: Video for Mediathread
source: {kind: api}
external:
  - name: et_job_finished
    from: {kind: webhook, verify: sns, key: {et_job: body.jobId}, set: "{'s3': body.key}", id: body.messageId}
params:                              # JSON Schema of the input
  type: object
  required: [s3_key, user]
  properties: {s3_key: {type: string}, user: {type: string}}
defaults: {task_list: video, retries: 2}
timeout: 2d
steps:
  extract_metadata: {task: video.extract_metadata, emits: metadata_extracted, fails: failed}
  submit:
    task: video.mediathread_submit
    after: [metadata_extracted, et_job_finished]
    emits: submitted
    fails: failed
  email_ok:        {task: mail, after: submitted, emits: OK, fails: failed, with: {to: "${ data.user }"}}
  email_failure:   {task: mail, after: failed, emits: FAIL, fails: FAIL, with: {subject: "Sorry: ${ event }"}}
"""


EXPECTED = Definition(
    name="mediathread",
    title="Video for Mediathread",
    source=Source(),
    external=(
        External(
            name="et_job_finished",
            from_=From(
                kind="webhook",
                verify="sns",
                key={"et_job": "body.jobId"},
                set="{'s3': body.key}",
                id="body.messageId",
            ),
        ),
    ),
    params={
        "type": "object",
        "required": ["s3_key", "user"],
        "properties": {"s3_key": {"type": "string"}, "user": {"type": "string"}},
    },
    defaults=Policy(task_list="video", retries=2),
    timeout=timedelta(days=2),
    steps={
        "extract_metadata": Step(
            task="video.extract_metadata", emits={"done": ("metadata_extracted",), "failed": ("failed",)}
        ),
        "submit": Step(
            task="video.mediathread_submit",
            after=(Slot(("metadata_extracted",)), Slot(("et_job_finished",))),
            emits={"done": ("submitted",), "failed": ("failed",)},
        ),
        "email_ok": Step(
            task="mail",
            after=(Slot(("submitted",)),),
            emits={"done": ("OK",), "failed": ("failed",)},
            params={"to": "${ data.user }"},
        ),
        "email_failure": Step(
            task="mail",
            after=(Slot(("failed",)),),
            emits={"done": ("FAIL",), "failed": ("FAIL",)},
            params={"subject": "Sorry: ${ event }"},
        ),
    },
)


def test_the_example_of_the_reference_reads_whole() -> None:
    assert read_definition(MEDIATHREAD) == EXPECTED


def step(keys: str) -> Step:
    return read_definition(f"penstock: 1\nname: n\nsteps:\n  s: {{task: t, {keys}}}\n").steps["s"]


@pytest.mark.parametrize(
    ("keys", "slots"),
    [
        ("title: x", None),
        ("after: ", ()),
        ("after: []", ()),
        ("after: a", (Slot(("a",)),)),
        ("after: a | b", (Slot(("a", "b")),)),
        ("after: a|b|c", (Slot(("a", "b", "c")),)),
        ("after: [a | b, c]", (Slot(("a", "b")), Slot(("c",)))),
        ("after: [a, a]", (Slot(("a",)), Slot(("a",)))),
        ("after: {need: 2, of: [a, b, c]}", (Slot(("a", "b", "c"), 2),)),
        ("after: [{need: 1, of: [a, b], rest: keep}, d]", (Slot(("a", "b"), 1, True), Slot(("d",)))),
        ("after: START | FAIL | CANCEL", (Slot(("START", "FAIL", "CANCEL")),)),
        ("after: TIMEOUT | OK", (Slot(("TIMEOUT", "OK")),)),
        (
            "after: [Größe (größer), देवनागरी लिपि, 日本/語]",
            (Slot(("Größe (größer)",)), Slot(("देवनागरी लिपि",)), Slot(("日本/語",))),
        ),
    ],
)
def test_after_reads_in_every_form(keys: str, slots: tuple[Slot, ...] | None) -> None:
    assert step(keys).after == slots


@pytest.mark.parametrize(
    ("keys", "emits"),
    [
        ("title: x", None),
        ("emits: a", {"done": ("a",)}),
        ("emits: [a, a, OK]", {"done": ("a", "a", "OK")}),
        ("emits: []", {"done": ()}),
        ("emits: {}", {}),
        ("emits: {then: a, else: [b, CANCEL]}", {"then": ("a",), "else": ("b", "CANCEL")}),
        ("emits: {then: a}, fails: b", {"then": ("a",), "failed": ("b",)}),
        ("emits: a, fails: [b, FAIL]", {"done": ("a",), "failed": ("b", "FAIL")}),
        ("emits: {failed: b}", {"failed": ("b",)}),
        ("fails: b", {"failed": ("b",)}),
        ("emits: [], fails: b", {"done": (), "failed": ("b",)}),
    ],
)
def test_emits_and_fails_become_one_map_of_ports(keys: str, emits: dict[str, tuple[str, ...]] | None) -> None:
    assert step(keys).emits == emits


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("1:30", "1:30"),
        ("2024-01-01", "2024-01-01"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("0o7", 7),
        ("0x1F", 31),
        ("010", 10),
        ("+12", 12),
        ("-3", -3),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("-0.0", 0.0),
        ("true", True),
        ("FALSE", False),
        ("tRue", "tRue"),
        ("null", None),
        ("~", None),
        ("", None),
        ("NULL", None),
        ("'null'", "null"),
        ('"1"', "1"),
        ("!!str 1", "1"),
        ("!!float 1", 1.0),
        ("!!float 0x10", 16.0),
        ("! 1", "1"),
        ("=", "="),
        ("9223372036854775807", 2**63 - 1),
        ('"\\U0001F600\\u2028"', "😀\u2028"),
        ("&a [1]", [1]),
    ],
)
def test_scalars_read_by_the_core_schema_of_yaml_1_2(written: str, value: Any) -> None:
    found = (step(f"with: {{v: {written} }}").params or {})["v"]
    assert (found, type(found)) == (value, type(value))


def test_a_few_aliases_are_fine() -> None:
    text = "penstock: 1\nname: n\nsteps:\n  a: &a {task: t, retries: 1}\n  b: *a\n"
    same = Step(task="t", policy=Policy(retries=1))
    assert read_definition(text).steps == {"a": same, "b": same}


def test_json_text_decoded_json_and_yaml_are_one_model() -> None:
    plain = {"penstock": 1, "name": "n", "steps": {"s": {"task": "t", "with": {"a": [1.5, None, "😀é"]}}}}
    expected = Definition(name="n", steps={"s": Step(task="t", params={"a": [1.5, None, "😀é"]})})
    texts = (json.dumps(plain), "\ufeff\n " + json.dumps(plain, indent="\t", ensure_ascii=False))
    assert [read_definition(text) for text in texts] + [from_plain(plain)] == [expected] * 3


def test_x_keys_are_kept_and_windows_line_ends_are_read() -> None:
    text = "penstock: 1\r\nname: n\r\nx-team: [a]\r\nsteps:\r\n  s:\r\n    task: t\r\n"
    assert read_definition(text) == Definition(name="n", steps={"s": Step(task="t")}, extra={"x-team": ["a"]})


def test_every_key_and_value_has_a_place() -> None:
    text = "penstock: 1\nname: n\nsteps:\n  s p:\n    task: t\n    after: [a, b | c]\n    with: {if: x > 1}\n"
    located = read_located(text)
    paths = ("steps", "steps.s p", "steps.s p.after", "steps.s p.after[1]", "steps.s p.with.if")
    assert {path: (located.places[path], located.values[path]) for path in paths} == {
        "steps": ((3, 1), (4, 3)),
        "steps.s p": ((4, 3), (5, 5)),
        "steps.s p.after": ((6, 5), (6, 12)),
        "steps.s p.after[1]": ((6, 16), (6, 16)),
        "steps.s p.with.if": ((7, 12), (7, 16)),
    }
    assert located.definition == read_definition(text)


def test_short_forms_have_the_paths_of_the_long_ones_too() -> None:
    located = read_located("penstock: 1\nname: n\nsteps:\n  s: {task: t, after: a, emits: b, fails: c}\n")
    paths = ("steps.s.after[0]", "steps.s.emits.done", "steps.s.emits.failed")
    assert [located.places[path] for path in paths] == [(4, 16), (4, 26), (4, 36)]
    assert [located.values[path] for path in paths] == [(4, 23), (4, 33), (4, 43)]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("steps.s.with.if", (4, 3)),
        ("steps.s.after[0]", (4, 23)),
        ("steps", (3, 1)),
        ("result", (1, 1)),
        ("", (1, 1)),
    ],
)
def test_what_is_not_written_has_the_place_of_what_surrounds_it(path: str, place: tuple[int, int]) -> None:
    located = read_located("penstock: 1\nname: n\nsteps:\n  s: {task: ttttttt,  after: a}\n")
    assert located.place(path) == place


def test_reading_costs_little_more_than_parsing_the_yaml() -> None:
    step = "{{task: t, after: [a{0}, b | c], emits: d{0}, fails: failed, with: {{to: x, of: [1, 2]}}}}"
    text = "penstock: 1\nname: n\nsteps:\n" + "".join(f"  s{n}: {step.format(n)}\n" for n in range(300))
    whole = min(cpu_time(lambda: read_definition(text)) for _ in range(5))
    parsing = min(cpu_time(lambda: list(yaml.parse(text, Loader=yaml.CSafeLoader))) for _ in range(5))
    assert whole < 8 * parsing


def cpu_time(call: Callable[[], object]) -> float:
    begun = process_time()
    call()
    return process_time() - begun
