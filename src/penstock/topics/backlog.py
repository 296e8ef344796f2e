"""For brokers without timestamps: how many waiting messages came before the source was started. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from penstock.topics.bus import MAX_IN_HAND, Message, SentAt


class Backlog:
    """The first `count` messages of a queue, in order. What follows one from after `since` came after it too."""

    def __init__(self, since: datetime, count: int, sent_at: SentAt) -> None:
        self._since, self._left, self._sent_at = since, count, sent_at
        self._held: list[Message] = []
        self.over = count <= 0

    def sift(self, found: Sequence[Message]) -> tuple[list[Message], list[Message]]:
        """Those that are too old, and those to take; of others the next ones tell, and they are held until then.

        One that tells no time is too old where a later one is, and is taken where none says so: rather once too
        often than never.
        """
        held = [*self._held, *found]
        self._left -= len(found)
        times = [self._sent_at(each) for each in held]
        first = next((n for n, at in enumerate(times) if at is not None and at >= self._since), len(held))
        old = max((n + 1 for n, at in enumerate(times[:first]) if at is not None), default=0)
        rest = held[old:]
        # No more than MAX_IN_HAND are given at a time.
        self.over = first < len(held) or self._left <= 0 or len(rest) >= MAX_IN_HAND
        self._held = [] if self.over else rest
        return held[:old], rest if self.over else []
