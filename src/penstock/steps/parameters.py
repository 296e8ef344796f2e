"""The parameters of a box: which keys it takes, which hold conditions; and `set`, which sets them on the data."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, ClassVar

from penstock.expression import Expression, ExpressionError, Template, compile_expression, compile_template
from penstock.flow.compile.compile import SCOPE, TemplateBox
from penstock.flow.model.box import BadParameter, Finish, Reaction, View
from penstock.flow.model.offer import Offer


def only(params: Mapping[str, Any], task: str, known: tuple[str, ...]) -> None:
    """Refuse parameters that the task does not have."""
    for key in params:
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"it takes {', '.join(known) or 'none'}"
            raise BadParameter(key, f"`{task}` has no parameter `{key}`; {hint}")


def condition(value: Any, path: str) -> Expression:
    """A parameter that holds bare CEL."""
    if isinstance(value, bool):
        return compile_expression("true" if value else "false", SCOPE)
    if not isinstance(value, str):
        raise BadParameter(path, f"`{path}` must be a condition, such as data.size > 1000")
    if value.strip().startswith("${"):
        raise BadParameter(path, f"`{path}` is an expression already: write it without ${{ }}")
    try:
        return compile_expression(value, SCOPE)
    except ExpressionError as error:
        raise BadParameter(path, f"`{path}`: {error}") from error


def template(value: Any, path: str) -> Template:
    """A parameter whose `${ … }` parts are filled in when the firing begins."""
    try:
        return compile_template(value, SCOPE)
    except ExpressionError as error:
        raise BadParameter(path, f"`{path}`: {error}") from error


def choice(params: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> str:
    """One word of a few; the first is the default."""
    value = params.get(key, choices[0])
    if value not in choices:
        raise BadParameter(key, f"`{key}` must be one of {', '.join(choices)}, not {value!r}")
    return str(value)


class SetBox(TemplateBox, frozen=True):
    """Applies its parameters as a JSON Merge Patch; they are its output too."""

    ports: ClassVar[tuple[str | None, ...]] = ("done", "failed")

    def enter(self, view: View) -> Reaction:
        patch = self.filled(view)
        return Finish(output=patch, set=patch)


class SetData:
    """`set`: any parameters."""

    offer = Offer(
        name="set",
        title="Set data",
        doc="Set values on the run's data.",
        parameters={"type": "object", "description": "names and values; null removes a name"},
    )

    def box(self, params: Mapping[str, Any]) -> SetBox:
        return SetBox(template(dict(params), ""))
