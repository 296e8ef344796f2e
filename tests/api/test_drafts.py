"""Drafts over HTTP: JSON and YAML, etags, versions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import CHAIN, Answer, Client, Serve

TEXT = """# what it is for
penstock: 1
name: shop
title: A shop
steps:
  pack: {task: pack}
  send: {task: send, after: pack}
"""
PLAIN = {
    "penstock": 1,
    "name": "shop",
    "title": "A shop",
    "steps": {"pack": {"task": "pack"}, "send": {"task": "send", "after": "pack"}},
}
SHOP = "/api/workflows/shop"
YAML = {"content-type": "application/yaml"}


async def put(client: Client, text: str = TEXT, path: str = SHOP, **headers: str) -> Answer:
    return await client.ask("PUT", path, data=text.encode(), headers=YAML | headers)


def picked(answer: Answer, *names: str) -> tuple[Any, ...]:
    return (answer.status, *(answer.json[name] for name in names))


def test_a_draft_is_kept_as_its_author_wrote_it(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        return [
            await put(client),
            await client.get(SHOP),
            await client.get(SHOP, headers={"accept": "application/yaml"}),
            await put(client, TEXT.replace("A shop", "Shop")),
        ]

    new, read, text, again = serve(talk)

    assert picked(new, "name", "title", "definition", "text") == (201, "shop", "A shop", PLAIN, TEXT)
    assert picked(new, "published_version", "started", "paused", "changed") == (201, None, False, False, True)
    assert picked(new, "updated_by", "verdict") == (201, "local", "proved")
    assert {finding["code"] for finding in new.json["findings"]} == {"unknown-task"}
    assert (read.status, read.json, read.headers["etag"]) == (200, new.json, f'"{new.json["etag"]}"')
    assert (text.text, text.headers["content-type"]) == (TEXT, "application/yaml")
    assert text.headers["etag"] == read.headers["etag"]
    assert picked(again, "title") == (200, "Shop")
    assert again.json["etag"] != new.json["etag"]


def test_a_draft_in_json_reads_as_yaml(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        return [await client.ask("PUT", SHOP, body) for body in (PLAIN, {"definition": PLAIN})]

    bare, wrapped = serve(talk)

    assert picked(bare, "definition") == (201, PLAIN)
    assert bare.json["text"].startswith("penstock: 1\nname: shop\ntitle: A shop\nsteps:\n  pack:\n")
    assert picked(wrapped, "definition", "etag") == (200, PLAIN, bare.json["etag"])


def test_what_was_read_can_be_sent_back_and_keeps_its_comments(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[Answer, Answer]:
        await put(client)
        read = (await client.get(SHOP)).json
        same = await client.ask("PUT", SHOP, read)
        other = await client.ask("PUT", SHOP, {**read, "definition": {**PLAIN, "title": "Other"}})
        return same, other

    same, other = serve(talk)

    assert (same.json["text"], "#" in other.json["text"], other.json["title"]) == (TEXT, False, "Other")


def test_a_draft_that_somebody_changed_meanwhile_is_not_overwritten(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        seen = (await put(client)).headers["etag"]
        others = await put(client, TEXT.replace("A shop", "Theirs"), **{"if-match": seen})
        mine = await put(client, TEXT.replace("A shop", "Mine"), **{"if-match": seen})
        gone = await client.ask("DELETE", SHOP, headers={"if-match": seen})
        published = await client.post(f"{SHOP}/publish", headers={"if-match": seen})
        any_of = f'"x", {others.headers["etag"]}'
        kept = await put(client, TEXT.replace("A shop", "Last"), **{"if-match": any_of})
        return [others, mine, gone, published, kept]

    answers = serve(talk)

    assert [answer.status for answer in answers] == [200, 412, 412, 412, 200]
    assert [answers[n].json["code"] for n in (1, 2, 3)] == ["draft_changed"] * 3
    assert answers[4].json["title"] == "Last"


def test_only_what_is_there_or_is_not_there_can_be_asked_for(serve: Serve) -> None:
    async def talk(client: Client) -> list[int]:
        return [
            (await put(client, **{"if-match": "*"})).status,
            (await put(client, **{"if-none-match": "*"})).status,
            (await put(client, **{"if-none-match": "*"})).status,
            (await put(client, **{"if-match": "*"})).status,
            (await put(client, **{"if-match": "nonsense"})).status,
        ]

    assert serve(talk) == [412, 201, 412, 200, 412]


BOMB = "penstock: 1\nname: shop\nx-0: &a0 [x, x]\n" + "".join(
    f"x-{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)
)
BAD = [
    ("penstock: 1\nname: shop\nstep: {}\n", 422, "invalid_definition"),
    (TEXT.replace("name: shop", "name: other"), 422, "name_mismatch"),
    ("penstock: 1\nname: shop\nsteps: {a: {task: t, after: [}}\n", 400, "invalid_definition"),
    (BOMB, 400, "invalid_definition"),
    ("!!python/object:os.system {}\n", 400, "invalid_definition"),
    ("", 400, "invalid_definition"),
    ("/etc/passwd.yaml", 422, "invalid_definition"),
    (TEXT + "description: " + "x" * 513 * 1024 + "\n", 413, "invalid_definition"),
    (TEXT + "".join(f"  s{n}: {{task: t}}\n" for n in range(500)), 422, "invalid_definition"),
]


@pytest.mark.parametrize(("text", "status", "code"), BAD, ids=[text[:30] for text, _, _ in BAD])
def test_a_definition_that_is_wrong_is_refused_with_its_problems(
    serve: Serve, text: str, status: int, code: str
) -> None:
    async def talk(client: Client) -> tuple[Answer, Answer]:
        return await put(client, text), await client.get(SHOP)

    refused, read = serve(talk)

    assert (refused.status, refused.json["code"], read.status) == (status, code, 404)
    if code == "invalid_definition":
        assert {"path", "code", "message", "line", "column"} == set(refused.json["errors"][0])


@pytest.mark.parametrize(
    ("body", "code"),
    [([], "invalid_request"), ({"definition": 1}, "invalid_request"), ({"steps": {}}, "invalid_definition")],
)
def test_json_that_is_no_definition_is_refused(serve: Serve, body: Any, code: str) -> None:
    answer = serve(lambda client: client.ask("PUT", SHOP, body))

    assert (answer.status, answer.json["code"]) == (422, code)


def test_a_definition_of_another_type_is_refused(serve: Serve) -> None:
    answer = serve(lambda client: client.ask("PUT", SHOP, data=b"x", headers={"content-type": "text/plain"}))

    assert answer.status == 415


def test_a_draft_is_discarded_and_its_versions_stay(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        await put(client)
        gone = await client.ask("DELETE", SHOP)
        never = await client.ask("DELETE", SHOP)
        published = await client.get("/api/workflows/chain")
        await client.ask("PUT", "/api/workflows/chain", {**CHAIN, "title": "Draft"})
        changed = await client.get("/api/workflows/chain")
        await client.ask("DELETE", "/api/workflows/chain")
        return [gone, never, published, changed, await client.get("/api/workflows/chain")]

    gone, never, published, changed, back = serve(talk)

    assert (gone.status, gone.text, never.status, never.json["code"]) == (204, "", 404, "unknown_workflow")
    assert picked(published, "published_version", "changed", "started") == (200, 1, False, True)
    assert picked(changed, "title", "changed", "published_version") == (200, "Draft", True, 1)
    assert back.json == published.json


def test_workflows_are_listed_page_by_page(serve: Serve) -> None:
    async def talk(client: Client) -> list[Any]:
        await put(client)
        await client.ask("PUT", "/api/workflows/chain", {**CHAIN, "title": "Two steps"})
        run = (await client.post("/api/workflows/chain/runs")).json["id"]
        await client.engine.wait(run, 10)
        first = (await client.get("/api/workflows?limit=1")).json
        second = (await client.get(f"/api/workflows?limit=1&cursor={first['next']}")).json
        found = [
            (await client.get(f"/api/workflows?q={q}")).json["items"] for q in ("HAI", "TWO", "a+shop", "x")
        ]
        return [first, second, [[item["name"] for item in items] for items in found]]

    first, second, found = serve(talk)

    [chain], [shop] = first["items"], second["items"]
    none = dict.fromkeys(("running", "waiting", "paused", "stalled", "failed", "canceled", "timed_out"), 0)
    times = {"updated_at": chain.pop("updated_at")}
    assert chain == {
        "name": "chain",
        "title": "Two steps",
        "published_version": 1,
        "started": True,
        "paused": False,
        "changed": True,
        "updated_by": "local",
        "runs": {**none, "succeeded": 1},
    }
    assert (shop["name"], shop["title"], shop["published_version"], shop["changed"]) == (
        "shop",
        "A shop",
        None,
        True,
    )
    assert (first["next"] is None, second["next"], times["updated_at"] < shop["updated_at"]) == (
        False,
        None,
        False,
    )
    assert found == [["chain"], ["chain"], ["shop"], []]


def test_a_version_can_be_read_and_restored(serve: Serve) -> None:
    async def talk(client: Client) -> list[Answer]:
        for title in ("One", "Two", "Three"):
            await put(client, TEXT.replace("A shop", title))
            await client.post(f"{SHOP}/publish", {"note": f"note {title}"})
        first = await client.get(f"{SHOP}/versions?limit=2")
        return [
            first,
            await client.get(f"{SHOP}/versions?limit=2&cursor={first.json['next']}"),
            await client.get(f"{SHOP}/versions/1"),
            await client.get(f"{SHOP}/versions/1", headers={"accept": "text/yaml"}),
            await client.post(f"{SHOP}/versions/1/restore"),
            await client.get(SHOP),
        ]

    page, rest, one, text, restored, draft = serve(talk)

    assert [(item["version"], item["note"]) for item in page.json["items"]] == [
        (3, "note Three"),
        (2, "note Two"),
    ]
    assert ([item["version"] for item in rest.json["items"]], rest.json["next"]) == ([1], None)
    assert picked(one, "name", "version", "definition", "note") == (
        200,
        "shop",
        1,
        {**PLAIN, "title": "One"},
        "note One",
    )
    assert one.json["text"] == text.text == TEXT.replace("A shop", "One")
    assert picked(restored, "title", "changed", "published_version") == (200, "One", True, 3)
    assert draft.json == restored.json


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/workflows/nothing", 404, "unknown_workflow"),
        ("/api/workflows/nothing/versions", 404, "unknown_workflow"),
        ("/api/workflows/chain/versions/2", 404, "unknown_version"),
        ("/api/workflows/chain/versions/99999999999", 404, "unknown_version"),
        ("/api/workflows/chain/versions/x", 404, "not_found"),
        ("/api/workflows/chain/versions/0", 404, "not_found"),
        ("/api/workflows/chain/versions/" + "1" * 5_000, 404, "not_found"),
        ("/api/workflows/chain/versions/" + "0" * 19 + "1" * 5_000, 404, "not_found"),
        ("/api/workflows/chain/versions?cursor=x", 400, "bad_cursor"),
        ("/api/workflows?limit=0", 400, "invalid_parameter"),
    ],
)
def test_what_is_not_there_is_not_found(serve: Serve, path: str, status: int, code: str) -> None:
    answer = serve(lambda client: client.get(path))

    assert (answer.status, answer.json["code"]) == (status, code)


def test_a_draft_without_a_step_is_kept_but_neither_proved_nor_published(serve: Serve) -> None:
    empty = {"penstock": 1, "name": "shop", "steps": {}}

    async def talk(client: Client) -> list[Answer]:
        return [
            await client.ask("PUT", SHOP, json=empty),
            await client.get(SHOP),
            await client.ask("POST", f"{SHOP}/check", json={}),
            await client.ask("POST", "/api/check", json={"definition": empty}),
            await client.ask("POST", f"{SHOP}/publish", json={"override": "now"}),
            await put(client),
        ]

    new, read, checked, strict, refused, filled = serve(talk)

    assert picked(new, "definition", "verdict") == (201, empty, "undecided")
    assert (read.status, read.json) == (200, new.json)
    assert picked(checked, "verdict") == (200, "undecided")
    assert picked(strict, "code") == (422, "invalid_definition")
    assert picked(refused, "code") == (422, "invalid_definition")
    assert picked(filled, "verdict") == (200, "proved")
