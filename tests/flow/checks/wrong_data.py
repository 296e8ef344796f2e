"""Mistakes with settings and data that people make, each with the code of the finding; and what is right.

Each line changes one part of one workflow: step `s`, which follows `a`.
"""

from __future__ import annotations

from typing import Any

from penstock.flow.checks.checks import check_flow
from penstock.flow.checks.findings import Finding
from penstock.flow.compile.compile import compile_flow
from penstock.flow.format.definition_parser import from_plain
from penstock.flow.model.offer import Offer
from penstock.steps.kinds import OFFERS, kinds_with

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
PARAMS: dict[str, Any] = {
    "type": "object",
    "required": ["user", "n", "tags", "who", "half", "any"],
    "additionalProperties": False,
    "properties": {
        "user": TEXT,
        "n": WHOLE,
        "size": {"type": "number", "default": 1.5},
        "note": TEXT,
        "tags": {"type": "array", "items": TEXT},
        "who": {
            "type": "object",
            "properties": {"name": TEXT, "mail": TEXT},
            "required": ["name"],
            "additionalProperties": False,
        },
        "half": {"type": "object", "properties": {"name": TEXT}, "additionalProperties": False},
        "kind": {"enum": ["small", "large"]},
        "flag": {"type": "boolean", "default": False},
        "any": {"anyOf": [TEXT, WHOLE]},
        "open": {"type": "object", "properties": {"known": TEXT}},
        "counts": {"type": "object", "additionalProperties": WHOLE},
        "people": {"type": "array", "items": {"type": "object", "properties": {"age": WHOLE}}},
    },
}
PROBED = {
    "type": "object",
    "properties": {"seconds": WHOLE, "name": TEXT, "title": TEXT},
    "required": ["seconds", "name"],
    "additionalProperties": False,
}
TASKS = {
    "probe": Offer(
        name="probe",
        parameters={
            "type": "object",
            "properties": {
                "path": TEXT,
                "count": WHOLE,
                "labels": {"type": "object", "additionalProperties": TEXT},
                "kind": {"enum": ["small", "large"]},
                "person": PARAMS["properties"]["who"],
                "list": {"type": "array", "items": TEXT},
            },
            "required": ["path"],
            "additionalProperties": False,
        },
        output=PROBED,
        sets={"type": "object", "additionalProperties": False},
    ),
    "free": Offer(name="free"),
}
STEPS: dict[str, Any] = {
    "a": {"task": "probe", "with": {"path": "x"}},
    "d": {"task": "decide", "after": "a", "with": {"if": "data.flag"}},
    "left": {"task": "probe", "after": "d.then", "with": {"path": "x"}},
    "right": {"task": "set", "after": "d.else", "with": {"chosen": "${ data.user }"}},
    "s": {"task": "mail", "after": "a", "with": {"to": "a@b.example"}},
    "last": {"task": "probe", "after": "s", "with": {"path": "x"}},
}


def findings(step: dict[str, Any], head: dict[str, Any] | None = None) -> list[Finding]:
    """Of settings and data, if one step is so."""
    offers = {**OFFERS, **TASKS}
    steps = {**STEPS, "s": {"after": "a", **step}}
    whole = {"penstock": 1, "name": "w", "params": PARAMS, "steps": steps, **(head or {})}
    report = check_flow(
        compile_flow(from_plain(whole), kinds_with(offers), offers), offers, clock=lambda: 0.0
    )
    return [each for each in report.findings if each.code in CODES]


CODES = frozenset({"missing-setting", "unknown-setting", "wrong-type", "unknown-field", "bad-default"})


def reads(text: str) -> dict[str, Any]:
    """A step that takes any value, and is given this one."""
    return {"task": "free", "with": {"value": f"${{ {text} }}"}}


def probe(**settings: Any) -> dict[str, Any]:
    return {"task": "probe", "with": {"path": "x", **settings}}


def decide(condition: str) -> dict[str, Any]:
    return {"task": "decide", "with": {"if": condition}}


