"""Access on every store that there is: the places of the store's own tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.access.access import Access
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.store.protocol import Store
from tests.store.conftest import clock, database, kind, other, place, pytest_pyfunc_call, runner, store

__all__ = ["clock", "database", "kind", "other", "place", "pytest_pyfunc_call", "runner", "store"]


class Seconds:
    """The monotonic clock of a node, in the hand of a test."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    return Keys(tmp_path / "penstock.key")


@pytest.fixture
def access(store: Store, keys: Keys, seconds: Seconds) -> Access:
    return Access(store, Vault(store, keys), clock=seconds)


@pytest.fixture
def elsewhere(other: Store, keys: Keys, seconds: Seconds) -> Access:
    """The doors of another node."""
    return Access(other, Vault(other, keys), clock=seconds)
