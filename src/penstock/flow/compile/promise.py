"""What a task promises to give, held against what it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from penstock.flow.model.offer import Offer
from penstock.flow.values.schema_validation import ValidationErrors, quick_check, validator_of

MASK = "the value"
"""What stands for a value in a sentence: it may be secret."""


class Promise(Struct, frozen=True):
    """The checks of an offer's schemas: for the output by port, and for what is set on the run's data.

    On the ports in `fits` that answer alone shows that nothing is broken, and shows it quickly.
    """

    outputs: Mapping[str, ValidationErrors]
    sets: ValidationErrors | None
    fits: Mapping[str, Callable[[Any], bool]]

    def broken(self, port: str, output: Any, patch: Mapping[str, Any] | None) -> list[str]:
        """What does not fit, each with its place: `output.duration: expected number, found string`."""
        check = self.outputs.get(port)
        wrong = [] if check is None else check(output)
        # What follows `done` reads what is set: an attempt that sets nothing gives nothing of it.
        if self.sets is not None and (patch is not None or port == "done"):
            wrong = wrong + self.sets({} if patch is None else patch)
        return wrong


def promise_of(offer: Offer | None) -> Promise | None:
    """The checks of a task; None where it promises nothing. Raises ValueError where a schema is none."""
    if offer is None or (offer.sets is None and not offer.schemas):
        return None
    outputs = {port: validator_of(schema, MASK, "output") for port, schema in offer.schemas.items()}
    if offer.sets is not None:
        return Promise(outputs, validator_of(offer.sets, MASK, "set"), {})
    quick = ((port, quick_check(check)) for port, check in outputs.items())
    return Promise(outputs, None, {port: check for port, check in quick if check is not None})
