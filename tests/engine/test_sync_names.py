"""The engine for plain callers shows what it can do."""

from __future__ import annotations

import pytest

from penstock import Engine


def test_its_methods_can_be_listed() -> None:
    with Engine.sync() as engine:
        assert {"publish", "start", "wait", "emit", "close"} <= set(dir(engine))


def test_what_is_no_method_is_not_taken_for_one() -> None:
    with Engine.sync() as engine, pytest.raises(AttributeError, match="has no 'drafts'"):
        _ = engine.drafts
