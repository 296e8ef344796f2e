"""Tokens, sessions, sign-ins and secrets in the store, and ST12: what somebody did is recorded with it."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from penstock.store.protocol import Store
from penstock.store.rows.access import (
    AccessToken,
    AccessTokenRow,
    Audited,
    AuditHead,
    AuditRow,
    Login,
    NewSession,
    SecretRow,
    SessionRow,
)
from penstock.store.rows.audit_chain import START, chained
from penstock.store.rows.change import EventId
from penstock.store.rows.drafts import NewDraft
from penstock.store.rows.rows import TokenChange
from tests.store.builders import NOON, A, B, C, D, change, given, publish, seconds, start
from tests.store.conftest import Clock

MINUTE, HOUR, WEEK = timedelta(minutes=1), timedelta(hours=1), timedelta(days=7)


def token(id: str = "t1", **given: Any) -> AccessToken:
    plain: dict[str, Any] = {
        "role": "viewer",
        "name": "ci",
        "digest": b"\x00digest",
        "workflows": None,
        "task_lists": None,
        "concurrency": None,
        "expires_at": NOON + HOUR,
        "made_by": "amy",
    }
    return AccessToken(id=id, **plain | given)


def row(token: AccessToken, state: Any = "live", **given: Any) -> AccessTokenRow:
    plain: dict[str, Any] = {"made_at": NOON, "used_at": None, "revoked_at": None}
    return AccessTokenRow(token=token, state=state, **plain | given)


def session(digest: bytes = b"one", name: str = "amy", **given: Any) -> NewSession:
    plain: dict[str, Any] = {"role": "author", "token_id": None, "workflows": None, "ip": None}
    return NewSession(digest=digest, name=name, **plain | given)


def entry(action: str, target: str = "x", **given: Any) -> AuditRow:
    plain: dict[str, Any] = {"actor": "amy", "token_id": "t1", "ip": "10.0.0.1"}
    return AuditRow(action=action, target=target, **plain | given)


async def recorded(store: Store) -> list[str]:
    return [one.row.action for one in (await store.audits(1000, after=0)).entries]


async def test_a_token_is_found_as_it_was_made(store: Store) -> None:
    bound = token("t2", role="worker", workflows=("a", "b*"), task_lists=(), concurrency=4, expires_at=None)

    assert [await store.add_access_token(one) for one in (token(), bound)] == [True, True]

    assert await store.access_tokens(["t1", "t2", "t3"]) == [row(token()), row(bound)]


async def test_a_token_id_is_given_once(store: Store) -> None:
    await store.add_access_token(token(), entry("first"))

    assert await store.add_access_token(token(name="other"), entry("second")) is False
    assert (await store.access_tokens(["t1"]), await recorded(store)) == ([row(token())], ["first"])


async def test_tokens_are_listed_page_by_page_the_newest_first(store: Store) -> None:
    made = [token(f"t{n}") for n in (2, 1, 3)]
    for one in made:
        await store.add_access_token(one)

    pages = [await store.access_tokens(before=before, limit=2) for before in (None, "t2", "t1")]

    assert [[one.token.id for one in page] for page in pages] == [["t3", "t2"], ["t1"], []]


async def test_a_token_expires_by_the_time_of_the_store(store: Store, clock: Clock) -> None:
    await store.add_access_token(token())
    await clock.forward(3599)
    [before] = await store.access_tokens(["t1"])
    await clock.forward(1)

    assert (before, await store.access_tokens(["t1"])) == (row(token()), [row(token(), "expired")])


async def test_a_token_is_revoked_once_and_other_nodes_know(store: Store, other: Store) -> None:
    await store.add_access_token(token())

    answers = [await store.revoke_access_token(id, entry("revoke")) for id in ("t1", "t1", "ghost")]

    assert (answers, await recorded(store)) == ([True, False, False], ["revoke"])
    assert await other.access_tokens(["t1"]) == [row(token(), "revoked", revoked_at=NOON)]


async def test_the_use_of_a_token_is_noted_once_in_a_while(store: Store, clock: Clock) -> None:
    await store.add_access_token(token(expires_at=None))
    used: list[datetime | None] = []
    for wait in (0, 59, 1):
        await clock.forward(wait)
        await store.note_use(MINUTE, tokens=["t1", "ghost"])
        [found] = await store.access_tokens(["t1"])
        used.append(found.used_at)

    assert used == [NOON, NOON, NOON + MINUTE]


async def test_a_session_ends_when_it_is_idle_and_at_last_in_any_case(store: Store, clock: Clock) -> None:
    bound = session(role="viewer", token_id="t1", workflows=("a",), ip="::1")
    await store.add_session(bound, lasts=3 * HOUR)
    fresh = await store.session(b"one", HOUR)
    alive: list[bool] = []
    for wait in (3599, 3599, 3599, 3):
        await clock.forward(wait)
        alive.append(await store.session(b"one", HOUR) is not None)
        await store.note_use(MINUTE, sessions=[b"one"])

    assert fresh == SessionRow(session=bound, made_at=NOON, seen_at=NOON, until=NOON + 3 * HOUR)
    assert alive == [True, True, True, False]


async def test_a_session_that_is_not_used_ends(store: Store, clock: Clock) -> None:
    await store.add_session(session(), lasts=WEEK)
    await clock.forward(3600)

    assert await store.session(b"one", HOUR) is None


async def test_a_new_session_stands_in_the_place_of_the_old_one(store: Store) -> None:
    await store.add_session(session(b"one"), WEEK)

    await store.add_session(session(b"two"), WEEK, instead=b"one", audit=entry("sign in"))

    assert [await store.session(d, HOUR) is None for d in (b"one", b"two")] == [True, False]
    assert await recorded(store) == ["sign in"]


async def test_sessions_end_by_cookie_and_by_name(store: Store) -> None:
    for digest, name in ((b"1", "amy"), (b"2", "bob"), (b"3", "bob"), (b"4", "eve")):
        await store.add_session(session(digest, name), WEEK)

    gone = [
        await store.drop_sessions([b"1", b"ghost"], ["bob"], entry("sign out")),
        await store.drop_sessions([b"1"], (), entry("again")),
    ]

    assert (gone, await recorded(store)) == ([3, 0], ["sign out"])
    assert [await store.session(d, HOUR) is None for d in (b"1", b"2", b"3", b"4")] == [
        True,
        True,
        True,
        False,
    ]


async def test_a_sign_in_comes_back_once_and_in_time(store: Store, other: Store, clock: Clock) -> None:
    first, late = (Login(digest=digest, nonce="n", verifier="v", back_to="/app/") for digest in (b"1", b"2"))
    for one in (first, late):
        await store.add_login(one, timedelta(minutes=10))

    found = [await node.take_login(b"1") for node in (other, store)]
    await clock.forward(600)

    assert (found, await store.take_login(b"2")) == ([first, None], None)


async def test_of_many_that_bring_a_sign_in_back_at_once_one_gets_it(store: Store, other: Store) -> None:
    await store.add_login(Login(digest=b"1", nonce="n", verifier="v", back_to="/"), MINUTE)

    found = await asyncio.gather(*(node.take_login(b"1") for node in (store, other) * 4))

    assert sum(one is not None for one in found) == 1


async def test_a_secret_is_kept_by_version(store: Store, clock: Clock) -> None:
    first = await store.put_secret("smtp", "k1", b"sealed", ["k1"], entry("set"))
    later = await clock.forward(60)
    second = await store.put_secret("smtp", "k1", b"again", ["k2", "k1"], entry("set again"))
    await store.put_secret("aws", "k1", b"x", ["k1", "k2"])

    said = [
        SecretRow(name="smtp", version=1, key_id="k1", sealed=b"sealed", updated_at=NOON),
        SecretRow(name="smtp", version=2, key_id="k1", sealed=b"again", updated_at=later),
    ]
    assert [first, second] == said
    assert await store.secrets(["ghost", "smtp"]) == [said[1]]
    assert [one.name for one in await store.secrets(limit=10)] == ["aws", "smtp"]
    assert [one.name for one in await store.secrets(after="aws", limit=10)] == ["smtp"]
    assert await recorded(store) == ["set", "set again"]


async def test_a_secret_is_sealed_anew_only_where_it_is_what_was_read(store: Store) -> None:
    made = await store.put_secret("a", "k1", b"one", ["k1"])

    answers = [
        await store.put_secret("a", "k2", b"lost", was=b"other"),
        await store.put_secret("a", "k2", b"two", was=b"one"),
        await store.put_secret("ghost", "k2", b"two", was=b"one"),
    ]

    assert made is not None
    sealed = replace(made, key_id="k2", sealed=b"two")
    assert answers == [None, sealed, None]
    assert await store.secrets(["a"]) == [sealed]


async def test_a_secret_is_refused_where_it_would_bring_a_second_key(store: Store) -> None:
    await store.put_secret("a", "k1", b"one", ["k1"])

    asked = [("a", "k2", ["k2"]), ("b", "k2", ["k2"]), ("b", "k2", ["k2", "k1"]), ("b", "k1", ["k2"])]
    refused = [await store.put_secret(name, key, b"two", known, entry("set")) for name, key, known in asked]
    taken = await store.put_secret("b", "k1", b"two", ["k2", "k1"])

    assert (refused, await recorded(store)) == ([None] * 4, [])
    assert taken is not None and (taken.name, taken.version) == ("b", 1)


async def test_two_nodes_never_seal_the_first_secrets_with_two_keys(store: Store, other: Store) -> None:
    keyed = [(node, f"{name}{n}", name) for n in range(4) for node, name in ((store, "a"), (other, "b"))]

    made = await asyncio.gather(*(node.put_secret(name, key, b"x", [key]) for node, name, key in keyed))

    assert {row.key_id for row in made if row is not None} == set(await store.secret_keys())
    assert len(await store.secret_keys()) == 1
    assert sum(row is not None for row in made) == 4


async def test_what_the_keys_seal_changes_with_every_secret_that_is_set_or_dropped(store: Store) -> None:
    seen = [await store.secret_keys()]
    for name in ("a", "b", "a"):
        await store.put_secret(name, "k1", b"one", ["k1"])
        seen.append(await store.secret_keys())
    await store.put_secret("a", "k2", b"two", was=b"one")
    seen.append(await store.secret_keys())
    await store.drop_secret("a")
    await store.put_secret("c", "k1", b"one", ["k1"])
    seen.append(await store.secret_keys())

    assert [set(each) for each in seen] == [set(), {"k1"}, {"k1"}, {"k1"}, {"k1", "k2"}, {"k1"}]
    assert len({tuple(sorted(each.items())) for each in seen}) == len(seen)


async def test_a_secret_is_dropped_once(store: Store) -> None:
    await store.put_secret("a", "k1", b"one", ["k1"])

    answers = [await store.drop_secret("a", entry("drop")) for _ in range(2)]

    assert (answers, await store.secrets(["a"])) == ([True, False], [])
    assert await recorded(store) == ["drop"]


async def test_st12_entries_are_a_chain_whose_end_is_kept_apart(store: Store, clock: Clock) -> None:
    rows = [
        entry("publish", before=b"\x00", after=b"\xff", reason="because"),
        entry("start", token_id=None, ip=None),
        entry("café ☕"),
    ]
    empty = (await store.audits(0)).head
    await store.record(rows[:2])
    later = await clock.forward(0.000001)
    await store.record(rows[2:])

    first = chained(START, NOON, rows[:2])
    said = [*first, *chained(AuditHead(2, first[1].hash), later, rows[2:])]
    assert (await store.audits(10, after=0)).entries == said
    assert (empty, (await store.audits(0)).head) == (START, AuditHead(3, said[2].hash))


async def test_st12_entries_are_read_page_by_page_from_both_ends(store: Store) -> None:
    await store.record([entry(str(n)) for n in range(1, 6)])

    def numbers(page: list[Audited]) -> list[int]:
        return [one.number for one in page]

    newest = [numbers((await store.audits(2, before=before)).entries) for before in (None, 4, 2, 1)]
    oldest = [numbers((await store.audits(2, after=after)).entries) for after in (0, 2, 4, 5)]

    assert newest == [[5, 4], [3, 2], [1], []]
    assert oldest == [[1, 2], [3, 4], [5], []]


async def test_st12_a_change_that_is_applied_is_recorded_and_one_that_is_not_is_not(store: Store) -> None:
    await given(store, start(A), start(B), start(D, seen=(EventId("s", "1", NOON + HOUR),)))

    committed = await store.commit(
        [
            change(A, 1, audits=(entry("cancel", A), entry("repair", A))),
            change(B, 7, audits=(entry("stale", B),)),
            start(C, seen=(EventId("s", "1", NOON + HOUR),), audits=(entry("seen", C),)),
        ]
    )

    assert committed.outcomes == ["applied", "stale", "seen"]
    assert await recorded(store) == ["cancel", "repair"]


async def test_st12_what_is_done_to_workflows_is_recorded_where_something_changes(store: Store) -> None:
    for text in ("one", "one", "two"):
        await publish(store, "w", text, b"", None, True, audit=entry(f"publish {text}"))
    for name in ("w", "ghost"):
        await store.set_started(name, False, entry(f"stop {name}"))
    for workflow, paused in (
        ("w", True),
        ("w", True),
        ("ghost", True),
        (None, True),
        (None, True),
        ("w", False),
    ):
        await store.set_paused(workflow, paused, b"x", None, entry(f"pause {workflow} {paused}"))

    assert await recorded(store) == [
        "publish one",
        "publish two",
        "stop w",
        "pause w True",
        "pause None True",
        "pause w False",
    ]


async def test_st12_what_is_done_to_drafts_notes_and_tokens_is_recorded_where_something_changes(
    store: Store,
) -> None:
    draft = NewDraft(definition="one", title=None, author="ann")
    await store.save_draft("w", draft, None, entry("save"))
    await store.save_draft("w", draft, ["other"], entry("save other"))
    await store.save_draft("w", None, ["other"], entry("drop other"))
    for count in ("first", "second"):
        await store.save_draft("w", None, None, entry(f"drop {count}"))
    for name, text in (("n", "1"), ("n", None), ("n", None)):
        await store.put_note(name, text, entry(f"note {text}"))
    for count in ("first", "second"):
        made = TokenChange(name="/custom/a")
        await store.change_tokens([made], [entry(f"{count} a"), entry(f"{count} b")])
    for count in ("first", "second"):
        await store.claim_tokens("o", "/custom/", HOUR, 5, entry(f"claim {count}"))

    assert await recorded(store) == [
        "save",
        "drop first",
        "note 1",
        "note None",
        "first a",
        "first b",
        "claim first",
    ]


async def test_st12_nodes_that_record_at_once_make_one_chain(store: Store, other: Store) -> None:
    await given(store, start(A), start(B))

    await asyncio.gather(
        store.commit([change(A, 1, audits=(entry("a"),))]),
        other.commit([change(B, 1, audits=(entry("b"),))]),
        *(node.record([entry("n"), entry("m")]) for node in (store, other) * 5),
        *(node.put_secret("s", "k", b"x", ["k"], entry("s")) for node in (store, other) * 3),
        *(publish(node, "w", "one", b"", None, True, audit=entry("p")) for node in (store, other)),
    )

    found = (await store.audits(100, after=0)).entries
    assert sorted(one.row.action for one in found) == sorted(["a", "b", *"nm" * 10, *"s" * 6, "p"])
    assert found == _chained_as_found(found)


def _chained_as_found(found: list[Audited]) -> list[Audited]:
    made: list[Audited] = []
    for one in found:
        head = AuditHead(made[-1].number, made[-1].hash) if made else START
        made += chained(head, one.at, [one.row])
    return made


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_st12_what_cannot_be_recorded_is_not_done(store: Store) -> None:
    await store.put_secret("a", "k", b"one", ["k"])

    with pytest.raises(Exception, match="surrogates"):
        await store.put_secret("a", "k", b"two", ["k"], entry("set", target="\ud800"))

    [found] = await store.secrets(["a"])
    assert (found.version, found.sealed) == (1, b"one")


async def test_retention_leaves_the_record_alone(store: Store, clock: Clock) -> None:
    await store.record([entry("long ago")])
    await clock.forward(seconds(3650 * 86400).total_seconds())
    await store.retain(dict.fromkeys(("succeeded", "failed", "canceled", "timed_out"), HOUR), 100, False)

    assert await recorded(store) == ["long ago"]
