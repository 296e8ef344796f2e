"""How fast somebody may ask."""

from __future__ import annotations

import tracemalloc

import pytest

from penstock.access.caller import ANYBODY_HERE, Caller
from penstock.access.errors import TooManyRequests
from penstock.access.rate_limits import HOOK_RATE, LOGIN_RATE, TOKEN_RATE, Limiter, Rate, rate_of

SLOW = Rate(2, 3, "2 a second")


def granted(limiter: Limiter, key: str, *times: float) -> list[bool]:
    return [limiter.take(key, now) == 0 for now in times]


def test_as_many_as_the_burst_are_granted_at_once_and_then_the_rate() -> None:
    assert granted(Limiter(SLOW), "a", 0, 0, 0, 0, 0.4, 0.5, 0.5, 1.0, 9, 9, 9, 9) == [
        *(True, True, True, False),
        *(False, True, False, True),
        *(True, True, True, False),
    ]


def test_each_key_has_a_bucket_of_its_own() -> None:
    limiter = Limiter(SLOW)

    assert granted(limiter, "a", 0, 0, 0, 0) + granted(limiter, "b", 0) == [True, True, True, False, True]


def test_a_refusal_says_how_long_to_wait_and_then_it_is_granted() -> None:
    limiter = Limiter(SLOW)
    granted(limiter, "a", 10, 10, 10)

    wait = limiter.take("a", 10.1)

    assert wait == pytest.approx(0.4)
    assert granted(limiter, "a", 10.1 + wait * 0.99, 10.1 + wait + 1e-9) == [False, True]


def test_who_goes_on_asking_in_vain_does_not_wait_longer() -> None:
    limiter = Limiter(SLOW)
    times = [n / 10 for n in range(100)]

    assert sum(granted(limiter, "a", *times)) == 3 + 19


def test_a_clock_that_goes_back_gives_nothing() -> None:
    assert granted(Limiter(SLOW), "a", 100, 100, 100, 50, 100, 100.5) == [
        True,
        True,
        True,
        False,
        False,
        True,
    ]


def test_the_memory_has_an_end() -> None:
    limiter = Limiter(SLOW, max_keys=10)
    for n in range(1000):
        limiter.take(str(n), 0)

    assert len(limiter._buckets) == 10


def test_the_limits_are_those_that_are_said() -> None:
    assert [(rate.per_second, rate.burst) for rate in (TOKEN_RATE, HOOK_RATE)] == [(200, 200), (2000, 2000)]
    limiter = Limiter(LOGIN_RATE)
    assert granted(limiter, "ip", 0, 0, 0, 0, 0, 0, 11, 12.1) == [True] * 5 + [False, False, True]


def test_too_many_are_refused_with_a_sentence() -> None:
    limiter = Limiter(LOGIN_RATE)
    granted(limiter, "ip", 0, 0, 0, 0, 0)

    with pytest.raises(TooManyRequests) as refused:
        limiter.check("ip", 0)

    assert str(refused.value) == "too many requests: at most 5 sign-ins a minute; try again in 12.0 s"
    assert refused.value.code == "rate_limited"
    assert refused.value.retry_after == pytest.approx(12)


def test_who_is_on_this_machine_and_workers_have_no_limit() -> None:
    callers = [ANYBODY_HERE, Caller(name="w", role="worker"), Caller(name="a", role="admin")]

    assert [rate_of(caller) for caller in callers] == [None, None, TOKEN_RATE]


def test_a_long_key_has_its_own_bucket_and_is_not_kept() -> None:
    """Whoever calls hooks by ever new names of sixty thousand letters would fill gigabytes with them."""
    limiter, names = Limiter(SLOW), ["x" * 60_000, "x" * 59_999 + "y"]
    tracemalloc.start()
    try:
        for name in names:
            assert limiter.take(name, 0.0, SLOW.burst) == 0.0
            assert limiter.take(name, 0.0) > 0
        for number in range(100):
            limiter.take(f"{number}".rjust(60_000), 0.0)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept < 1_000_000
