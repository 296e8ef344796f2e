"""Stub tasks of mirrors.yaml."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from penstock import Context, Fatal, task


@task("mirrors.checksum")
def checksum(ctx: Context, mirror: str, file: str) -> dict[str, Any]:
    """Ask a mirror for the checksum of a file."""
    ctx.log("would ask %s about %s", mirror, file)
    return {"mirror": mirror, "checksum": sha256(file.encode()).hexdigest()}


@task("mirrors.compare")
def compare(ctx: Context) -> dict[str, Any]:
    """Compare the answers that came; `events` has exactly those."""
    answers = list(ctx.events.values())
    mirrors = sorted(answer["mirror"] for answer in answers)
    if len({answer["checksum"] for answer in answers}) > 1:
        raise Fatal(f"{' and '.join(mirrors)} do not agree: ask a person which one is right")
    return {"checksum": answers[0]["checksum"], "mirrors": mirrors}
