"""What is wrong with the types of an expression: a code, a place, the variable parts, and a sentence by variant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

Code = Literal["wrong-type", "unknown-field"]
Severity = Literal["error", "warning"]

SENTENCES: Final[Mapping[str, str]] = {
    "unknown-name": "there is no `{subject}` here",
    "no-field": "{owner} has no field `{subject}`",
    "optional-field": "{owner} may lack the field `{subject}`: test it with `has` first",
    "undeclared-field": "nothing declares the field `{subject}` of {owner}: declare it, or test it with `has` first",
    "never-present": "{owner} never has a field `{subject}`, so this is always false",
    "no-fields": "{owner} is of type {found}, which has no field `{subject}`",
    "maybe-no-fields": "{owner} may be of type {found}, which has no field `{subject}`",
    "operator": "`{subject}` is not defined for {found}",
    "maybe-operator": "`{subject}` is not defined for {found}, which this may be",
    "argument": "`{subject}` does not take {found}",
    "maybe-argument": "`{subject}` does not take {found}, which this may be",
    "condition": "`{subject}` needs true or false, not {found}",
    "maybe-condition": "`{subject}` needs true or false, and this may be {found}",
    "loop": "`{subject}` goes over a list or a map, not {found}",
    "maybe-loop": "`{subject}` goes over a list or a map, and this may be {found}",
    "index": "{owner} is of type {found}, which has no item at {subject}",
    "maybe-index": "{owner} may be of type {found}, which has no item at {subject}",
    "key": "{found} cannot be the key of a map",
    "maybe-key": "{found} cannot be the key of a map, and this may be one",
    "duplicate-key": "the key `{subject}` is given twice",
    "never-equal": "{found} never equals {expected}",
}
"""By variant; the names in braces are the arguments of a problem."""


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with an expression, or with `maybe-…` and the like only may be, and its place.

    `subject` is the name, field, sign or function concerned; `owner` is the path it is read from, if there is one.
    `found` and `expected` are names of types, `available` the names that exist there, `nearest` the one that fits best.
    """

    code: Code
    severity: Severity
    variant: str
    offset: int
    length: int
    subject: str = ""
    owner: str = ""
    found: str = ""
    expected: str = ""
    available: tuple[str, ...] = ()
    nearest: str | None = None

    @property
    def message(self) -> str:
        """The problem as one plain sentence, with the nearest name where there is one."""
        parts = msgspec.structs.asdict(self) | {"owner": f"`{self.owner}`" if self.owner else "this value"}
        sentence = SENTENCES[self.variant].format_map(parts)
        hint = f"; did you mean `{self.nearest}`?" if self.nearest else "."
        return sentence[0].upper() + sentence[1:] + hint
