"""A real browser that looks at the documentation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.web.conftest import launched


@pytest.fixture(scope="module")  # not longer: its event loop would stand in the way of other tests
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found