FIELD, TYPE = "unknown-field", "wrong-type"
WRONG_TEXTS: list[tuple[str, str, str]] = [
    ("data.usr", FIELD, "data"),
    ("data.User", FIELD, "data"),
    ("data.nonsense", FIELD, "data"),
    ("data.user.name", FIELD, "no-fields"),
    ("data.any.name", FIELD, "no-fields"),
    ("(data.flag ? data.who : data.user).name", FIELD, "maybe-no-fields"),
    ("data.who.nam", FIELD, "no-field"),
    ("data.who.mail", FIELD, "optional-field"),
    ("data.note", FIELD, "maybe-data"),
    ("data.kind", FIELD, "maybe-data"),
    ("data.note + '!'", FIELD, "maybe-data"),
    ("data.chosen", FIELD, "maybe-data"),
    ("has(data.open) ? data.open.unknown : ''", FIELD, "undeclared-field"),
    ("has(data.nonsense) ? 'a' : 'b'", FIELD, "never-present"),
    ("data.n.seconds", FIELD, "no-fields"),
    ("data.tags.first", FIELD, "no-fields"),
    ("data.tags['first']", FIELD, "no-fields"),
    ("data.n[0]", TYPE, "index"),
    ("data.any[0]", TYPE, "index"),
    ("data.user + 1", TYPE, "operator"),
    ("data.n + data.user", TYPE, "operator"),
    ("data.n + data.size", TYPE, "maybe-operator"),
    ("data.any + 'x'", TYPE, "maybe-operator"),
    ("data.size * 2.0", TYPE, "maybe-operator"),
    ("-data.user", TYPE, "operator"),
    ("data.tags * 2", TYPE, "operator"),
    ("data.user > 3", TYPE, "operator"),
    ("data.any > 3", TYPE, "maybe-operator"),
    ("!data.user", TYPE, "operator"),
    ("data.user && data.flag", TYPE, "condition"),
    ("data.any && data.flag", TYPE, "condition"),
    ("(data.flag ? true : data.n) && data.flag", TYPE, "maybe-condition"),
    ("data.n ? 'a' : 'b'", TYPE, "condition"),
    ("size(data.n)", TYPE, "argument"),
    ("size(data.any)", TYPE, "maybe-argument"),
    ("data.n.startsWith('a')", TYPE, "argument"),
    ("data.any.startsWith('a')", TYPE, "maybe-argument"),
    ("data.user.startsWith(3)", TYPE, "argument"),
    ("timestamp(data.flag)", TYPE, "argument"),
    ("glob(data.n, '*')", TYPE, "argument"),
    ("data.user.exists(x, x == 'a')", TYPE, "loop"),
    ("data.n.all(x, true)", TYPE, "loop"),
    ("data.any.all(x, true)", TYPE, "loop"),
    ("(data.flag ? data.tags : data.user).exists(x, true)", TYPE, "maybe-loop"),
    ("(data.flag ? data.tags : data.user)[0]", TYPE, "maybe-index"),
    ("data.tags.exists(x, x > 3)", TYPE, "operator"),
    ("data.tags.map(x, x.name)", FIELD, "no-fields"),
    ("data.people.map(p, p.agee)", FIELD, "undeclared-field"),
    ("data.kind == 'smal'", FIELD, "maybe-data"),
    ("has(data.kind) && data.kind == 'smal'", TYPE, "never-equal"),
    ("data.user == 3", TYPE, "never-equal"),
    ("data.n == 'three'", TYPE, "never-equal"),
    ("{data.tags: 1}", TYPE, "key"),
    ("{data.size: 1}", TYPE, "maybe-key"),
    ("steps.a.output.secs", FIELD, "no-field"),
    ("steps.a.output.title", FIELD, "optional-field"),
    ("steps.a.outputs.seconds", FIELD, "no-field"),
    ("steps.a.seconds", FIELD, "no-field"),
    ("steps.a.output.seconds + ' s'", TYPE, "operator"),
    ("steps.A.output.seconds", FIELD, "no-step"),
    ("steps.nope.output", FIELD, "no-step"),
    ("steps.left.output.seconds", FIELD, "later"),
    ("steps['right'].output.chosen", FIELD, "later"),
    ("steps.last.output.seconds", FIELD, "never"),
    ("steps.s.output.to[0]", FIELD, "never"),
    ("events.b", FIELD, "event"),
    ("events['a.failed'].error.message", FIELD, "event"),
    ("events.a.secs", FIELD, "no-field"),
    ("event.dta", FIELD, "no-field"),
    ("event.data.secs", FIELD, "no-field"),
    ("event.name + 1", TYPE, "operator"),
    ("event.at + 'x'", TYPE, "operator"),
    ("run.ID", FIELD, "no-field"),
    ("run.version + 'x'", TYPE, "operator"),
    ("run.subject.startsWith('a')", TYPE, "maybe-argument"),
    ("now.getHours('UTC') + 'h'", TYPE, "operator"),
    ("now + 3", TYPE, "operator"),
    ("item", FIELD, "each"),
    ("index + 1", FIELD, "each"),
]
"""Expressions in a setting that takes anything, each with a code and a variant."""

