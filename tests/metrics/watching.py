"""A workflow to be watched, and the samples of an exposition."""

from __future__ import annotations

from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from penstock import Fatal

TEXT = """
penstock: 1
name: w
external: [go]
steps:
  flaky: {task: flaky, retries: 1, backoff: {initial: 1ms}}
  last: {task: last, after: [flaky, go], emits: OK}
"""
BROKEN = """
penstock: 1
name: broken
steps: {bad: {task: bad}}
"""


async def flaky(ctx: Any) -> int:
    if ctx.attempt == 1:
        raise ValueError("not yet")
    return 1


def last() -> int:
    return 2


async def bad() -> None:
    raise Fatal("never")


TASKS = {"flaky": flaky, "last": last, "bad": bad}


def samples(text: bytes) -> dict[str, float]:
    """`name{label=value,…}` → value, of every sample."""
    found = {}
    for family in text_string_to_metric_families(text.decode()):
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found
