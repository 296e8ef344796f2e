"""The web pages: where they are served, what a browser is told about them, and where they are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yarl

from penstock.api.routes import pages
from penstock.web import built
from tests.api.conftest import Client, Serve

DOCUMENT = f'<!doctype html><meta name="csp-nonce" content="{built.NONCE}"><div id="root"></div>'


@pytest.fixture
def dist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of built pages, with nothing in it."""
    monkeypatch.setattr(pages, "document", partial(built.document, tmp_path))
    monkeypatch.setattr(pages, "asset", lambda name: built.asset.__wrapped__(name, tmp_path))
    monkeypatch.setattr(pages, "icon", partial(built.icon, tmp_path))
    (tmp_path / "assets").mkdir()
    yield tmp_path


def fill(dist: Path) -> None:
    (dist / "index.html").write_text(DOCUMENT)
    (dist / "favicon.svg").write_text("<svg/>")
    (dist / "assets" / "main-1.js").write_text("export {}")
    (dist / "secret.js").write_text("no")


@pytest.mark.parametrize("path", ["/", "/app/", "/app/runs", "/app/workflows/a%2Fb/edit?x=1"])
def test_the_document_is_at_every_address_of_a_page(serve: Serve, dist: Path, path: str) -> None:
    fill(dist)

    async def talk(client: Client) -> Any:
        return await client.get(path)

    answer = serve(talk)

    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert '<div id="root">' in answer.text


def test_the_policy_allows_no_script_or_style_that_is_not_ours(serve: Serve, dist: Path) -> None:
    fill(dist)

    async def talk(client: Client) -> Any:
        return [await client.get("/"), await client.get("/")]

    first, second = serve(talk)
    policy = first.headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "connect-src 'self';" in policy
    assert "unsafe" not in policy
    assert first.headers["x-frame-options"] == "DENY"
    nonces = [re.search(r'content="([^"]+)"', each.text) for each in (first, second)]
    words = [each[1] for each in nonces if each is not None]
    assert f"'nonce-{words[0]}'" in policy
    assert words[0] != words[1]


@pytest.mark.parametrize(
    ("host", "apart"),
    [("127.0.0.1:7777", "same-origin"), ("localhost", "same-origin"), ("flows.example", None)],
)
def test_only_lines_that_a_browser_trusts_are_kept_apart_from_other_windows(
    serve: Serve, dist: Path, host: str, apart: str | None
) -> None:
    fill(dist)

    async def talk(client: Client) -> Any:
        return await client.get("/", headers={"host": host})

    assert serve(talk, open=False).headers.get("cross-origin-opener-policy") == apart


def test_a_file_may_be_kept_for_ever(serve: Serve, dist: Path) -> None:
    fill(dist)

    async def talk(client: Client) -> Any:
        return await client.get("/app/assets/main-1.js")

    answer = serve(talk)

    assert (answer.status, answer.text) == (200, "export {}")
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "immutable" in answer.headers["cache-control"]


def test_a_file_goes_packed_to_who_can_unpack_it(serve: Serve, dist: Path) -> None:
    fill(dist)

    async def talk(client: Client) -> Any:
        plain = {"accept-encoding": "identity"}
        ways: tuple[dict[str, str], ...] = ({}, plain)
        return [await client.get("/app/assets/main-1.js", headers=dict(each)) for each in ways]

    packed, plain = serve(talk)

    assert (packed.headers["content-encoding"], packed.text) == ("gzip", "export {}")
    assert "content-encoding" not in plain.headers
    assert plain.text == "export {}"


@pytest.mark.parametrize("name", ["none.js", "..%2Fsecret.js", "..%5Csecret.js", "main-1.js%00", ".."])
def test_what_is_no_file_of_the_pages_is_not_found(serve: Serve, dist: Path, name: str) -> None:
    fill(dist)

    async def talk(client: Client) -> Any:
        async with client.session.get(yarl.URL(f"{client.base}/app/assets/{name}", encoded=True)) as answer:
            return answer.status, answer.headers["content-type"]

    assert serve(talk) == (404, "application/problem+json")


def test_the_picture_beside_the_title_is_there(serve: Serve, dist: Path) -> None:
    fill(dist)

    async def talk(client: Client) -> Any:
        return await client.get("/favicon.ico")

    assert serve(talk).headers["content-type"] == "image/svg+xml"


def test_pages_that_are_not_built_say_how_to_build_them(serve: Serve, dist: Path) -> None:
    async def talk(client: Client) -> Any:
        return await client.get("/app/runs")

    answer = serve(talk)

    assert answer.status == 200
    assert "make install" in answer.text


def test_no_other_path_serves_html(serve: Serve, dist: Path) -> None:
    fill(dist)

    async def talk(client: Client) -> Any:
        return [await client.get(path) for path in ("/application", "/index.html", "/api/none", "/app")]

    assert {answer.headers["content-type"] for answer in serve(talk)} == {"application/problem+json"}