WRONG_STEPS: list[tuple[dict[str, Any], str, str]] = [
    (probe(count="${ data.user }"), TYPE, "gives"),
    (probe(count="${ data.any }"), TYPE, "may-give"),
    (probe(count="${ data.size }"), TYPE, "may-give"),
    (probe(count="${ data.n } times"), TYPE, "gives"),
    (probe(path="${ data.n }"), TYPE, "gives"),
    (probe(labels={"a": "${ data.n }"}), TYPE, "gives-inside"),
    (probe(labels="${ data.tags }"), TYPE, "gives"),
    (probe(labels="${ has(data.counts) ? data.counts : {'a': 1} }"), TYPE, "may-give-inside"),
    (probe(list="${ data.user }"), TYPE, "gives"),
    (probe(list=["a", "${ data.n }"]), TYPE, "may-give-inside"),
    (probe(kind="${ data.user }"), TYPE, "may-give"),
    (probe(kind="${ 'medium' }"), TYPE, "gives"),
    (probe(person={"mail": "${ data.user }"}), TYPE, "missing"),
    (probe(person="${ {'mail': 'x'} }"), TYPE, "missing"),
    (probe(person="${ data.flag ? {'name': 'x'} : {} }"), TYPE, "missing"),
    (probe(person="${ data.half }"), TYPE, "optional"),
    (probe(person="${ {'name': 'x', 'age': 3} }"), TYPE, "unexpected"),
    (decide("data.user"), TYPE, "gives"),
    (decide("data.any"), TYPE, "gives"),
    (decide("data.flag ? true : data.n"), TYPE, "may-give"),
    (decide("size(data.tags)"), TYPE, "gives"),
    (decide("data.usr == 'a'"), FIELD, "data"),
    ({"task": "switch", "with": {"cases": {"big": "data.n"}}}, TYPE, "gives"),
    ({"task": "switch", "with": {"cases": {"big": "data.n > 3", "odd": "data.nn == 1"}}}, FIELD, "data"),
    ({**probe(), "each": "data.user"}, TYPE, "gives"),
    ({**probe(), "each": "data.who"}, TYPE, "gives"),
    ({**probe(), "each": "data.nobody"}, FIELD, "data"),
    ({**probe(path="${ item.name }"), "each": "data.tags"}, FIELD, "no-fields"),
    ({**probe(count="${ item }"), "each": "data.tags"}, TYPE, "gives"),
    ({**probe(), "serialize": "data.usr"}, FIELD, "data"),
    ({**probe(), "match": "event.data.key"}, FIELD, "no-field"),
    ({"task": "set", "with": {"total": "${ data.user * 2 }"}}, TYPE, "operator"),
    ({"task": "tag", "with": {"set": {"a": "${ data.usr }"}}}, FIELD, "data"),
    ({"task": "fail", "with": {"message": "${ event.data.error.message }"}}, FIELD, "no-field"),
    ({"task": "wait", "with": {"for": "${ data.tags }"}}, TYPE, "gives"),
    ({"task": "emit", "with": {"event": "${ data.n }", "key": {"k": "1"}}}, TYPE, "gives"),
    ({"task": "emit", "with": {"event": "e", "key": {"k": "${ data.tags }"}}}, TYPE, "gives-inside"),
    ({"task": "http", "with": {"url": "${ data.n }"}}, TYPE, "gives"),
    ({"task": "http", "with": {"url": "x", "timeout": "${ data.tags }"}}, TYPE, "gives"),
    ({"task": "approval", "with": {"text": "${ data.n }"}}, TYPE, "gives"),
    ({"task": "workflow", "with": {"name": "other", "wait": "${ data.user }"}}, TYPE, "gives"),
    ({"task": "shell", "with": {"command": ["ls", "${ data.n }"]}}, TYPE, "may-give-inside"),
    ({"task": "mail", "with": {"to": "${ data.n }"}}, TYPE, "gives"),
    ({"task": "mail", "with": {"to": "${ run.subject }"}}, TYPE, "may-give"),
]

