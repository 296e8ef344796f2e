"""The parameters of a box: their schemas, which keys it takes, which hold conditions; and `set`, which sets them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar

from msgspec import Struct

from penstock.expression import Expression, ExpressionError, Template, compile_expression, compile_template
from penstock.flow.compile.compile import SCOPE, TemplateBox
from penstock.flow.model.box import BadParameter, Box, Finish, Reaction, View
from penstock.flow.model.offer import Offer
from penstock.steps.outputs import offer_for


def text(title: str, **more: Any) -> dict[str, Any]:
    """The schema of a text."""
    return {"type": "string", "title": title, **more}


def texts(title: str, **more: Any) -> dict[str, Any]:
    """The schema of a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "title": title, **more}


def one_or_several(title: str, minimum: int | None = None, **more: Any) -> dict[str, Any]:
    """The schema of a text, or of a list of at least so many."""
    several = {"type": "array", "items": {"type": "string"}} | (
        {} if minimum is None else {"minItems": minimum}
    )
    one = {"type": "string"} | ({} if minimum is None else {"minLength": minimum})
    return {"anyOf": [one, several], "title": title, **more}


def span(title: str, **more: Any) -> dict[str, Any]:
    """The schema of a duration such as 30s."""
    return {"type": ["string", "number"], "format": "duration", "title": title, **more}


def flag(title: str, **more: Any) -> dict[str, Any]:
    """The schema of true or false."""
    return {"type": "boolean", "title": title, **more}


def choice(title: str, *words: str, **more: Any) -> dict[str, Any]:
    """The schema of one word of a few; the first is the default."""
    return {"enum": list(words), "title": title, "default": words[0], **more}


def mapping(title: str, **more: Any) -> dict[str, Any]:
    """The schema of a map."""
    return {"type": "object", "title": title, **more}


def schema(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of a task's parameters; a trailing _ keeps a name from being a word of Python."""
    named = {name.rstrip("_"): each for name, each in properties.items()}
    made: dict[str, Any] = {"type": "object", "properties": named, "additionalProperties": False}
    return {**made, "required": list(required)} if required else made


class PureKind(Struct, frozen=True):
    """A built-in task that needs no world: it ends inside the decision. `make` raises BadParameter."""

    offer: Offer
    make: Callable[[Mapping[str, Any]], Box]

    def box(self, params: Mapping[str, Any]) -> Box:
        if self.offer.parameters.get("additionalProperties") is False:
            only(params, self.offer)
        return self.make(params)

    def offer_for(self, params: Mapping[str, Any]) -> Offer:
        return offer_for(self.offer, params)


def only(params: Mapping[str, Any], offer: Offer) -> None:
    """Refuse parameters that the task does not have."""
    known = tuple(offer.parameters.get("properties", ()))
    for key in params:
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"it takes {', '.join(known) or 'none'}"
            raise BadParameter(key, f"`{offer.name}` has no parameter `{key}`; {hint}", "unknown-setting")


def condition(value: Any, path: str) -> Expression:
    """A parameter that holds bare CEL."""
    if isinstance(value, bool):
        return compile_expression("true" if value else "false", SCOPE)
    if not isinstance(value, str):
        raise BadParameter(path, f"`{path}` must be a condition, such as data.size > 1000")
    if value.strip().startswith("${"):
        raise BadParameter(
            path, f"`{path}` is an expression already: write it without ${{ }}", "bad_expression"
        )
    try:
        return compile_expression(value, SCOPE)
    except ExpressionError as error:
        raise BadParameter(path, f"`{path}`: {error}", "bad_expression") from error


def template(value: Any, path: str) -> Template:
    """A parameter whose `${ … }` parts are filled in when the firing begins."""
    try:
        return compile_template(value, SCOPE)
    except ExpressionError as error:
        raise BadParameter(path, f"`{path}`: {error}", "bad_expression") from error


class SetBox(TemplateBox, frozen=True):
    """Applies its parameters as a JSON Merge Patch; they are its output too."""

    ports: ClassVar[tuple[str | None, ...]] = ("done", "failed")

    def enter(self, view: View) -> Reaction:
        patch = self.filled(view)
        return Finish(output=patch, set=patch)


SET = PureKind(
    Offer(
        name="set",
        title="Set data",
        doc="Set values on the run's data.",
        parameters={"type": "object", "description": "names and values; null removes a name"},
    ),
    lambda params: SetBox(template(dict(params), "")),
)
