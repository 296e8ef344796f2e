"""What an example defines stays in its test: some stand in for built-in tasks, as `update` of `auto_tag`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.workers.task import REGISTRY


@pytest.fixture(autouse=True)
def _own_tasks() -> Iterator[None]:
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)
