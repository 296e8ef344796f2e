"""Whether parameters are what a task takes, once expressions have filled them in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from penstock.boxes.failures import wrong
from penstock.flow.model.offer import Offer
from penstock.flow.values.schema_validation import ValidationErrors, validator_of
from penstock.steps.palette import HTTP, SERVICE

_OFFERS = {offer.name: offer for offer in (HTTP, SERVICE)}
_JUDGED_LATER = frozenset(
    {"url", "headers", "query", "params", "body", "args", "set", "key", "turn", "credentials"}
)
"""What may be anything, or is told in its own words where it is used."""


def fitting(offer: Offer, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters, without those that came to nothing. Raises Failing in the words of who saves such a step."""
    if offer.name not in _OFFERS:
        return dict(params)
    checks = _checks(offer.name)
    given = {name: value for name, value in params.items() if value is not None or name not in checks}
    for name in given.keys() & checks.keys():
        for sentence in checks[name](given[name]):
            raise wrong(f"`{name}` of `{offer.name}` does not fit: {sentence[:500]}")
    return given


@cache
def _checks(task: str) -> dict[str, ValidationErrors]:
    properties = _OFFERS[task].parameters["properties"]
    return {name: validator_of(schema) for name, schema in properties.items() if name not in _JUDGED_LATER}
