"""Simulated nodes complain about every fault: their words would drown what a checker says."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """No log of simulated nodes."""
    log = logging.getLogger("penstock")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    yield
    log.setLevel(before)
