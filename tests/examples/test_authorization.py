"""Zenko's authorization: a workflow that is called like a function."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.examples.shelf import path_of, played, proposed

from penstock import Engine, PenstockError, SyncEngine

PUT = proposed("authorization")
GET = {key: PUT[key] for key in ("key", "user", "ip")} | {"operation": "GET"}
WITHIN = {"allowed": True, "reason": "within the rules"}


def refused(reason: str) -> dict[str, Any]:
    return {"allowed": False, "reason": reason}


@pytest.fixture(scope="module")
def engine() -> Iterator[SyncEngine]:
    with Engine.sync("memory:", tasks={}) as made:
        made.publish(path_of("authorization"))
        yield made


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (PUT, WITHIN),
        (GET, WITHIN),
        ({**PUT, "ip": "192.168.7.7"}, WITHIN),
        ({**PUT, "ip": "2001:db8::42"}, WITHIN),
        ({**PUT, "ip": "8.8.8.8"}, refused("foreign address")),
        ({**PUT, "ip": "2a00::1"}, refused("foreign address")),
        ({**GET, "ip": "11.0.0.1"}, refused("foreign address")),
        ({**PUT, "key": "home/bob/report.pdf"}, refused("foreign prefix")),
        ({**GET, "key": "home/adalbert/x"}, refused("foreign prefix")),
        ({**PUT, "at": "2026-03-02T21:59:59Z"}, WITHIN),
        ({**PUT, "at": "2026-03-02T22:00:00Z"}, refused("after hours")),
        ({**PUT, "at": "2026-07-01T21:00:00Z"}, refused("after hours")),
        ({**PUT, "operation": "DELETE", "at": "2026-03-02T23:30:00Z"}, refused("after hours")),
        ({**PUT, "operation": "DELETE", "at": "2026-03-02T05:30:00Z"}, refused("after hours")),
        ({**GET, "at": "2026-03-02T23:30:00Z"}, WITHIN),
        ({**PUT, "size": 5_000_000_000}, WITHIN),
        ({**PUT, "size": 5_000_000_001}, refused("too big")),
        ({**GET, "at": PUT["at"], "operation": "PUT"}, refused("too big")),
        ({**GET, "size": 5_000_000_001}, WITHIN),
        ({**PUT, "headers": {"content-type": "text/plain"}}, refused("unencrypted")),
        ({**GET, "headers": {}}, WITHIN),
        ({**PUT, "ip": "10.0.0"}, refused("unreadable")),
        ({**PUT, "at": "teatime"}, refused("unreadable")),
    ],
)
def test_a_call_answers_whether_and_why(engine: SyncEngine, request_: Any, answer: Any) -> None:
    called = engine.call("authorization", input=request_)

    assert (called["status"], called["result"]) == ("succeeded", answer)


def test_of_several_reasons_the_first_rule_speaks(engine: SyncEngine) -> None:
    worst = {**PUT, "ip": "8.8.8.8", "key": "etc/passwd", "size": 10**12}

    assert engine.call("authorization", input=worst)["result"] == refused("foreign address")


def test_a_request_without_an_address_is_no_request(engine: SyncEngine) -> None:
    with pytest.raises(PenstockError, match=r"the input does not fit the params of 'authorization'.*ip"):
        engine.call("authorization", input={key: PUT[key] for key in ("operation", "key", "user")})


@pytest.mark.parametrize(("hour", "allowed"), [(20, True), (23, False)])
def test_without_a_time_the_run_looks_at_the_clock(hour: int, allowed: bool) -> None:
    undated = {key: value for key, value in PUT.items() if key != "at"}

    run = played("authorization", undated, start=datetime(2026, 1, 5, hour, tzinfo=UTC))

    assert run.result["allowed"] is allowed
