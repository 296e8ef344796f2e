"""Defaults: what holds for a step where neither it nor the workflow's `defaults` says anything."""

from __future__ import annotations

from typing import TypeVar

from penstock.flow.model import definition, retry_policy

T = TypeVar("T")


def pick(own: T | None, default: T | None, otherwise: T) -> T:
    """The step's own word, else that of the workflow, else the standard."""
    if own is not None:
        return own
    return otherwise if default is None else default


def backoff_of(own: definition.Backoff | None, default: definition.Backoff | None) -> retry_policy.Backoff:
    mine, theirs, standard = (
        own or definition.Backoff(),
        default or definition.Backoff(),
        retry_policy.Backoff(),
    )
    return retry_policy.Backoff(
        pick(mine.initial, theirs.initial, standard.initial),
        pick(mine.factor, theirs.factor, standard.factor),
        pick(mine.max, theirs.max, standard.max),
        pick(mine.jitter, theirs.jitter, standard.jitter),
    )


def timeouts_of(
    own: definition.Timeouts | None, default: definition.Timeouts | None
) -> retry_policy.Timeouts:
    mine, theirs = own or definition.Timeouts(), default or definition.Timeouts()
    standard = retry_policy.Timeouts()
    return retry_policy.Timeouts(
        pick(mine.schedule_to_start, theirs.schedule_to_start, None),
        pick(mine.start_to_close, theirs.start_to_close, None),
        pick(mine.schedule_to_close, theirs.schedule_to_close, None),
        pick(mine.heartbeat, theirs.heartbeat, standard.heartbeat),
    )
