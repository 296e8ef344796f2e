"""Reading the fields of a body: what cannot be is answered field by field, in the words that clients know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from penstock_release.errors import FieldErrors, invalid

REQUIRED = "This field is required."
BLANK = "This field may not be blank."
NULL = "This field may not be null."
TEXT = "Not a valid string."
SWITCH = "Must be a valid boolean."
LONG = "Ensure this field has no more than {} characters."
LIST = 'Expected a list of items but got type "{}".'


class Field(Struct, frozen=True):
    """One field: what it holds, and whether it must be there."""

    name: str
    kind: str = "text"  # text, switch or texts
    required: bool = False
    max_length: int = 5000
    max_elements: int = 100_000  # of texts
    blank: bool = True


def read_fields(body: Any, fields: tuple[Field, ...], partial: bool = False) -> dict[str, Any]:
    """The fields that are there, as they should be; others are left out. Raises FieldErrors."""
    if not isinstance(body, Mapping):
        raise invalid(
            "non_field_errors", f"Invalid data. Expected a dictionary, but got {type(body).__name__}."
        )
    errors: dict[str, list[str]] = {}
    found: dict[str, Any] = {}
    for field in fields:
        if field.name not in body:
            if field.required and not partial:
                errors[field.name] = [REQUIRED]
            continue
        value = body[field.name]
        wrong = _wrong(field, value)
        if wrong is not None:
            errors[field.name] = [wrong]
        else:
            found[field.name] = value
    if errors:
        raise FieldErrors(errors)
    return found


def _wrong(field: Field, value: Any) -> str | None:
    if value is None:
        return NULL
    if field.kind == "switch":
        return None if isinstance(value, bool) else SWITCH
    if field.kind == "texts":
        return _wrong_list(field, value)
    if not isinstance(value, str) or "\0" in value:
        return TEXT
    if not value.strip() and (field.required or not field.blank):
        return BLANK
    return LONG.format(field.max_length) if len(value) > field.max_length else None


def _wrong_list(field: Field, value: Any) -> str | None:
    if not isinstance(value, list):
        return LIST.format(type(value).__name__)
    if not all(isinstance(each, str) and "\0" not in each for each in value):
        return TEXT
    if len(value) > field.max_elements:
        return f"Ensure this field has no more than {field.max_elements} elements."
    return LONG.format(field.max_length) if any(len(each) > field.max_length for each in value) else None
