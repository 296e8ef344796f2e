"""The decoders that are fuzzed. Each target takes any bytes and returns; whatever it raises is a crash.

A decoder may refuse with an error of ours and with nothing else. What it takes must hold what the target says.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from math import isfinite
from typing import Any
from urllib.parse import urlsplit

import msgspec
from yarl import URL

from penstock.api.request_body import quick_json
from penstock.boxes.egress import Denied, Egress
from penstock.expression import EvaluationError, ExpressionError, compile_expression, compile_template
from penstock.flow.errors import PenstockError
from penstock.flow.format.definition_parser import from_plain, read_definition
from penstock.flow.format.yaml_writer import to_plain, write_json, write_yaml
from penstock.flow.model.definition import Definition
from penstock.flow.model.problems import DefinitionError
from penstock.flow.values.schedule import (
    Schedule,
    cron_problem,
    in_words,
    next_ticks,
    tick_before,
    zone_problem,
)
from penstock.importing.kinds import import_text
from penstock.objects.s3_notifications import Notice, read_notices
from penstock.runtime.json.strict_json import read_json
from penstock.sources.hooks.cloudevents import handshake, is_cloudevent, read_cloudevents
from penstock.sources.hooks.envelope import Call, messages_of
from penstock.sources.hooks.sns import confirmation_address, read_sns_message
from penstock.sources.hooks.verification import GitHub, Hmac, Rule, Secret, Standard, Token, Verified, verify

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOPIC = "arn:aws:sns:eu-west-1:123456789012:transcoded"
KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SCOPE: dict[str, Any] = {
    "data": {"a": 1, "b": [1, 2.5, None, "x"], "c": {"d": True}, "s": "text", "t": "2026-03-01T12:00:00Z"},
    "tags": {"mime": "video/mp4"},
    "now": "2026-03-01T12:00:00Z",
}

Target = Callable[[bytes], None]


def must(holds: bool, what: str) -> None:
    """Also where Python leaves assertions out."""
    if not holds:
        raise AssertionError(what)


def text_of(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


# -- bodies ------------------------------------------------------------------------------------------------


def json_bodies(raw: bytes) -> None:
    """The quick reader takes nothing that the strict one refuses, and reads the same."""
    quick = quick_json(raw)
    try:
        value = read_json(raw)
    except PenstockError:
        must(quick is msgspec.UNSET, "the quick reader takes what the strict one refuses")
        return
    must(_keepable(value), "a value was read that no store keeps")
    must(quick is msgspec.UNSET or _same(quick, value), "two readers read two things")


def _keepable(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_keepable(key) and _keepable(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_keepable, value))
    if isinstance(value, str):
        return "\0" not in value and value.encode("utf-8", "replace").decode() == value
    if isinstance(value, float):
        return isfinite(value)
    return not isinstance(value, int) or -(2**63) <= value < 2**63


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and msgspec.json.encode(one) == msgspec.json.encode(other)


# -- definitions -------------------------------------------------------------------------------------------


def definition_yaml(raw: bytes) -> None:
    """What is read is the same once it was written and read again, in both forms."""
    with suppress(DefinitionError):
        _read_again(read_definition(text_of(raw)))


def definition_json(raw: bytes) -> None:
    """A definition in a request is read as the same text in a file."""
    try:
        value = read_json(raw)
    except PenstockError:
        return
    if not isinstance(value, dict):
        return
    try:
        found = from_plain(value)
    except DefinitionError:
        found = None
    try:
        told = read_definition(text_of(raw))
    except DefinitionError:
        told = None
    must(_plain(found) == _plain(told), "a request and a file are read differently")
    if found is not None:
        _read_again(found)


def _read_again(found: Definition) -> None:
    for write in (write_yaml, write_json):
        must(_plain(read_definition(write(found))) == _plain(found), f"{write.__name__} lost something")


def _plain(found: Definition | None) -> bytes:
    return b"" if found is None else msgspec.json.encode(to_plain(found))


# -- expressions -------------------------------------------------------------------------------------------


def expressions(raw: bytes) -> None:
    """The value is plain JSON, the same each time, or there is an error with a place; the scope stays as it is."""
    source = text_of(raw)
    before = msgspec.json.encode(SCOPE)
    with suppress(ExpressionError):
        found = compile_expression(source)
        first, second = _value(found), _value(found)
        must(first == second, "the same expression has two values")
        with suppress(EvaluationError):
            must(isinstance(found.holds(SCOPE), bool), "a condition is neither true nor false")
    with suppress(ExpressionError):
        _value(compile_template({"a": [source], source[:20]: f"x ${{{source}}} y"}))
    must(msgspec.json.encode(SCOPE) == before, "an expression has changed its scope")


def _value(found: Callable[[Mapping[str, Any]], Any]) -> bytes:
    try:
        return msgspec.json.encode(found(SCOPE))
    except EvaluationError as error:
        return f"{error.code} {error}".encode()


# -- what hooks take ---------------------------------------------------------------------------------------

MODES: tuple[dict[str, str], ...] = (
    {"content-type": "application/cloudevents+json"},
    {"content-type": "application/cloudevents-batch+json"},
    {},
)
RULES: tuple[Secret, ...] = (
    Standard(),
    GitHub(),
    Hmac(),
    Hmac(encoding="base64"),
    Token(),
    Token(header="X-Key"),
)


def _head(raw: bytes) -> tuple[dict[str, str], bytes]:
    """Headers as HTTP has them, an empty line, the body."""
    head, _, body = raw.partition(b"\n\n")
    lines = (line.partition(":") for line in head.decode("latin-1").split("\n"))
    return {name.strip().lower(): value.strip() for name, found, value in lines if found}, body


def cloudevents(raw: bytes) -> None:
    """Every event has what an event must have, and an origin that is not listed gets no consent."""
    headers, body = _head(raw)
    told = handshake(["a.example"], headers)
    origin = headers.get("webhook-request-origin", "")
    must(told.status == 403 or origin.lower() == "a.example", f"{origin} got consent")
    for more in MODES:
        with suppress(PenstockError):
            events = read_cloudevents(headers | more, body)
            must(all(each.id and each.source and each.type for each in events), "an event lacks something")
            must(not more or is_cloudevent(headers | more), "a call does not know that it has events")
    for rule in (*RULES, None):
        with suppress(PenstockError):
            _carried(Call(headers, body), rule or Standard())


def _carried(call: Call, rule: Rule) -> None:
    for message in messages_of(call, rule, Verified("d-1")):
        must(bool(message.id), "a message cannot be told from its repeat")
        msgspec.json.encode(message.scope)
        shown = {name.lower() for name in message.scope["headers"]}
        must(not shown & {"authorization", "cookie", "webhook-signature"}, "an expression sees a secret")


def signatures(raw: bytes) -> None:
    """Nobody passes without the secret."""
    headers, body = _head(raw)
    for rule in RULES:
        for secrets in ([KEY], [], [""]):
            try:
                verify(rule, secrets, headers, body, NOW)
            except PenstockError:
                continue
            raise AssertionError(f"{rule} let {headers} pass")


def notifications(raw: bytes) -> None:
    """Every notice names a bucket and a key; what cannot be read is told, and holds nothing else up."""
    try:
        value = read_json(raw)
    except PenstockError:
        return
    odd: list[Any] = []
    with suppress(PenstockError):
        notices = read_notices(value, lambda item, error: odd.append((item, str(error))))
        must(all(map(_whole, notices)), "a notice lacks something")
    with suppress(PenstockError):
        read_notices(value)


def _whole(notice: Notice) -> bool:
    keys = [notice.start_key(key) for key in notice.keys]
    msgspec.json.encode(notice)
    return bool(notice.bucket and all(notice.keys) and len({*keys}) == len(keys) > 0)


def letters(raw: bytes) -> None:
    """A letter that is read is of a listed topic, and its certificate lies with Amazon."""
    try:
        letter = read_sns_message(raw, [TOPIC], NOW)
    except PenstockError:
        return
    must(letter.topic == TOPIC, "a letter of another topic was read")
    for parsed in (urlsplit(letter.certificate).hostname, URL(letter.certificate).host):
        host = parsed or ""
        must(host.startswith("sns.") and host.count(".") in (3, 4), f"a certificate of {host}")
        must(host.endswith((".amazonaws.com", ".amazonaws.com.cn")), f"a certificate of {host}")
    confirmed = URL(confirmation_address(letter.topic, letter.token))
    must(confirmed.host == "sns.eu-west-1.amazonaws.com", f"{confirmed} would be called")
    must(confirmed.query["Token"] == letter.token, "another token would be confirmed")


# -- clocks, addresses, other engines ----------------------------------------------------------------------


def clocks(raw: bytes) -> None:
    """A line that has no problem has ticks in order, and can be said in words."""
    line, _, zone = text_of(raw).partition("\n")
    known = zone_problem(zone) is None
    if cron_problem(line) is not None:
        return
    schedule = Schedule(cron=line, tz=zone if known else "UTC")
    ticks = next_ticks(schedule, NOW, 3)
    must(ticks == sorted(set(ticks)) and all(tick > NOW for tick in ticks), f"{line!r} goes back")
    must(bool(in_words(schedule)), "a schedule cannot be said")
    last = tick_before(schedule, NOW)
    must(last is None or last < NOW, f"{line!r} has a tick before {NOW} at {last}")


LISTED = ipaddress.ip_network("10.9.0.0/16")
EGRESS = Egress(["ok.example", "*.fine.example", str(LISTED)])


def addresses(raw: bytes) -> None:
    """What may be called is what the client that calls takes it for."""
    url = text_of(raw)
    try:
        EGRESS.validate_url(url)
    except Denied:
        return
    with suppress(ValueError):  # the client refuses it itself
        called = URL(url)
        host = (called.raw_host or "").rstrip(".").lower()
        must(called.scheme in ("http", "https"), f"{url!r} is {called.scheme}")
        told = (urlsplit(url).hostname or "").rstrip(".").lower()
        literal = _literal(host)
        must(literal is None or literal in LISTED, f"{url!r} is {literal}")
        same = told == host or (literal is not None and literal == _literal(told))
        must(same or not told.isascii(), f"{url!r} is {host!r} for the client and {told!r} for us")


def _literal(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def imports(raw: bytes) -> None:
    """A text of another engine becomes a definition that can be read, or is refused."""
    kinds = ("pinball", "viblio", "zenko")
    for kind in kinds:
        with suppress(PenstockError, DefinitionError):
            made = import_text(kind, text_of(raw))
            must(bool(_plain(made.definition)), "an import made nothing")


TARGETS: dict[str, Target] = {
    "json": json_bodies,
    "definition_yaml": definition_yaml,
    "definition_json": definition_json,
    "expressions": expressions,
    "cloudevents": cloudevents,
    "signatures": signatures,
    "notifications": notifications,
    "letters": letters,
    "clocks": clocks,
    "addresses": addresses,
    "imports": imports,
}
