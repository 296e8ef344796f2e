"""The tasks that the server does by itself. Add a box here and in `docs/reference/tasks.md`."""

from __future__ import annotations

from typing import Any

from penstock.boxes.failures import Failing
from penstock.boxes.http import call_http
from penstock.boxes.mail import send_mail
from penstock.boxes.parameter_check import fitting
from penstock.boxes.service import drive_service
from penstock.boxes.task_environment import TaskEnvironment
from penstock.boxes.update import update_object
from penstock.flow.model.offer import Offer
from penstock.flow.model.run_input import Done, Failed, Outcome
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


def tasks_in(world: TaskEnvironment) -> dict[str, Task]:
    """The built-in tasks as a worker runs them, by name."""
    return {
        offer.name: Task(
            _done(world, offer, does), offer, takes_context=True, is_async=True, arguments=None, open=True
        )
        for offer, does in BOXES
        if world.only is None or offer.name in world.only
    }


def _done(world: TaskEnvironment, offer: Offer, does: Any) -> Any:
    """The box in its world: redacted if it was given secrets, and a call that was denied is written down."""

    async def done(ctx: Context, **params: Any) -> Outcome:
        try:
            outcome: Outcome = await does(world, ctx, **fitting(offer, params))
        except Failing as failing:
            outcome = failing.outcome
        if isinstance(outcome, Failed) and outcome.error.kind == "egress" and world.record is not None:
            workflow, run = ctx.run["workflow"], ctx.run["id"]
            await world.record(
                AuditRow(
                    actor=f"workflow {workflow}",
                    token_id=None,
                    ip=None,
                    action="egress.denied",
                    target=f"{run} {ctx.step}"[:1000],
                    reason=outcome.error.message[:1000],
                )
            )
        if isinstance(outcome, Done) and ctx.secrets and world.redaction is not None:
            return redacted_answer(outcome, await world.redaction())
        return outcome

    return done
