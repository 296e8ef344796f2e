"""Built-in tasks that act on the world: their palette entries, and what is wrong with their parameters.

What they do is in `boxes`, `workers/shell` and the engine; here is only what can be said of a definition.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from penstock.expression.syntax.map_literals import map_literals
from penstock.expression.template import is_open
from penstock.flow.compile.compile import SCOPE, TaskBox, TemplateBox
from penstock.flow.model.box import BadParameter, Box, Queue, Reaction, View
from penstock.flow.model.offer import Offer
from penstock.flow.model.secret_references import named, reference
from penstock.flow.values.duration import parse_duration
from penstock.flow.values.schema_validation import violations
from penstock.steps.outputs import offer_for
from penstock.steps.parameters import only, template


class IoKind(Struct, frozen=True):
    """A task that a worker or the engine does: its literal parameters must fit its schema."""

    offer: Offer
    checked: bool = True

    def box(self, params: Mapping[str, Any]) -> Box:
        if self.checked:  # what is published stays as it was: its step fails
            self.check(params)
        return self.make(params)

    def offer_for(self, params: Mapping[str, Any]) -> Offer:
        return offer_for(self.offer, params)

    def check(self, params: Mapping[str, Any]) -> None:
        """Raises BadParameter."""
        check(self.offer, params)

    def make(self, params: Mapping[str, Any]) -> Box:
        """The box, whatever the parameters are."""
        made = TaskBox.of(params, SCOPE)
        return IoBox(made.params, made.constant, self.offer.ports)


class IoBox(TaskBox, frozen=True):
    """Hands its parameters over; it has the ports of its task."""

    ports: tuple[str | None, ...]


class KeyedBox(TemplateBox, frozen=True):
    """Hands its parameters over, and gives the run the key by which reports find it."""

    ports: tuple[str | None, ...]

    def enter(self, view: View) -> Reaction:
        params = self.filled(view)
        key = params.get("key")
        return Queue(params) if key is None else Queue(params, {KEY: str(key)})


KEY = "service"
"""The name of the correlation key of `service` steps."""


class Keyed(IoKind, frozen=True):
    """One whose parameter `key` correlates the run as the firing begins."""

    def make(self, params: Mapping[str, Any]) -> Box:
        return KeyedBox(template(dict(params), ""), self.offer.ports)


def check(offer: Offer, params: Mapping[str, Any]) -> None:
    """Raises BadParameter: what is not known, or cannot be. What is missing, or filled in later, is told in the run."""
    known: dict[str, Any] = offer.parameters.get("properties", {})
    only(params, offer)
    for name, value in params.items():
        if known[name].get(NO_SECRETS) and (found := next(named(value), None)) is not None:
            raise BadParameter(name, _no_secret(offer.name, name, found[1]), "bad_secret")
        _check_secrets(name, known[name].get(SECRETS), value)
        if is_open(value):
            continue
        for sentence in violations(known[name], value):
            raise BadParameter(name, f"`{name}` of `{offer.name}` does not fit: {sentence}")
        _check_durations(name, known[name], value)


NO_SECRETS = "x-no-secrets"
"""Marks a parameter that may be filled in from data: whoever starts a run could name any secret there."""


SECRETS = "x-secrets"
"""Marks a parameter that may be a secret (`value`), or have them as its values (`each`)."""


def _check_secrets(name: str, where: str | None, value: Any) -> None:
    """Raises BadParameter where a secret is named by an expression: what comes out of one is never opened."""
    if where == "each" and isinstance(value, Mapping):
        for key, each in value.items():
            _check_secrets(f"{name}.{key}", "value", each)
    elif where is not None and "${" in (reference(value) or ""):
        raise BadParameter(
            name,
            f"`{name}` has the name of a secret from data, which could name any: write it, as {{secret: NAME}}",
            "bad_secret",
        )
    elif where is not None and isinstance(value, str):
        made = (keys for each in template(value, name).expressions for keys in map_literals(each.source))
        if ("secret",) in made:
            raise BadParameter(
                name,
                f"`{name}` makes {{'secret': …}} in an expression, which would be sent as it stands: only "
                "{secret: NAME} without ${ } is replaced; where it differs, branch before and have a step for each",
                "bad_secret",
            )


def _no_secret(task: str, name: str, secret: str) -> str:
    return (
        f"`{name}` of `{task}` cannot carry the secret '{secret[:80]}', which would be sent as it stands: they go "
        f"into `headers`{' or `query`' if task == 'http' else ''}; if you mean the text, write ${{ {{'secret': '…'}} }}"
    )


def _check_durations(path: str, schema: Mapping[str, Any], value: Any) -> None:
    if schema.get("format") == "duration":
        _check_duration(path, value)
    elif isinstance(value, Mapping):
        for name, each in schema.get("properties", {}).items():
            if name in value:
                _check_durations(f"{path}.{name}", each, value[name])


def _check_duration(name: str, value: Any) -> None:
    if name == "poll" and value == "never":
        return
    try:
        length = parse_duration(value)
    except ValueError as error:
        raise BadParameter(name, f"`{name}` {value!r} {error}") from error
    if not length:
        raise BadParameter(name, f"`{name}` must be longer than 0s")
