"""Steps that start other workflows: a caller bound to some workflows must not reach the rest through them."""

from __future__ import annotations

from penstock.access.caller import Caller
from penstock.access.errors import ForeignWorkflow
from penstock.expression import compile_template
from penstock.flow.model.definition import Definition
from penstock.runtime.decisions.children import TASK


def may_publish(caller: Caller, definition: Definition) -> None:
    """Raises ForeignWorkflow where a step starts a workflow that the caller may not operate, or may start any."""
    if caller.everywhere:
        return
    for name, step in definition.steps.items():
        if step.task != TASK:
            continue
        child = compile_template((step.params or {}).get("name"))
        if not child.constant:
            raise ForeignWorkflow(caller.described, name, None)
        if not caller.may("operate", str(child.value)):
            raise ForeignWorkflow(caller.described, name, str(child.value))
