"""Where a server may listen without sign-in."""

from __future__ import annotations

import pytest

from penstock.server.build import Front, NeedsToken, WeakToken, refuse_open

TOKEN = "0123456789abcdef0123"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_this_machine_alone_needs_no_token(host: str) -> None:
    front = Front(host, 7777)

    refuse_open(front)

    assert front.local


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "localhost.example", "db.example", ""])
def test_any_other_address_needs_one(host: str) -> None:
    with pytest.raises(NeedsToken):
        refuse_open(Front(host, 7777))

    refuse_open(Front(host, 7777, TOKEN))
    refuse_open(Front(host, 7777), tokens=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_that_could_be_guessed_is_refused(host: str) -> None:
    with pytest.raises(WeakToken):
        refuse_open(Front(host, 7777, TOKEN[:-1]))
