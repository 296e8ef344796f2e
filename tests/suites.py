"""Two suites: `make test` runs all tests but those marked `long`, `make test-all` runs every one.

A long test names the short ones that still guard its claim: `@pytest.mark.long("test_y")`. Where only some cases of a
test are long, its short ones guard them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

MARKER = (
    "long(*guards): takes too long for `make test`; `guards` are the tests there that still guard its claim"
)


def first_short(values: Iterable[Any], count: int = 1) -> list[Any]:
    """The cases of a test, of which only the first `count` are run by `make test`."""
    long = pytest.mark.long("its first cases")
    return [value if at < count else pytest.param(value, marks=long) for at, value in enumerate(values)]


def unguarded(items: Iterable[pytest.Item]) -> list[str]:
    """The long tests that no short one guards, a sentence each."""
    short: set[str] = set()
    guards: dict[str, tuple[str, ...]] = {}
    for item in items:
        name, marker = item.nodeid.split("[")[0], item.get_closest_marker("long")
        if marker is None:
            short |= {name, name.split("::")[-1]}
        else:
            guards.setdefault(name, marker.args or ("",))
    return [
        f"{name} is long, and its guard '{guard}' is no test of `make test`: name one"
        for name, named in sorted(guards.items())
        if name not in short
        for guard in named
        if guard not in short
    ]
