"""The tasks that the server runs itself. Add a box here and in `docs/reference/tasks.md`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from penstock.boxes.failures import Failing, wrong
from penstock.boxes.http import call_http
from penstock.boxes.mail import send_mail
from penstock.boxes.service import drive_service
from penstock.boxes.task_environment import TaskEnvironment
from penstock.boxes.update import update_object
from penstock.flow.model.offer import Offer
from penstock.flow.model.run_input import Done, Failed, Outcome
from penstock.flow.values.schema_validation import ValidationErrors, validator_of
from penstock.runtime.dispatch.redaction import redacted_answer
from penstock.steps.palette import HTTP, MAIL, SERVICE, UPDATE
from penstock.store.rows.access import AuditRow
from penstock.workers.context import Context
from penstock.workers.task import Task

BOXES: tuple[tuple[Offer, Any], ...] = (
    (HTTP, call_http),
    (MAIL, send_mail),
    (SERVICE, drive_service),
    (UPDATE, update_object),
)
"""Palette entry and what is done: `async (world, ctx, **params) -> Outcome`."""


def tasks_in(environment: TaskEnvironment) -> dict[str, Task]:
    """The built-in tasks as a worker runs them, by name."""
    return {
        offer.name: Task(
            _done(environment, offer, does),
            offer,
            takes_context=True,
            is_async=True,
            arguments=None,
            open=True,
        )
        for offer, does in BOXES
        if environment.only is None or offer.name in environment.only
    }


def _done(environment: TaskEnvironment, offer: Offer, does: Any) -> Any:
    """The box in its world: redacted if it was given secrets, and a call that was denied is written down."""

    async def done(ctx: Context, **params: Any) -> Outcome:
        try:
            outcome: Outcome = await does(environment, ctx, **_fitting(offer, params))
        except Failing as failing:
            outcome = failing.outcome
        if (
            isinstance(outcome, Failed)
            and outcome.error.kind == "egress"
            and environment.parts.record is not None
        ):
            workflow, run = ctx.run["workflow"], ctx.run["id"]
            await environment.parts.record(
                AuditRow(
                    actor=f"workflow {workflow}",
                    token_id=None,
                    ip=None,
                    action="egress.denied",
                    target=f"{run} {ctx.step}"[:1000],
                    reason=outcome.error.message[:1000],
                )
            )
        if isinstance(outcome, Done) and ctx.secrets and environment.parts.redaction is not None:
            return redacted_answer(outcome, await environment.parts.redaction())
        return outcome

    return done


_OFFERS = {offer.name: offer for offer in (HTTP, SERVICE)}
_JUDGED_LATER = frozenset(
    {"url", "headers", "query", "params", "body", "args", "set", "key", "turn", "credentials"}
)
"""What may be anything, or is described where it is used."""


def _fitting(offer: Offer, params: Mapping[str, Any]) -> dict[str, Any]:
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
