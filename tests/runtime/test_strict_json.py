"""JSON of strangers is read in a time that goes with its length, however it is made."""

from __future__ import annotations

from contextlib import suppress
from time import process_time

import pytest

from penstock.runtime.json.strict_json import Unreadable, read_json

BRACKETS = b"[" + b"[]," * 70
"""So many that their depth is looked at."""


@pytest.mark.parametrize("end", [b"", b"\\", b'"', b'"]', b"\\x"])
@pytest.mark.parametrize("piece", [b'\\"', b"\\\\", b'"', b'""', b"\\u0000", b"\\ud800", b"[", b"{", b"]"])
def test_a_body_of_one_piece_over_and_over_is_read_at_once(piece: bytes, end: bytes) -> None:
    raw = BRACKETS + b'"' + piece * (40_000 // len(piece)) + end
    began = process_time()

    with suppress(Unreadable):
        read_json(raw)

    assert process_time() - began < 1


def test_a_bracket_in_a_text_that_never_ends_is_no_depth() -> None:
    with pytest.raises(Unreadable) as caught:
        read_json(BRACKETS + b'"' + b'[\\"' * 100)

    assert caught.value.code == "invalid_json"