RIGHT_TEXTS = [
    "data.user",
    "data['user']",
    "data.user + '!'",
    "string(data.n) + ' things'",
    "data.n + 1",
    "has(data.note) ? data.note : ''",
    "has(data.note) && data.note.startsWith('a')",
    "'note' in data ? data.note : 'none'",
    "!has(data.note) || data.note == 'x'",
    "has(data.who.mail) ? data.who.mail : data.who.name",
    "has(data.kind) && data.kind == 'small'",
    "has(data.open) && has(data.open.unknown) ? data.open.unknown : ''",
    "type(data.any) == string ? data.any + '!' : 'number'",
    "data.any == 3 || data.any == 'three'",
    "data.tags[0]",
    "size(data.tags) > 0 ? data.tags[0] : ''",
    "data.tags.exists(x, x.startsWith('a'))",
    "data.tags.filter(x, x != '').map(x, x + '!')",
    "data.tags.map(x, size(x)).exists(n, n > 3)",
    "has(data.counts) && 'a' in data.counts && data.counts.a > 3",
    "has(data.people) ? data.people.filter(p, has(p.age) && p.age > 3) : []",
    "steps.a.output.seconds + 1",
    "steps['a'].output.name",
    "has(steps.a.output.title) ? steps.a.output.title : steps.a.output.name",
    "'left' in steps ? steps.left.output.seconds : 0",
    "has(steps.left) ? steps.left.output.name : ''",
    "events.a.seconds",
    "events['a'].name",
    "event.data.seconds",
    "event.name + event.id",
    "string(event.at)",
    "run.id + run.workflow",
    "run.version > 1",
    "run.subject == null ? '' : run.subject",
    "tags",
    "has(tags.colour) ? tags.colour : 'none'",
    "now > timestamp('2026-01-01T00:00:00Z')",
    "now.getHours('Europe/Berlin')",
    "data.flag ? 'yes' : 'no'",
    "data.flag && data.n > 3",
    "{'a': data.user, 'b': [data.n]}",
    "[data.user, data.n]",
    "dyn(data.any)",
    "glob(data.user, '*.png')",
]
"""Expressions in the same setting in which nothing is wrong."""

RIGHT_STEPS: list[dict[str, Any]] = [
    probe(count="${ data.n }"),
    probe(path="${ data.user }-${ data.n }"),
    probe(labels={"a": "${ data.user }"}),
    probe(list="${ data.tags }"),
    probe(list=["a", "${ data.user }"]),
    probe(kind="${ has(data.kind) ? data.kind : 'small' }"),
    probe(person="${ data.who }"),
    probe(person={"name": "${ data.user }"}),
    {**probe(path="${ item }", count="${ index }"), "each": "data.tags"},
    {**probe(), "serialize": "data.user"},
    {**probe(), "match": "event.data.name"},
    decide("data.n > 3"),
    {"task": "switch", "with": {"cases": {"big": "data.n > 3"}}},
    {"task": "free", "with": {"what": "${ data.user }"}},
    {"task": "set", "with": {"total": "${ data.n * 2 }", "gone": None}},
    {"task": "http", "with": {"url": "https://f.example/${ data.n }", "body": "${ data }"}},
    {"task": "wait", "with": {"for": "${ data.n }"}},
    {"task": "workflow", "with": {"name": "other", "input": "${ data.who }"}},
]
