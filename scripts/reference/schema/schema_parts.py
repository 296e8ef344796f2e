"""The parts of the JSON Schema: one description a key, as the editor's forms show it."""

from __future__ import annotations

from typing import Any

from scripts.reference.schema.schema_notify import NOTIFY

from penstock.flow.model.names import MAX_NAME_LENGTH
from penstock.kernel.net import CANCEL, FAIL, OK, RESERVED, START, TIMEOUT

Schema = dict[str, Any]

_LETTER = r"[\p{L}\p{N}\p{M}_.\-/()]"
_NAME = rf"{_LETTER}(?:[\p{{L}}\p{{N}}\p{{M}}_.\-/() ]*{_LETTER})?"


def _ref(name: str, description: str, **more: Any) -> Schema:
    return {"$ref": f"#/$defs/{name}", "description": description, **more}


def _text(description: str, **more: Any) -> Schema:
    return {"type": "string", "description": description, **more}


def _whole(description: str, least: int | None = None, **more: Any) -> Schema:
    return {
        "type": "integer",
        "description": description,
        **({} if least is None else {"minimum": least}),
        **more,
    }


def _choice(description: str, *values: str, default: str | None = None) -> Schema:
    return {"enum": list(values), "description": description, **({"default": default} if default else {})}


def _map(description: str, properties: Schema, *required: str) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        **({"required": list(required)} if required else {}),
        "additionalProperties": False,
    }


def _flag(description: str) -> Schema:
    return {"type": "boolean", "description": description}


_STORE = _ref("identifier", "The object store.")
_PREFIX = _text("Only objects whose key begins so.", minLength=1)
_GLOB = _text("Only objects whose key matches this pattern.", minLength=1)
_CRON = _text("When, in five fields: minute, hour, day of month, month, day of week.", minLength=1)
_TZ = _text("Time zone of `cron`, such as Europe/Berlin.", minLength=1)
_VERIFY = _ref("verify", "How the sender is verified.")
_BUS = _text("The broker, by its name in the settings.", minLength=1)
_TOPIC = _text("The topic to listen to.", minLength=1)
_WHERE = _ref("expression", "Only where this condition holds.")
_REQUEST: Schema = {
    "where": _WHERE,
    "subject": _ref("expression", "What the run is about."),
    "input": _ref("expression", "The input of the run."),
    "id": _ref("expression", "What makes a repeat recognisable; a repeat starts no second run."),
}


def _kind(kind: str, description: str, properties: Schema, *required: str) -> Schema:
    named = {"kind": {"const": kind, "description": "What kind it is."}, **properties}
    return _map(description, named, "kind", *required)


_SOURCES = [
    _kind("api", "A run for each request or by hand.", {}),
    _kind(
        "object",
        "A run for each object version created or deleted.",
        {
            "store": _STORE,
            "prefix": _PREFIX,
            "suffix": _text("Only objects whose key ends so.", minLength=1),
            "glob": _GLOB,
            "where": _WHERE,
            "events": {
                "description": "Which events count: `created`, `deleted` or both.",
                "anyOf": [
                    {"enum": ["created", "deleted"]},
                    {
                        "type": "array",
                        "items": {"enum": ["created", "deleted"]},
                        "minItems": 1,
                        "uniqueItems": True,
                    },
                ],
            },
        },
        "store",
    ),
    _kind(
        "search",
        "A run for each object found, on a clock.",
        {"store": _STORE, "prefix": _PREFIX, "glob": _GLOB, "where": _WHERE, "cron": _CRON, "tz": _TZ},
        "store",
        "cron",
    ),
    {
        **_kind(
            "schedule",
            "A run at each tick of a clock.",
            {
                "cron": _CRON,
                "every": _ref("duration_above_0", "The time from tick to tick."),
                "tz": _TZ,
                "overrun": _choice(
                    "What a tick does while a run of an earlier one is not over.",
                    *("skip", "start", "abort", "delay", "delay_until_success"),
                    default="skip",
                ),
                "max_running": _whole("How many runs may be under way at once.", 1),
                "catch_up": _choice(
                    "Which of the ticks missed while the server was down are made up for.",
                    *("none", "latest", "all"),
                    default="latest",
                ),
            },
        ),
        "oneOf": [{"required": ["cron"]}, {"required": ["every"]}],
    },
    _kind("webhook", "A run for each verified call of the hook.", {"verify": _VERIFY, **_REQUEST}, "verify"),
    _kind("topic", "A run for each message.", {"bus": _BUS, "topic": _TOPIC, **_REQUEST}, "bus", "topic"),
]

