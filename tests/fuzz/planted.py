"""A bug for each decoder, such as one writes by mistake: inputs that are kept do not show it, fuzzing finds it."""

from __future__ import annotations

import ast
import json
from binascii import a2b_base64
from collections.abc import Callable
from datetime import datetime
from difflib import get_close_matches
from typing import Any
from zoneinfo import ZoneInfo

from penstock.boxes import egress
from penstock.expression.functions import times
from penstock.flow.format import fields, yaml_text
from penstock.flow.values import schedule
from penstock.importing import python_text
from penstock.objects import s3_notifications
from penstock.runtime.json import strict_json
from penstock.sources.hooks import cloudevents, signatures, sns


def plant(name: str) -> None:
    """Put the bug of a target into this process."""
    PLANTED[name]()


def _numbers_of_nineteen_digits_fit() -> None:
    whole = strict_json._whole
    strict_json._decode = json.JSONDecoder(
        object_pairs_hook=strict_json._pairs,
        parse_int=lambda text: int(text) if len(text) == 19 else whole(text),
        parse_float=strict_json._fraction,
        parse_constant=strict_json._constant,
    ).decode


def _no_key_is_there_twice() -> None:
    def put(node: Any, key: str, value: Any, at: Any, findings: Any) -> None:
        node.value[key] = value
        if node.keys.setdefault(key, at) != at:
            raise KeyError(key)

    yaml_text.put = put  # type: ignore[attr-defined]


def _every_wrong_key_is_like_a_right_one() -> None:
    def hint(spot: Any, key: str, level: Any) -> str:
        return f"did you mean {get_close_matches(key, level.keys)[0]}?"

    fields.unknown_key = hint


def _zones_are_known() -> None:
    zone = times._zone
    times._zone = lambda name: zone(name) if not isinstance(name, str) else ZoneInfo(name)


def _times_are_times() -> None:
    def moment(text: str | None) -> str | None:
        return None if text is None else str(datetime.fromisoformat(text))

    cloudevents._moment = moment


def _some_of_a_signature_does() -> None:
    signatures.same = lambda given, expected: given in expected


def _names_are_there() -> None:
    s3_notifications._text = lambda value, what: value


def _signatures_are_base64() -> None:
    sns._signature = lambda value: a2b_base64(value, strict_mode=True)


def _after_a_plus_there_is_a_number() -> None:
    nearest: Any = schedule.nearest  # type: ignore[attr-defined]

    def near(name: str, known: Any) -> Any:
        return nearest(f"GMT+{int(name.split('+')[1])}" if "+" in name else name, known)

    schedule.nearest = near  # type: ignore[attr-defined]


def _letters_are_what_they_seem() -> None:
    egress._plain_host = lambda host: host


def _a_text_is_python() -> None:
    python_text._parsed = lambda text: ast.parse(text)


PLANTED: dict[str, Callable[[], None]] = {
    "json": _numbers_of_nineteen_digits_fit,
    "definition_yaml": _no_key_is_there_twice,
    "definition_json": _every_wrong_key_is_like_a_right_one,
    "expressions": _zones_are_known,
    "cloudevents": _times_are_times,
    "signatures": _some_of_a_signature_does,
    "notifications": _names_are_there,
    "letters": _signatures_are_base64,
    "clocks": _after_a_plus_there_is_a_number,
    "addresses": _letters_are_what_they_seem,
    "imports": _a_text_is_python,
}
