"""The list of built-in tasks. Add a kind here and in `docs/reference/tasks.md`."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.flow.step import Kind
from penstock.flow.task import Offer
from penstock.steps.data import SetData
from penstock.steps.decision import Decide, Switch
from penstock.steps.emit import Emit
from penstock.steps.ends import Fail, Terminate
from penstock.steps.tag import SetTags
from penstock.steps.wait import Wait

KINDS: Mapping[str, Kind] = {
    kind.offer.name: kind
    for kind in (Decide(), Switch(), SetTags(), SetData(), Terminate(), Fail(), Wait(), Emit())
}
"""Those that need no world: they end inside the decision."""

WORLDLY: Mapping[str, Offer] = {
    offer.name: offer
    for offer in (
        Offer(name="http", title="HTTP function", doc="Call a function over HTTP."),
        Offer(name="update", title="Update", doc="Write tags and metadata back to the object."),
        Offer(name="approval", title="Approval", doc="Wait for a person.", ports=("approved", "rejected", "failed")),
        Offer(name="workflow", title="Workflow", doc="Start another workflow and wait for it."),
        Offer(name="service", title="Service", doc="Drive a task service.", ports=("done", "failed", "canceled")),
        Offer(name="mail", title="Mail", doc="Send a mail."),
        Offer(name="shell", title="Shell", doc="Run a command on a worker."),
    )
}  # fmt: skip
"""Those that act on the world: a worker or the engine does them."""

OFFERS: Mapping[str, Offer] = {**{name: kind.offer for name, kind in KINDS.items()}, **WORLDLY}