_FROM: Schema = {
    "where": _WHERE,
    "key": {
        "type": "object",
        "description": "Correlation keys, each with the expression that reads it: they find the run.",
        "additionalProperties": {"$ref": "#/$defs/expression"},
    },
    "data": _ref("expression", "The data of the event."),
    "set": _ref("expression", "What is set on the run's data, as a merge patch."),
    "id": _ref("expression", "What makes a repeat recognisable; a repeat changes nothing."),
}

_EXTERNAL = _map(
    "An event that comes from outside.",
    {
        "name": _ref("own_event", "Its name."),
        "many": _flag("Whether it may come more than once."),
        "optional": _flag("Whether a run may end without it: a run does not wait for it."),
        "schema": _ref("json_schema", "JSON Schema of its data."),
        "from": {
            "description": "Where it comes from: calls of its hook, or messages of a topic.",
            "oneOf": [
                _kind("webhook", "Calls of /hooks/<workflow>/<event>.", {"verify": _VERIFY, **_FROM}),
                _kind(
                    "topic",
                    "Messages of a topic.",
                    {"verify": _VERIFY, "bus": _BUS, "topic": _TOPIC, **_FROM},
                    "bus",
                    "topic",
                ),
            ],
        },
    },
    "name",
)

_POLICY: Schema = {
    "parallel": _whole("How many firings, or elements of `each`, may run at once.", 1, default=1),
    "task_list": _ref("identifier", "The task list whose workers run it.", default="default"),
    "priority": _whole("Higher ones are handed to workers first.", default=0),
    "retries": _whole("How many more attempts after the task failed.", 0, default=0),
    "backoff": _map(
        "How long to wait before the next attempt after a failure.",
        {
            "initial": _ref("duration", "The first wait.", default="1s"),
            "factor": {
                "type": "number",
                "minimum": 1,
                "maximum": 1000,
                "default": 2,
                "description": "By how much each wait grows.",
            },
            "max": _ref("duration", "The longest wait.", default="5m"),
            "jitter": {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "default": 0.1,
                "description": "By which share a wait varies at random.",
            },
        },
    ),
    "timeout_retries": {
        "type": "array",
        "items": {"type": "number", "exclusiveMinimum": 0},
        "default": [1, 1, 1],
        "description": "One more attempt after a time-out for each number; it multiplies the time-outs.",
    },
    "timeouts": _map(
        "The time-outs of one attempt.",
        {
            "schedule_to_start": _ref("duration_above_0", "From the task list to a worker."),
            "start_to_close": _ref("duration_above_0", "From a worker's start to its report."),
            "schedule_to_close": _ref("duration_above_0", "From the task list to the report."),
            "heartbeat": _ref("duration_above_0", "The longest silence of a worker.", default="60s"),
        },
    ),
    "warn_after": _ref("duration_above_0", "After this time the step is marked as slow."),
}

_STEP = _map(
    "A step: the events it waits for, the task it runs, the events it fires.",
    {
        "task": _text("The task that a worker runs.", minLength=1),
        "title": _text("What people see instead of the name."),
        "after": {
            "description": "What it waits for: one slot an entry, all of them. Without it: START.",
            "anyOf": [
                {"$ref": "#/$defs/slot"},
                {"type": "array", "items": {"$ref": "#/$defs/slot"}},
                {"type": "null"},
            ],
        },
        "emits": {
            "description": "The events of the port `done`, or a map: port to events.",
            "anyOf": [
                {"$ref": "#/$defs/events"},
                {
                    "type": "object",
                    "propertyNames": {"$ref": "#/$defs/own_event"},
                    "additionalProperties": {"$ref": "#/$defs/events"},
                },
            ],
        },
        "fails": _ref("events", "The events of the port `failed`."),
        "with": {
            "type": "object",
            "description": "The parameters of the task; `${ ... }` parts are CEL.",
        },
        "each": _ref("expression", "A list: one element of the firing for each item."),
        "each_failure": _choice("What a failed element does.", "fail", "collect", default="fail"),
        **_POLICY,
        "serialize": _ref("expression", "A key: firings with the same key run one after the other."),
        "serialize_limit": _whole("How many firings with one key may run at once.", 1, default=1),
        "serialize_scope": _ref("own_event", "Steps with this scope share their keys."),
        "cancels": {
            "description": "Steps whose firings and waiting events are withdrawn when this one begins.",
            "anyOf": [
                {"$ref": "#/$defs/own_event"},
                {"type": "array", "items": {"$ref": "#/$defs/own_event"}},
            ],
        },
        "match": _ref("expression", "A key: only events with the same key are taken together."),
        "disabled": {
            "description": "Skip the task and end on `done`, or on the port that is named.",
            "anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/own_event"}],
        },
    },
    "task",
)

