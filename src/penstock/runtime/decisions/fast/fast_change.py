"""The change of a decision that went straight: a run that goes on by one step, or is made, and nobody else is told.

The contract: `straight_change` gives the very change that is given without it (`plan_to_change`), or None before it
has done anything. It does not look for what a straight plan cannot have.
"""

from __future__ import annotations

from msgspec.structs import replace

from penstock.runtime.codec.pages import encode_page
from penstock.runtime.codec.payloads import INLINE
from penstock.runtime.decisions.decision import Decision, Reserve, new_run_of
from penstock.runtime.decisions.fast.batch_memo import BatchMemo, tasks_of
from penstock.store.rows.change import Change, EndedTask


def straight_change(decision: Decision, reserve: Reserve, alike: BatchMemo) -> Change | None:
    """What is written of a straight plan, with its work promised to who will do it; None: something is rare."""
    live, plan, request = decision.live, decision.plan, decision.requests[0]
    was, snapshot, lease, pack = live.snapshot, plan.snapshot, request.lease, live.pack
    run, over = snapshot.run, snapshot.status == "succeeded"
    if not live.flow.is_plain or was.aside or (over and run.parent is not None):
        return None
    if lease is None and (run.labels or request.start_key is not None or not request.is_plain):
        return None
    pack.begin()
    tasks = tasks_of(decision, reserve, alike)
    new = None if request.new is None else new_run_of(live, request, decision.now)
    head, page = live.encode(snapshot), encode_page(plan.history, pack)
    if decision.bare and live.encode.plain and len(page) <= INLINE:
        decision.state = head = alike.state(live.flow, head)
    # By position: so many keywords would cost more than all else here.
    change = Change(
        run.id, plan.base, snapshot.revision, snapshot.seq, snapshot.status, snapshot.ended_at, None,
        head, new, page, was.seq + 1, tasks,
        () if lease is None else (EndedTask(lease.firing, lease.index, lease.attempt, lease.fence),),
        over, not pack.fresh, new is None and not over,
    )  # fmt: skip
    # Large payloads are kept apart, once.
    return replace(change, payloads=pack.fresh) if pack.fresh else change
