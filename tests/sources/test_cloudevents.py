"""CloudEvents 1.0 over HTTP: the three modes, what is no event, and the handshake."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.runtime.json.strict_json import Unreadable
from penstock.sources.hooks.cloudevents import (
    CloudEvent,
    Handshake,
    handshake,
    is_cloudevent,
    read_cloudevents,
)

ONE = {
    "specversion": "1.0",
    "id": "e-1",
    "source": "/jobs",
    "type": "job.done",
    "subject": "7",
    "time": "2026-03-01T12:00:00Z",
    "datacontenttype": "application/json",
    "traceparent": "00-a-b-01",
    "data": {"job": 7},
}
EVENT = CloudEvent(
    id="e-1",
    source="/jobs",
    type="job.done",
    subject="7",
    time="2026-03-01T12:00:00Z",
    data={"job": 7},
    attributes={"datacontenttype": "application/json", "traceparent": "00-a-b-01"},
)
STRUCTURED = {"content-type": "application/cloudevents+json; charset=utf-8"}
BATCH = {"content-type": "application/cloudevents-batch+json"}


def binary(**changed: str | None) -> dict[str, str]:
    said = {**without("data", "datacontenttype"), **changed}
    return {
        "content-type": "application/json",
        **{f"ce-{name}": str(value) for name, value in said.items() if value is not None},
    }


def test_the_three_modes_say_the_same() -> None:
    text = json.dumps(ONE).encode()

    assert read_cloudevents(STRUCTURED, text) == [EVENT]
    assert read_cloudevents(BATCH, b"[" + text + b"," + text + b"]") == [EVENT, EVENT]
    assert read_cloudevents(binary(), b'{"job": 7}') == [EVENT]
    assert read_cloudevents(BATCH, b"[]") == []


def test_attributes_in_headers_are_decoded() -> None:
    [event] = read_cloudevents(binary(subject="Euro%20%E2%82%AC"), b"")

    assert (event.subject, event.data) == ("Euro €", None)


def test_data_that_is_no_json_stays_text() -> None:
    [event] = read_cloudevents({**binary(), "content-type": "text/plain"}, "grün".encode())
    [based] = read_cloudevents(STRUCTURED, json.dumps({**without("data"), "data_base64": "YWI="}).encode())

    assert (event.data, based.data) == ("grün", "YWI=")


def without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in ONE.items() if name not in names}


BAD: list[Any] = [
    without("id"),
    without("source"),
    without("type"),
    without("specversion"),
    {**ONE, "id": ""},
    {**ONE, "id": 5},
    {**ONE, "specversion": "9"},
    {**ONE, "specversion": "0.3"},
    {**ONE, "time": "yesterday"},
    {**ONE, "time": "2026-03-01T12:00:00"},
    {**ONE, "subject": 5},
    {**ONE, "data_base64": "YWI="},
    {**without("data"), "data_base64": "?"},
    {**ONE, "no good name": 1},
    {**ONE, "ext": {"a": 1}},
    5,
    None,
]


@pytest.mark.parametrize("event", BAD)
def test_row_36_what_is_no_event_is_refused_and_takes_its_batch_with_it(event: Any) -> None:
    for headers, body in ((STRUCTURED, event), (BATCH, [ONE, event])):
        with pytest.raises(Unreadable) as caught:
            read_cloudevents(headers, json.dumps(body).encode())
        assert caught.value.code == "bad_event"


@pytest.mark.parametrize("changed", [{"id": None}, {"source": None}, {"type": None}, {"specversion": "9"}])
def test_row_36_also_in_headers(changed: dict[str, str | None]) -> None:
    with pytest.raises(Unreadable) as caught:
        read_cloudevents(binary(**changed), b"{}")
    assert caught.value.code == "bad_event"


def test_other_formats_and_endless_batches_are_refused() -> None:
    for headers, body in (
        ({"content-type": "application/cloudevents+avro"}, b""),
        (BATCH, b"{}"),
        (BATCH, json.dumps([ONE] * 501).encode()),
        ({**binary(), "content-type": "image/png"}, b"\xff"),
    ):
        with pytest.raises(Unreadable) as caught:
            read_cloudevents(headers, body)
        assert caught.value.code == "bad_event"


def test_a_call_says_that_it_carries_events() -> None:
    assert [
        is_cloudevent(each) for each in (STRUCTURED, BATCH, binary(), {"content-type": "application/json"})
    ] == [
        True,
        True,
        True,
        False,
    ]


def test_a_listed_origin_gets_consent_for_the_rate_that_it_asks_for() -> None:
    def asked(**more: str) -> Handshake:
        headers = {f"webhook-request-{name}": value for name, value in more.items()}
        return handshake(["events.example.com"], headers)

    assert asked(origin="events.example.com", rate="120", callback="http://169.254.169.254/") == Handshake(
        200,
        {"Allow": "POST", "WebHook-Allowed-Origin": "events.example.com", "WebHook-Allowed-Rate": "120"},
    )
    for rate in ("*", "0", "-1", "9999999999", "x", ""):
        assert asked(origin="events.example.com", rate=rate).headers["WebHook-Allowed-Rate"] == "120000"


def test_row_37_another_origin_gets_no_consent() -> None:
    for origin in ("evil.example.com", "", "*", "EVENTS.example.com.evil.io"):
        assert handshake(["events.example.com"], {"webhook-request-origin": origin}) == Handshake(403, {})
    assert handshake([], {"webhook-request-origin": "a"}) == Handshake(403, {})
