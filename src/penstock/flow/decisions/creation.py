"""What a decision makes new: a run before anything has happened to it, and an attempt at a step."""

from __future__ import annotations

from typing import Any

from penstock.flow.compile.compile import FlowStep
from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import Element, Firing, Header, Snapshot


def new_run(header: Header) -> Snapshot:
    """A run before anything has happened to it."""
    return Snapshot(run=header, data=header.input if header.input is not None else {})


def new_attempt(run: Header, step: FlowStep, firing: Firing, element: Element, data: Any) -> Attempt:
    """What a worker gets of an element that is tried."""
    return Attempt(
        run=run,
        firing=firing.number,
        index=element.index,
        step=step.name,
        task=step.task,
        attempt=element.attempt,
        params=element.params,
        data=data,
        tags=firing.tags,
        taken=firing.taken,
        timeouts=step.timeouts if element.multiplier == 1 else step.timeouts.times(element.multiplier),
        task_list=step.task_list,
        priority=step.priority,
        ports=step.ports,
        secrets=step.secrets,
    )
