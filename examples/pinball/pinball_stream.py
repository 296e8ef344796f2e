"""Tasks of pinball_stream.yaml."""

from __future__ import annotations

from typing import Any

from penstock import Context, Out, task


@task("pinball.ingest", task_list="pinball")
def ingest(ctx: Context) -> dict[str, Any]:
    """Look at a record."""
    return {"amount": int(ctx.events["record"]["amount"])}


@task("pinball.add", task_list="pinball")
def add(ctx: Context) -> Out:
    """Add it to what came before."""
    total = int(ctx.data.get("total", 0)) + ctx.events["taken"]["amount"]
    return Out({"total": total}, set={"total": total, "records": int(ctx.data.get("records", 0)) + 1})
