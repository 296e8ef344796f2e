"""An expression that is tried on a sample, on the wire."""

from __future__ import annotations

from msgspec import Struct

from penstock.api.wire.runs import Json


class Evaluate(Struct, forbid_unknown_fields=True):
    """`expression` is bare CEL, or with `template` a text with `${ … }` parts; `scope`: the variables it sees."""

    expression: str
    scope: dict[str, Json] = {}
    template: bool = False


class Evaluated(Struct):
    """The value, or why there is none: `code` and place, and one sentence."""

    value: Json = None
    error: str | None = None
    code: str | None = None
    line: int | None = None
    column: int | None = None
