"""Definitions as text again: YAML and JSON in the short forms people write, exactly what was read."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import yaml
from msgspec import Struct

from penstock.flow.format.definition_parser import WORKFLOW
from penstock.flow.format.source_parser import EXTERNAL, SOURCES
from penstock.flow.format.step_parser import DEFAULTS, STEP
from penstock.flow.model.definition import (
    Backoff,
    Definition,
    External,
    From,
    Json,
    Notice,
    Policy,
    Slot,
    Source,
    Step,
    Timeouts,
)
from penstock.flow.values.duration import format_duration

_MAX_WIDTH = 90
"""A list of plain values up to this long stands on one line."""


def to_plain(definition: Definition) -> dict[str, Json]:
    """The definition as JSON values, keys in the order of the reference, in short forms."""
    found = {
        **_fields(definition, omit=("steps", "extra")),
        "steps": {name: _step(step) for name, step in definition.steps.items()},
    }
    return {**_ordered(found, WORKFLOW.keys), **definition.extra}


def write_json(definition: Definition) -> str:
    """JSON text that reads as the same definition."""
    return json.dumps(to_plain(definition), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_yaml(definition: Definition) -> str:
    """YAML text that reads as the same definition, here and in readers of YAML 1.1 and 1.2."""
    written: str = yaml.dump(
        to_plain(definition), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100_000
    )
    return written


def _fields(value: Struct, omit: tuple[str, ...] = ()) -> dict[str, Json]:
    """What a value says, key by key; None says nothing."""
    pairs = ((name, getattr(value, name)) for name in value.__struct_fields__ if name not in omit)
    return {name: _plain(found) for name, found in pairs if found is not None}


def _plain(value: Any) -> Json:
    """One value of the model as a JSON value."""
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, Policy):
        return _ordered(_fields(value), DEFAULTS.keys)
    if isinstance(value, Source):
        return _ordered({"kind": value.kind, **value.options}, SOURCES[value.kind].keys)
    if isinstance(value, External):
        return _external(value)
    if isinstance(value, Backoff | Timeouts | From | Notice):
        return _fields(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)  # without a needless `.0`
    return value


def _ordered(found: dict[str, Json], order: Any) -> dict[str, Json]:
    return {key: found[key] for key in order if key in found}


def _external(event: External) -> Json:
    found = _fields(event)
    if set(found) == {"name"}:
        return event.name
    if "from_" in found:
        found["from"] = found.pop("from_")
    return _ordered(found, EXTERNAL.keys)


def _step(step: Step) -> dict[str, Json]:
    found = {**_fields(step, omit=("after", "emits", "policy")), **_fields(step.policy)}
    if "params" in found:
        found["with"] = found.pop("params")
    if step.after is not None:
        found["after"] = _after(step.after)
    if step.emits is not None:
        found.update(_emits(step.emits))
    return _ordered(found, STEP.keys)


def _after(slots: tuple[Slot, ...]) -> Json:
    if len(slots) == 1 and slots[0].need is None:
        return _slot(slots[0])
    return [_slot(slot) for slot in slots]


def _slot(slot: Slot) -> Json:
    if slot.need is None:
        return " | ".join(slot.events)
    return {"need": slot.need, "of": list(slot.events), **({"rest": "keep"} if slot.keep else {})}


def _emits(emits: dict[str, tuple[str, ...]]) -> dict[str, Json]:
    """`emits` and `fails`: a map only where other ports than `done` and `failed` fire something."""
    ports = {port: _events(events) for port, events in emits.items() if port != "failed"}
    fails = {"fails": _events(emits["failed"])} if "failed" in emits else {}
    if fails and not ports:
        return fails
    return {"emits": ports["done"] if set(ports) == {"done"} else ports, **fails}


def _events(events: tuple[str, ...]) -> Json:
    return events[0] if len(events) == 1 else list(events)


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Quotes every text that a reader of YAML 1.1 or 1.2 could take for something else."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: Any, value: str) -> Any:
    tame = "\n" in value and not re.search(
        r"(^|\n)[ \t]|[ \t](\n|$)|^\n|[^\n -~\xa1-\u2027\u2030-\ud7ff]", value
    )
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if tame else None)


def _represent_list(dumper: Any, value: list[Any]) -> Any:
    scalars = not any(
        isinstance(each, list | dict) or (isinstance(each, str) and "\n" in each) for each in value
    )
    short = scalars and sum(len(str(each)) + 2 for each in value) <= _MAX_WIDTH
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=short)


def _represent_map(dumper: Any, value: dict[str, Any]) -> Any:
    return dumper.represent_mapping("tag:yaml.org,2002:map", value.items(), flow_style=False)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(dict, _represent_map)
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:\.?[0-9][0-9_.]*)(?:[eE][-+]?[0-9]+)?$|0[xo][0-9a-fA-F_]+$"),
    list("-+.0123456789"),
)
