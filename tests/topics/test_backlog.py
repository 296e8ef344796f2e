"""How much of what lay with a broker without times is too old."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from penstock.topics.backlog import Backlog
from penstock.topics.bus import MAX_IN_HAND, Message

SINCE = datetime(2026, 1, 2, tzinfo=UTC)


def messages(text: str) -> list[Message]:
    """`o` is old, `n` is new, `?` does not say."""
    return [Message(id=str(number), body=each.encode()) for number, each in enumerate(text)]


def sent_at(message: Message) -> datetime | None:
    return {b"o": datetime(2026, 1, 1, tzinfo=UTC), b"n": SINCE}.get(message.body)


def text(found: list[Message]) -> str:
    return b"".join(each.body for each in found).decode()


def sifted(count: int, *found: str) -> tuple[list[tuple[str, str]], bool]:
    """What comes of the messages, as they come; and whether no more are looked at."""
    backlog = Backlog(SINCE, count, sent_at)
    done = []
    for each in found:
        old, taken = backlog.sift(messages(each))
        done.append((text(old), text(taken)))
    return done, backlog.over


@pytest.mark.parametrize(
    ("count", "found", "done", "over"),
    [
        (9, ["oo"], [("oo", "")], False),
        (9, ["oon"], [("oo", "n")], True),
        (9, ["o?o?n"], [("o?o", "?n")], True),
        (9, ["??", "o"], [("", ""), ("??o", "")], False),
        (9, ["??", "n"], [("", ""), ("", "??n")], True),
        (3, ["o??"], [("o", "??")], True),  # all that lay there: nothing says that the rest is old
        (2, ["oo"], [("oo", "")], True),
        (9, ["no"], [("", "no")], True),  # it came after one that is new
        (999, ["?" * MAX_IN_HAND], [("", "?" * MAX_IN_HAND)], True),  # no more are given before some are done
    ],
)
def test_what_is_old_is_done_and_the_rest_is_taken(
    count: int, found: list[str], done: list[tuple[str, str]], over: bool
) -> None:
    assert sifted(count, *found) == (done, over)


def test_of_an_empty_queue_nothing_is_looked_at() -> None:
    assert Backlog(SINCE, 0, sent_at).over
