"""Whatever a stranger sends, the answer is one of ours, and nobody without the secret passes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.flow.errors import PenstockError
from penstock.sources.hooks.cloudevents import handshake, read_cloudevents
from penstock.sources.hooks.sns import read_sns_message
from penstock.sources.hooks.verification import GitHub, Hmac, Secret, Standard, Token, verify
from tests.sources.amazon import AMAZON, NOW, TOPIC
from tests.sources.signing import SECRET

FEW = settings(max_examples=100, deadline=None, derandomize=True)
names = st.sampled_from(
    [
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
        "x-hub-signature-256",
        "x-github-delivery",
        "x-signature",
        "authorization",
        "content-type",
        "ce-specversion",
        "ce-id",
        "ce-source",
        "ce-type",
        "ce-time",
        "webhook-request-origin",
        "webhook-request-rate",
    ]
)
words = st.sampled_from(
    [
        "v1,",
        "v1,AAAA",
        "v1,AAAA v1,",
        "sha256=",
        "sha256=00",
        "Bearer ",
        "Bearer x",
        "1772366400",
        "-1",
        "1.0",
        "application/cloudevents+json",
        "application/cloudevents-batch+json",
        "application/json",
    ]
)
headers = st.dictionaries(names, words | st.text(max_size=12), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
bodies = st.binary(max_size=40) | values.map(lambda value: json.dumps(value).encode())


@pytest.mark.parametrize("rule", [Standard(), GitHub(), Hmac(), Hmac(encoding="base64"), Token()])
@FEW
@given(headers=headers, body=bodies)
def test_nobody_passes_by_chance_and_nothing_breaks(
    rule: Secret, headers: dict[str, str], body: bytes
) -> None:
    with pytest.raises(PenstockError):
        verify(rule, [SECRET], headers, body, NOW)


@FEW
@given(headers=headers, body=bodies)
def test_calls_with_events_are_read_or_refused(headers: dict[str, str], body: bytes) -> None:
    try:
        events = read_cloudevents(headers, body)
    except PenstockError:
        return
    assert all(event.id and event.source and event.type for event in events)
    assert handshake(["a.example"], headers).status == 403


@FEW
@given(
    changed=st.dictionaries(st.sampled_from(sorted(AMAZON.letter())), values, min_size=1, max_size=3),
    body=bodies,
)
def test_letters_are_read_or_refused(changed: dict[str, Any], body: bytes) -> None:
    for text in (json.dumps({**AMAZON.letter(), **changed}).encode(), body):
        try:
            letter = read_sns_message(text, [TOPIC], NOW)
        except PenstockError:
            continue
        assert letter.topic == TOPIC
