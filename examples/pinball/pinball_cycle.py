"""Stub tasks of pinball_cycle.yaml."""

from __future__ import annotations

from typing import Any

from penstock import Context, Out, task


@task("pinball.work")
def work(ctx: Context) -> Out:
    """Do one turn of the work."""
    turn = int(ctx.data.get("turn", 0)) + 1
    total = int(ctx.data.get("total", 0)) + turn
    ctx.log("turn %s", turn)
    return Out({"turn": turn}, set={"turn": turn, "total": total})


@task("pinball.finish")
def finish(ctx: Context) -> dict[str, Any]:
    """Sum up what the turns found."""
    return {"turns": ctx.data["turn"], "total": ctx.data["total"]}
