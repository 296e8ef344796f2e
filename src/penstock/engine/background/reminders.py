"""Mails to people who are asked to decide, and reminders if they do not answer."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from penstock.boxes.failures import Failing
from penstock.boxes.mail import tell_by_mail
from penstock.boxes.task_environment import TaskEnvironment
from penstock.flow.compile.compile import APPROVAL
from penstock.flow.model.run_input import Reminded
from penstock.runtime.decisions.approvals import approval_id
from penstock.runtime.decisions.decision import Decision
from penstock.runtime.node.background_tasks import BackgroundTasks

log = logging.getLogger("penstock.approvals")


class Reminding:
    """Observes decisions. If a mail cannot be sent, this is logged: the inbox shows the question anyway."""

    def __init__(self, environment: TaskEnvironment) -> None:
        self._environment = environment
        self._sending = BackgroundTasks(log, "a notice of an approval was not sent")

    def settled(self, decisions: Sequence[Decision]) -> None:
        """What is durable now."""
        for decision in decisions:
            if decision.live.flow.asks:
                self._tell(decision)

    def _tell(self, decision: Decision) -> None:
        run = decision.plan.snapshot.run
        for attempt in decision.plan.attempts:
            if attempt.task == APPROVAL:
                id = approval_id(run.id, attempt)
                self._send(run.workflow, attempt.step, id, attempt.params, "Please decide")
        for request, answer in zip(decision.requests, decision.answers, strict=False):
            what = request.input
            if isinstance(what, Reminded) and answer == "accepted":
                element = decision.plan.snapshot.elements.get((what.firing, what.index))
                if element is not None:
                    id = approval_id(run.id, element)
                    log.info("approval %s of workflow %s still waits for a person", id, run.workflow)
                    self._send(run.workflow, element.step, id, element.params, "Reminder: please decide")

    def _send(self, workflow: str, step: str, id: str, params: dict[str, Any], subject: str) -> None:
        if params.get("to") and self._environment.smtp_url is not None:
            self._sending.begin(self._mail(workflow, step, id, params, subject))

    async def _mail(self, workflow: str, step: str, id: str, params: dict[str, Any], subject: str) -> None:
        where = (
            f"{self._environment.public_url}/app/approvals/{id}"
            if self._environment.public_url
            else f"approval {id}"
        )
        due = f"\nUntil: {params['due']}" if params.get("due") else ""
        text = f"{params.get('text') or step}\n\nWorkflow: {workflow}\nStep: {step}{due}\n{where}\n"
        key = f"{id}.{len(subject)}"
        try:
            await tell_by_mail(
                self._environment, params["to"], f"{subject}: {workflow}, {step}"[:200], text, key
            )
        except Failing as failing:
            log.warning("the notice of approval %s was not sent: %s", id, failing)