DEFINITIONS: Schema = {
    "identifier": _text("A name.", pattern=rf"^[A-Za-z0-9_.\-]{{1,{MAX_NAME_LENGTH}}}$"),
    "own_event": _text(
        "A name: letters and digits of any script, space, _ . - / ( ).",
        pattern=rf"^{_NAME}$",
        maxLength=MAX_NAME_LENGTH,
        **{"not": {"enum": sorted(RESERVED)}},
    ),
    "emitted_event": _text(
        f"An event that a step may list; of the reserved ones {OK}, {FAIL} and {CANCEL}.",
        pattern=rf"^{_NAME}$",
        maxLength=MAX_NAME_LENGTH,
        **{"not": {"enum": [START, TIMEOUT]}},
    ),
    "awaited_event": _text("An event.", pattern=rf"^{_NAME}$", maxLength=MAX_NAME_LENGTH),
    "events": {
        "description": "An event or a list of events.",
        "anyOf": [
            {"$ref": "#/$defs/emitted_event"},
            {"type": "array", "items": {"$ref": "#/$defs/emitted_event"}},
        ],
    },
    "slot": {
        "description": "An event, `a | b` for either one, or a number of several.",
        "anyOf": [
            {"type": "string", "pattern": rf"^\s*{_NAME}(?:\s*\|\s*{_NAME})*\s*$"},
            _map(
                "The first `need` different ones `of` these events.",
                {
                    "need": _whole("How many of them.", 1),
                    "of": {
                        "type": "array",
                        "items": {"$ref": "#/$defs/awaited_event"},
                        "minItems": 1,
                        "uniqueItems": True,
                        "description": "The events to choose from.",
                    },
                    "rest": {"const": "keep", "description": "Keep the others for the next round."},
                },
                "need",
                "of",
            ),
        ],
    },
    "expression": {
        "description": "An expression in CEL.",
        "anyOf": [{"type": "string", "pattern": r"\S"}, {"type": ["boolean", "number"]}],
    },
    "duration": {
        "description": "A duration such as 500ms, 0.5s, 90s, 15m, 10h or 2d, or a number of seconds.",
        "anyOf": [
            {"type": "string", "pattern": r"^[0-9]{1,18}(?:\.[0-9]{1,18})?(?:ms|s|m|h|d)$"},
            {"type": "number", "minimum": 0},
        ],
    },
    "duration_above_0": {
        "description": "A duration longer than 0.",
        "allOf": [{"$ref": "#/$defs/duration"}, {"not": {"const": 0}}],
        "not": {"type": "string", "pattern": r"^[0.]*[a-z]+$"},
    },
    "json_schema": {"type": ["object", "boolean"], "description": "A JSON Schema."},
    "step": _STEP,
}

WORKFLOW: Schema = {
    **_map(
        "",
        {
            "penstock": {"const": 1, "description": "The format of this file."},
            "name": _ref("identifier", "The name of the workflow."),
            "title": _text("What people see instead of the name."),
            "description": _text("What the workflow is for."),
            "source": {"description": "What starts runs; `api` where none is named.", "oneOf": _SOURCES},
            "external": {
                "type": "array",
                "items": {"anyOf": [{"$ref": "#/$defs/own_event"}, _EXTERNAL]},
                "description": "Events that come from outside the workflow.",
            },
            "params": _ref("json_schema", "JSON Schema of the input of a run."),
            "result": _ref("expression", "The result of a run; its data where none is given."),
            "defaults": _map("What steps take over unless they say otherwise.", _POLICY),
            "timeout": _ref("duration_above_0", "The longest time of a run."),
            "cleanup_timeout": _ref("duration_above_0", "The longest time of a clean-up.", default="10m"),
            "on_failure": _choice(
                "What an unhandled failure does: end the run, or let everything else finish first.",
                *("fail", "continue"),
                default="fail",
            ),
            "endless": _flag("Whether a run is meant never to end."),
            "max_running": _whole("How many runs may be under way at once.", 1),
            "retention": _ref("duration_above_0", "How long finished runs are kept."),
            "labels": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "Labels of the workflow and its runs.",
            },
            "notify": NOTIFY,
            "steps": {
                "type": "object",
                "minProperties": 1,
                "maxProperties": 500,
                "propertyNames": {"$ref": "#/$defs/own_event"},
                "additionalProperties": {"$ref": "#/$defs/step"},
                "description": "The steps, by name.",
            },
            "view": {
                "type": "object",
                "description": "Positions, groups and notes of the drawing; the engine never reads it.",
            },
        },
        *("penstock", "name", "steps"),
    ),
    "patternProperties": {"^x-": {"description": "Free for other programs."}},
}
del WORKFLOW["description"]
