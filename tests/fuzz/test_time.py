"""A long input of one piece over and over takes a time that goes with its length: nobody can hold a server with one."""

from __future__ import annotations

import os
import random
from time import process_time

import pytest

from tests.fuzz.running import seeds_of
from tests.fuzz.targets import TARGETS
from tests.fuzz.words import WORDS
from tests.trust.figures import LONG

SIZE, SOME = 30_000, 60
SLOW = 1.0
"""Seconds of one core: what is quadratic takes some, what is linear some hundredths."""


def pumped(name: str) -> list[bytes]:
    """An input that is kept, or most of one, and then a word again and again."""
    words = [word.encode() for word in WORDS[name]]
    pairs = [one + other for one in words for other in words]
    heads = [b"", *seeds_of(name), *(seed[: len(seed) * 2 // 3] for seed in seeds_of(name))]
    made = [head + piece * (SIZE // len(piece)) for head in heads for piece in words]
    rng = random.Random(1)
    if os.environ.get(LONG):
        return made + [rng.choice(heads) + piece * (SIZE // len(piece)) for piece in pairs]
    return rng.sample(made, SOME)


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_of_one_piece_over_and_over_holds_a_server(name: str) -> None:
    slow = []
    for raw in pumped(name):
        began = process_time()
        TARGETS[name](raw)
        if process_time() - began > SLOW:
            slow.append(raw[:60] + b" ... " + raw[-40:])

    assert slow == []
