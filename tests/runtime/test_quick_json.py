"""Plain JSON read at once: never another value than the strict reading gives, and never one that it refuses."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.api.request_body import Unreadable, quick_json, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)


def strict(raw: bytes) -> Any:
    try:
        return read_json(raw)
    except Unreadable:
        return msgspec.UNSET


@settings(deadline=None, derandomize=True, max_examples=300)
@given(VALUES, st.booleans(), st.text(alphabet='[]{}":,\\ 1', max_size=6), st.integers(0, 60))
def test_what_is_read_at_once_is_what_is_read_with_care(value: Any, ascii: bool, noise: str, at: int) -> None:
    text = json.dumps(value, ensure_ascii=ascii)
    for raw in (text, text[:at] + noise + text[at:]):
        read = quick_json(raw.encode("utf-8", "surrogatepass"))
        if read is not msgspec.UNSET:
            assert msgspec.json.encode(read) == msgspec.json.encode(strict(raw.encode()))


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a": 1, "a": 2}',
        b'[{"b": {"a": 1, "a": ":"}}]',
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": 9223372036854775808}',
        rb'{"a": "\u003a", "a": 1}',
        rb'"\ud800"',
        b'"\xff"',
        b'"\x00"',
        b"[" * 65 + b"]" * 65,
        b'["]",' * 65 + b"1" + b',"["]' * 65,
        b'["\\"]",' * 65 + b"1" + b',"["]' * 65,
        b"",
        b"{",
    ],
)
def test_what_is_not_surely_right_is_left_to_who_looks_closer(raw: bytes) -> None:
    assert quick_json(raw) is msgspec.UNSET


@pytest.mark.parametrize(
    "value", [{"items": [{"a": [f"[{n}", '"\\']} for n in range(500)]}, [[[[1]]]], "[", 1.5]
)
def test_what_is_plain_is_read_at_once(value: Any) -> None:
    assert quick_json(msgspec.json.encode(value)) == value
