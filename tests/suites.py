"""Two suites: `make test` runs all tests but those marked `long`, `make test-all` runs every one.

A long test names the short one that still guards its claim: `@pytest.mark.long("test_y")`. Where only some cases of a
test are long, its short ones guard them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

MARKER = (
    "long(guard): takes too long for `make test`; `guard` names the test there that still guards its claim"
)


def first_short(values: Iterable[Any], count: int = 1) -> list[Any]:
    """The cases of a test, of which only the first `count` are run by `make test`."""
    long = pytest.mark.long("its first cases")
    return [value if at < count else pytest.param(value, marks=long) for at, value in enumerate(values)]


def unguarded(items: Iterable[pytest.Item]) -> list[str]:
    """The long tests that no short one guards, a sentence each."""
    short: set[str] = set()
    guards: dict[str, str] = {}
    for item in items:
        name, marker = item.nodeid.split("[")[0], item.get_closest_marker("long")
        if marker is None:
            short |= {name, name.split("::")[-1]}
        else:
            guards.setdefault(name, str(marker.args[0]) if marker.args else "")
    return [
        f"{name} is long, and its guard '{guard}' is no test of `make test`: name one"
        for name, guard in sorted(guards.items())
        if name not in short and guard not in short
    ]
