"""The list of built-in tasks. Add a kind here and in `docs/reference/tasks.md`."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.flow.compile.compile import BOXES, LONE
from penstock.flow.model.box import Kind
from penstock.flow.model.offer import Offer
from penstock.steps import palette
from penstock.steps.approval import Approval
from penstock.steps.decision import DECIDE, SWITCH
from penstock.steps.emit import EMIT
from penstock.steps.ends import FAIL, TERMINATE
from penstock.steps.io_steps import IoKind, Keyed
from penstock.steps.parameters import SET
from penstock.steps.tag import TAG
from penstock.steps.wait import WAIT

KINDS: Mapping[str, Kind] = {
    kind.offer.name: kind for kind in (DECIDE, SWITCH, TAG, SET, TERMINATE, FAIL, WAIT, EMIT)
}
"""Those that need no world: they end inside the decision."""

IO_TASKS: Mapping[str, Offer] = {offer.name: offer for offer in palette.IO_TASKS}
"""Those that act on the world: a worker or the engine does them."""

_OWN_KINDS: Mapping[str, type[IoKind]] = {"service": Keyed, "approval": Approval}

OFFERS: Mapping[str, Offer] = {**{name: kind.offer for name, kind in KINDS.items()}, **IO_TASKS}


def kinds_with(offers: Mapping[str, Offer], *, checked: bool = True) -> dict[str, Kind]:
    """All of them as a definition is compiled, but for those that somebody has defined anew under a built-in name.

    What is published is not `checked` again: it must not stop when a later Penstock looks more closely.
    """
    worldly: dict[str, Kind] = {
        name: _OWN_KINDS.get(name, IoKind)(offer, checked)
        for name, offer in IO_TASKS.items()
        if not _is_own(offers.get(name), offer)
    }
    return {**KINDS, **worldly}


def _is_own(offer: Offer | None, built_in: Offer) -> bool:
    """Whether an offer under a built-in name is a task of a user; the engine does some whoever offers them."""
    if offer is None or built_in.name in LONE:
        return False
    return offer.task_list != BOXES if built_in.task_list == BOXES else offer != built_in
