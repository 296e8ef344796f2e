"""Tokens: how they are made, read and refused."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from penstock.access.access import Access, TokenView
from penstock.access.caller import ANYBODY_HERE, Caller
from penstock.access.errors import Forbidden, InvalidAccess, Unauthenticated, UnknownAccessToken
from penstock.access.roles import ROLES, Role
from penstock.access.tokens import TokenRequest, admit, digest, make_token, parse_token
from penstock.api.guard import bearer
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.store.protocol import Store
from penstock.store.rows.access import AccessTokenRow
from tests.access.conftest import Seconds
from tests.store.builders import NOON
from tests.store.conftest import Clock
from tests.store.places import Place


def wish(**given: Any) -> TokenRequest:
    return TokenRequest(**{"name": "ci", "role": "viewer"} | given)


async def refusal(access: Access, text: str | None) -> str:
    with pytest.raises(Unauthenticated) as refused:
        await access.authenticate(text)
    return str(refused.value).split(":")[0]


@pytest.mark.parametrize("role", ROLES)
def test_a_token_has_its_kind_its_id_and_a_checksum(role: Role) -> None:
    text, kept = make_token(wish(role=role), "amy", NOON)

    assert re.fullmatch(rf"ps_{role}_[0-9A-Za-z]{{12}}_[0-9A-Za-z]{{49}}", text)
    assert (parse_token(text).id, parse_token(text).digest) == (kept.id, kept.digest)


def test_what_is_kept_does_not_tell_the_token() -> None:
    text, kept = make_token(wish(), "amy", NOON)

    secret = text.rsplit("_", 1)[1]
    assert secret not in repr(kept) and secret.encode() not in kept.digest
    assert make_token(wish(), "amy", NOON)[0] != text


def test_ids_sort_by_the_time_of_their_making() -> None:
    made = [make_token(wish(), "amy", NOON + timedelta(days=30 * n))[1].id for n in range(20)]

    assert made == sorted(made)


def test_a_mistyped_or_cut_token_is_told_without_looking_it_up() -> None:
    text, _ = make_token(wish(), "amy", NOON)
    swapped = text[:-1] + ("a" if text[-1] != "a" else "b")

    for wrong in (swapped, text.replace("ps_viewer", "ps_admin")):
        with pytest.raises(Unauthenticated, match="mistyped or cut off"):
            parse_token(wrong)
    for wrong in ("", "nothing", text[:-1], text + "a", f" {text}", text.replace("ps_", "xx_"), "ä" * 70):
        with pytest.raises(Unauthenticated, match="no token of Penstock"):
            parse_token(wrong)


def test_a_token_lives_ninety_days_unless_something_else_is_said() -> None:
    ends = [
        make_token(w, "amy", NOON)[1].expires_at
        for w in (wish(), wish(expires_in=1), wish(expires_in="never"))
    ]

    assert ends == [NOON + timedelta(days=90), NOON + timedelta(days=1), None]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": ""}, "1 to 100 characters"),
        ({"name": "   "}, "1 to 100 characters"),
        ({"name": "a\nb"}, "1 to 100 characters"),
        ({"name": "x" * 101}, "1 to 100 characters"),
        ({"role": "root"}, "'root' is no role: use viewer, operator, author, admin or worker"),
        ({"expires_in": 0}, "'expires_in' is 0: use 1 to 3650 days, or never"),
        ({"expires_in": 4000}, "'expires_in' is 4000"),
        ({"role": "admin", "workflows": ("a",)}, "an admin cannot be bound to 'workflows'"),
        ({"role": "worker", "workflows": ("a",)}, "a worker is bound to 'task_lists'"),
        ({"task_lists": ("a",)}, "are for workers"),
        ({"concurrency": 3}, "are for workers"),
        ({"role": "worker", "concurrency": 0}, "'concurrency' is 0"),
        ({"workflows": ()}, "'workflows' has 0 entries"),
        ({"workflows": ("a b",)}, "'a b' in 'workflows' is no name"),
        ({"role": "worker", "task_lists": ("a/b",)}, "'a/b' in 'task_lists' is no name"),
    ],
)
def test_a_token_that_makes_no_sense_is_not_made(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidAccess, match=re.escape(said)):
        make_token(wish(**given), "amy", NOON)


def test_a_role_of_a_newer_program_is_not_let_in() -> None:
    text, kept = make_token(wish(), "amy", NOON)
    row = AccessTokenRow(
        token=replace(kept, role="owner"), made_at=NOON, used_at=None, revoked_at=None, state="live"
    )

    with pytest.raises(Unauthenticated, match="the role 'owner' is not known"):
        admit(parse_token(text), row)


@pytest.mark.parametrize(
    ("header", "found"),
    [(None, None), ("Bearer abc", "abc"), ("bearer  abc ", "abc"), (" BEARER abc", "abc")],
)
def test_the_token_is_read_from_its_header(header: str | None, found: str | None) -> None:
    assert bearer(header) == found


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer  ", "Basic abc", "abc"])
def test_another_kind_of_authorization_is_refused(header: str) -> None:
    with pytest.raises(Unauthenticated, match="no bearer token"):
        bearer(header)


async def test_who_has_a_token_is_let_in_with_its_scopes(access: Access, elsewhere: Access) -> None:
    made = await access.create(ANYBODY_HERE, wish(role="author", workflows=("media-*",)))
    work = await access.create(ANYBODY_HERE, wish(role="worker", task_lists=("gpu",), concurrency=8))

    found = [await elsewhere.authenticate(one.token, "10.0.0.1") for one in (made, work)]

    bound: dict[str, Any] = {"name": "ci", "ip": "10.0.0.1"}
    assert found == [
        Caller(role="author", token_id=made.view.id, workflows=("media-*",), **bound),
        Caller(role="worker", token_id=work.view.id, task_lists=("gpu",), concurrency=8, **bound),
    ]


async def test_who_has_none_is_not_let_in(access: Access) -> None:
    unknown, _ = make_token(wish(role="admin"), "mallory", NOON)
    made = await access.create(ANYBODY_HERE, wish())
    forged, _ = make_token(wish(), "mallory", NOON)
    forged_id = parse_token(forged).id

    assert await refusal(access, None) == "no token was sent"
    assert await refusal(access, "nothing") == "what was sent is no token of Penstock"
    assert await refusal(access, unknown) == "the token is not known here"
    assert forged_id != made.view.id


async def test_the_secret_of_another_token_does_not_open_an_id(access: Access, store: Store) -> None:
    text, kept = make_token(wish(), "amy", NOON)
    await store.add_access_token(replace(kept, digest=digest("another")))

    assert await refusal(access, text) == "the token is not known here"


async def test_a_revoked_token_does_not_count_at_the_next_call(access: Access) -> None:
    made = await access.create(ANYBODY_HERE, wish())
    await access.authenticate(made.token)

    await access.revoke(ANYBODY_HERE, made.view.id)

    assert await refusal(access, made.token) == "the token 'ci' is revoked"
    with pytest.raises(UnknownAccessToken, match=made.view.id):
        await access.revoke(ANYBODY_HERE, made.view.id)


async def test_a_token_revoked_on_another_node_does_not_count_after_a_second(
    access: Access, elsewhere: Access, seconds: Seconds
) -> None:
    made = await access.create(ANYBODY_HERE, wish())
    await elsewhere.authenticate(made.token)
    await access.revoke(ANYBODY_HERE, made.view.id)

    seconds.now += 1

    assert await refusal(elsewhere, made.token) == "the token 'ci' is revoked"


async def test_an_expired_token_does_not_count(access: Access, clock: Clock) -> None:
    made = await access.create(ANYBODY_HERE, wish(expires_in=1))
    await clock.forward(86400)

    assert await refusal(access, made.token) == "the token 'ci' is expired"


async def test_the_use_of_a_token_is_written_once_a_minute(
    access: Access, clock: Clock, seconds: Seconds
) -> None:
    made = await access.create(ANYBODY_HERE, wish())
    used = []
    for wait in (0, 59, 1):
        await clock.forward(wait)
        seconds.now += wait
        await access.authenticate(made.token)
        [view] = await access.list(None, 10)
        used.append(view.used_at)

    assert used == [NOON, NOON, NOON + timedelta(minutes=1)]


async def test_tokens_are_listed_without_what_they_are_made_of(access: Access) -> None:
    made = await access.create(ANYBODY_HERE, wish(role="author", workflows=("a",)))
    await access.revoke(ANYBODY_HERE, made.view.id)

    assert await access.list(None, 10) == (
        TokenView(
            id=made.view.id,
            role="author",
            name="ci",
            workflows=("a",),
            task_lists=None,
            concurrency=None,
            expires_at=NOON + timedelta(days=90),
            made_by="local",
            made_at=NOON,
            used_at=None,
            revoked_at=NOON,
            state="revoked",
        ),
    )


async def test_only_an_admin_makes_and_revokes_tokens(access: Access) -> None:
    author = Caller(name="eve", role="author")

    with pytest.raises(Forbidden):
        await access.create(author, wish(role="admin"))
    with pytest.raises(Forbidden):
        await access.revoke(author, "x")
    assert (await access.list(None, 10), await access.audit(None, 10)) == ((), ())


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_no_table_has_a_token_in_it(access: Access, place: Place) -> None:
    made = await access.create(ANYBODY_HERE, wish())
    await access.sign_in(await access.authenticate(made.token))

    rows = [*await place.store.access_tokens(limit=10), *(await place.store.audits(10, after=0)).entries]
    assert len(rows) == 3
    assert made.token.rsplit("_", 1)[1] not in repr(rows)


async def test_the_token_of_the_settings_is_an_admins(store: Store, keys: Keys) -> None:
    access = Access(store, Vault(store, keys), own="f" * 64)

    caller = await access.authenticate("f" * 64)

    assert (caller.name, caller.role, caller.may("admin")) == ("settings", "admin", True)
    assert await refusal(access, "e" * 64) == "what was sent is no token of Penstock"


def test_a_token_of_the_settings_that_can_be_guessed_is_refused(keys: Keys) -> None:
    with pytest.raises(InvalidAccess, match="has 6 characters, 20 at least"):
        Access(None, Vault(None, keys), own="secret")  # type: ignore[arg-type]
