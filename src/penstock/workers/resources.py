"""What a task needs of the machine that runs it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")


class Resources(Struct, frozen=True):
    """Processors, graphics processors, bytes of memory, and whatever else a cluster counts."""

    cpus: float = 1
    gpus: float = 0
    memory: int | None = None
    others: dict[str, float] = {}


def resources_of(task: str, given: Mapping[str, Any]) -> Resources:
    """The resources that `@task(resources=…)` names. Raises ValueError with a plain sentence."""
    amounts = {name: _amount(task, name, value) for name, value in given.items() if name != "memory"}
    memory = _size(task, given["memory"]) if given.get("memory") is not None else None
    return Resources(amounts.pop("cpus", 1), amounts.pop("gpus", 0), memory, amounts)


def _amount(task: str, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ValueError(
            f"resource '{name}' of task '{task}' must be a number such as 1 or 0.5, not {value!r}"
        )
    return value


def _size(task: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or found[2] not in UNITS:
        raise ValueError(
            f"the memory of task '{task}' must be a size such as '512MiB' or '2GB', not {value!r}"
        )
    return int(float(found[1]) * UNITS[found[2]])
