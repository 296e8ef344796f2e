"""Ways past a question: the approvals that somebody leaves out who ends steps, or puts events into slots, by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec
from msgspec import Struct

from penstock.flow.compile import APPROVAL, Flow
from penstock.runtime.approving import ROLE
from penstock.steps.approval import ROLES
from penstock.steps.worldly import is_open
from penstock.store.rows import ApprovalRow


class Question(Struct, frozen=True):
    """An approval of a workflow: who may decide it, and whether four eyes are asked for."""

    step: str
    role: str
    separate: bool


def left_out(
    flow: Flow, asked: Sequence[ApprovalRow], steps: Collection[str], into: Collection[str]
) -> Iterator[Question]:
    """The approvals among `steps`, and those that lead to a step of `into`; `asked` are those of the run."""
    for step in flow.steps.values():
        if step.task == APPROVAL and (step.name in steps or not behind(flow, step.name).isdisjoint(into)):
            yield _question(flow, step.name, [row for row in asked if row.step == step.name])


def behind(flow: Flow, step: str) -> set[str]:
    """The steps that may begin because this one has ended, at once or later."""
    found: set[str] = set()
    todo = [step]
    while todo:
        for events in flow.wiring.by_name[todo.pop()].fires.values():
            takers = (slot for event in events for slot in flow.wiring.takers.get(event, ()))
            fresh = {flow.wiring.steps[slot.step].name for slot in takers} - found
            found |= fresh
            todo += fresh
    return found


def _question(flow: Flow, step: str, asked: Sequence[ApprovalRow]) -> Question:
    """As it was asked, where it is open; else as it will be, and what is filled in only then as strict as can be."""
    rows = [row for row in asked if row.status == "open"]
    if rows:
        separate = any(msgspec.json.decode(row.body)["separate"] for row in rows)
        return Question(step, max((row.role for row in rows), key=ROLES.index), separate)
    said = flow.definition.steps[step].params or {}
    role, alone = said.get("role", ROLE), said.get("separate", False)
    return Question(step, ROLES[-1] if is_open(role) else role, is_open(alone) or bool(alone))
