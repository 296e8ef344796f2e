"""Sessions of browsers, and what a page of another site must not do with them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.access.access import Access
from penstock.access.caller import ANYBODY_HERE, Caller
from penstock.access.errors import ForeignOrigin, Unauthenticated
from penstock.access.origin import is_loopback_host, is_same_origin, require_own_page
from penstock.access.sessions import clear_cookie, read_cookie, set_cookie
from penstock.access.tokens import TokenRequest, digest
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.store.protocol import Store
from penstock.store.rows.access import NewSession
from tests.access.conftest import Seconds
from tests.store.conftest import Clock

AMY = Caller(name="amy", role="author", workflows=("a*",))
HOUR = 3600


async def is_signed_in(access: Access, cookie: str) -> bool:
    try:
        await access.session(cookie)
    except Unauthenticated:
        return False
    return True


async def test_who_signs_in_is_known_by_the_cookie_on_every_node(access: Access, elsewhere: Access) -> None:
    cookie = await access.sign_in(AMY)

    assert await elsewhere.session(cookie, "10.0.0.1") == Caller(
        name="amy", role="author", workflows=("a*",), ip="10.0.0.1"
    )
    assert not await is_signed_in(access, cookie + "x")


async def test_a_session_ends_after_twelve_idle_hours(access: Access, clock: Clock, seconds: Seconds) -> None:
    cookie = await access.sign_in(AMY)
    alive = []
    for hours in (11, 11, 12):
        await clock.forward(hours * HOUR)
        seconds.now += hours * HOUR
        alive.append(await is_signed_in(access, cookie))

    assert alive == [True, True, False]


async def test_a_session_ends_after_seven_days_however_busy_it_is(
    access: Access, clock: Clock, seconds: Seconds
) -> None:
    cookie = await access.sign_in(AMY)
    alive = []
    for _ in range(17):
        await clock.forward(10 * HOUR)
        seconds.now += 10 * HOUR
        alive.append(await is_signed_in(access, cookie))

    assert alive == [True] * 16 + [False]


async def test_a_new_sign_in_has_a_new_cookie_and_ends_the_old_session(access: Access) -> None:
    old = await access.sign_in(AMY)
    new = await access.sign_in(AMY, instead=old)

    assert (await is_signed_in(access, old), await is_signed_in(access, new)) == (False, True)


async def test_who_signs_out_is_out_and_the_record_says_so(access: Access) -> None:
    cookie = await access.sign_in(AMY)
    for _ in range(2):
        await access.sign_out(AMY, cookie)

    assert not await is_signed_in(access, cookie)
    done = [(entry.row.actor, entry.row.action) for entry in await access.audit(None, 10)]
    assert done == [("amy", "session.end"), ("amy", "session.begin")]


async def test_a_session_ends_with_the_token_that_it_was_begun_with(access: Access) -> None:
    made = await access.create(ANYBODY_HERE, TokenRequest(name="amy", role="viewer"))
    cookie = await access.sign_in(await access.authenticate(made.token))
    before = await access.session(cookie)

    await access.revoke(ANYBODY_HERE, made.view.id)

    assert (before.name, before.token_id) == ("amy", made.view.id)
    assert not await is_signed_in(access, cookie)


async def test_a_session_begun_with_the_token_of_the_settings_ends_when_that_changes(
    store: Store, keys: Keys
) -> None:
    old, new = (
        Access(store, Vault(store, keys), own="a" * 32),
        Access(store, Vault(store, keys), own="b" * 32),
    )
    cookie = await old.sign_in(await old.authenticate("a" * 32))

    assert [await is_signed_in(one, cookie) for one in (old, new, Access(store, Vault(store, keys)))] == [
        True,
        False,
        False,
    ]


async def test_a_worker_does_not_sign_in(access: Access) -> None:
    with pytest.raises(Unauthenticated, match="not for people"):
        await access.sign_in(Caller(name="w", role="worker"))


async def test_a_role_of_a_newer_program_is_not_let_in(access: Access, store: Store) -> None:
    row = NewSession(digest=digest("c"), name="amy", role="owner", token_id=None, workflows=None, ip=None)
    await store.add_session(row, timedelta(days=1))

    with pytest.raises(Unauthenticated, match="the role 'owner' is not known"):
        await access.session("c")


def test_the_cookie_is_for_this_host_alone_and_no_script_reads_it() -> None:
    assert [set_cookie("abc", True), set_cookie("abc", False), clear_cookie(True)] == [
        "__Host-penstock=abc; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure",
        "penstock=abc; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax",
        "__Host-penstock=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure",
    ]


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (None, None),
        ("", None),
        ("other=1", None),
        ("__Host-penstock=abc", "abc"),
        ("a=b; __Host-penstock=a=b ;c", "a=b"),
        ("__Host-penstock=", None),
        ("penstock=abc", None),
        ("__Host-penstock=abc; __Host-penstock=evil", None),
    ],
)
def test_the_cookie_is_read_where_it_is_there_once(header: str | None, found: str | None) -> None:
    assert read_cookie(header, secure=True) == found


@pytest.mark.parametrize(
    ("host", "origin", "same"),
    [
        ("flow.example", "https://flow.example", True),
        ("flow.example:8080", "http://flow.example:8080", True),
        ("flow.example:443", "https://flow.example", True),
        ("FLOW.example", "https://flow.example", True),
        ("[::1]:80", "http://[::1]", True),
        ("flow.example", "https://flow.example:8443", False),
        ("flow.example", "https://evil.example", False),
        ("flow.example", "https://flow.example.evil", False),
        ("flow.example", "https://flow.example@evil.example", False),
        ("flow.example", "https://evil.example/flow.example", False),
        ("flow.example", "https://a@flow.example", False),
        ("flow.example", "null", False),
        ("flow.example", "file://flow.example", False),
        ("flow.example", "https://flow.example:99999", False),
        ("flow.example", "https://[", False),
        ("flow.example", None, False),
        (None, "https://flow.example", False),
        ("", "", False),
        ("a@flow.example", "https://flow.example", False),
    ],
)
def test_an_origin_is_the_same_where_host_and_port_are(
    host: str | None, origin: str | None, same: bool
) -> None:
    assert is_same_origin(host, origin) is same


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "post", "BREW"])
def test_a_change_with_a_session_must_come_from_our_own_pages(method: str) -> None:
    for origin, mark in (("https://evil.example", None), (None, None), ("null", "0"), (None, "")):
        with pytest.raises(ForeignOrigin) as refused:
            require_own_page(method, "flow.example", origin, mark)
        assert refused.value.code == "csrf"
    require_own_page(method, "flow.example", "https://flow.example", None)
    require_own_page(method, "flow.example", None, "1")


def test_what_only_looks_may_come_from_anywhere() -> None:
    for method in ("GET", "HEAD", "OPTIONS", "get"):
        require_own_page(method, "flow.example", "https://evil.example", None)


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("localhost", True),
        ("LOCALHOST:7700", True),
        ("127.0.0.1:7700", True),
        ("127.8.9.1", True),
        ("[::1]:7700", True),
        ("rebound.evil.example:7700", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("10.0.0.1", False),
        ("0.0.0.0", False),
        ("localhost:x", False),
        ("evil.example@localhost", False),
        ("localhost/evil", False),
        ("", False),
        (None, False),
    ],
)
def test_only_a_host_that_is_this_machine_is_loopback(host: str | None, here: bool) -> None:
    assert is_loopback_host(host) is here
