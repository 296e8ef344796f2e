"""Keys as texts: equal where the values are, and written as they have always been: stores are full of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.values.key_text import key_text

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


def _whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return {name: _whole(item) for name, item in value.items()} if isinstance(value, dict) else value


@given(values)
def test_a_key_is_the_sorted_json_of_its_value(value: Any) -> None:
    assert key_text(value) == json.dumps(
        _whole(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (True, "true"),
        ("1", '"1"'),
        ({"b": [1.0, None], "a": "ü\x01\x7f"}, '{"a":"ü\\u0001\x7f","b":[1,null]}'),
        (2**70, str(2**70)),
        ("\ud800", '"\ud800"'),
    ],
)
def test_odd_values_have_the_texts_that_they_always_had(value: Any, text: str) -> None:
    assert key_text(value) == text
