"""Bad inputs by their number in bad_inputs.txt, where no other file has them, each with the answer that is promised."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any, get_origin
from zipfile import ZipFile

import pytest

from penstock.api.paging import Page
from penstock.api.table import CALLS
from penstock.flow.format.definition_parser import read_definition
from penstock.objects.s3_notifications import read_notices
from penstock.sources.schedules.rules import rules_of
from tests.api.conftest import CHAIN, Answer, Client, Serve
from tests.trust.figures import write
from tests.trust.indices import BAD_INPUTS, ROOT, listed

RUNS = "/api/workflows/chain/runs"


def test_every_bad_input_has_a_test() -> None:
    rows = listed(BAD_INPUTS)
    tests = [test.split("::") for named in rows.values() for test in named]
    gone = [name for file, name in tests if f"def {name}(" not in (ROOT / file).read_text()]

    write("bad-inputs", {"bad inputs": len(rows)})
    assert list(rows) == [str(number) for number in range(1, 67)]
    assert ([row for row, named in rows.items() if not named], gone) == ([], [])


def told(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json["code"]


@pytest.mark.parametrize("kind", ["application/zip", "application/json", "application/yaml", "text/yaml"])
def test_5_no_archive_is_taken(serve: Serve, kind: str) -> None:
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("../../x", "penstock: 1")

    async def talk(client: Client) -> set[int]:
        headers, data = {"content-type": kind}, packed.getvalue()
        asked = (("PUT", "/api/workflows/chain"), ("POST", "/api/import"), ("POST", "/api/check"))
        return {(await client.ask(*each, data=data, headers=dict(headers))).status for each in asked}

    assert serve(talk) <= {400, 415}


@pytest.mark.parametrize(
    "query",
    [
        "sort=id;drop table",
        "limit=-1",
        "limit=1e9",
        "limit=0",
        "limit=201",
        "status=odd",
        "since=soon",
        "odd=1",
    ],
)
def test_19_a_list_that_cannot_be_is_refused(serve: Serve, query: str) -> None:
    assert serve(lambda client: client.get(f"/api/runs?{query}")).status == 400


async def every_list(client: Client) -> list[str]:
    """The paths of all lists there are."""
    run = await client.engine.start("chain")
    await client.engine.wait(run, 10)
    lists = [call.path for call in CALLS if get_origin(call.gives) is Page]
    return [path.format(name="chain", id=run) for path in lists]


@pytest.mark.parametrize("query", ["limit=-1", "limit=0", "limit=1e9", "limit=1001", "odd=1"])
def test_19_no_list_takes_what_cannot_be(serve: Serve, query: str) -> None:
    async def talk(client: Client) -> dict[str, int]:
        paths = await every_list(client)
        assert len(paths) > 10
        return {path: (await client.get(f"{path}?{query}")).status for path in paths}

    assert set(serve(talk).values()) == {400}


@pytest.mark.parametrize("cursor", ["x", "chain", "AAAA", "%00", "a" * 3000])
def test_20_a_cursor_that_nobody_gave_is_refused(serve: Serve, cursor: str) -> None:
    async def talk(client: Client) -> dict[str, int]:
        paths = await every_list(client)
        return {path: (await client.get(f"{path}?cursor={cursor}")).status for path in paths}

    assert {path: status for path, status in serve(talk).items() if status != 400} == {}


def test_19_no_call_takes_a_parameter_that_it_does_not_know(serve: Serve) -> None:
    """Those that the identity provider sends may be any."""

    async def talk(client: Client) -> dict[str, Any]:
        calls = [each for each in CALLS if each.path.startswith("/api/") and not each.others]
        values = {"name": "chain", "id": "x", "v": "1", "step": "first", "number": "1"}
        return {
            call.name: told(await client.ask(call.method, call.path.format(**values) + "?odd=1"))
            for call in calls
        }

    answers = serve(talk)

    assert len(answers) > 50
    assert {name: got for name, got in answers.items() if got != (400, "unknown_parameter")} == {}


def test_24_a_key_with_another_input_is_refused(serve: Serve) -> None:
    async def talk(client: Client) -> list[tuple[int, str]]:
        first = await client.post(RUNS, {"idempotency_key": "k", "input": {"a": 1}})
        assert first.status == 201
        return [told(await client.post(RUNS, {"idempotency_key": "k", "input": {"a": 2}}))]

    assert serve(talk) == [(422, "idempotency_mismatch")]


def test_26_a_workflow_or_version_that_is_not_there_is_not_found(serve: Serve) -> None:
    async def talk(client: Client) -> list[tuple[int, str]]:
        unknown = await client.post("/api/workflows/nothing/runs", {})
        version = await client.post(RUNS, {"version": 9})
        return [told(unknown), told(version)]

    assert serve(talk) == [(404, "unknown_workflow"), (404, "unknown_version")]


def test_27_an_input_that_does_not_fit_is_told_place_by_place(serve: Serve) -> None:
    async def talk(client: Client) -> Answer:
        params = {
            "type": "object",
            "properties": {"n": {"type": "integer"}, "list": {"items": {"type": "string"}}},
            "additionalProperties": {"items": {"type": "string"}},
        }
        await client.engine.publish({**CHAIN, "name": "strict", "params": params})
        return await client.post(
            "/api/workflows/strict/runs", {"input": {"n": "x", "list": ["a", 1], "a b/c.d~": [1]}}
        )

    answer = serve(talk)

    assert told(answer) == (422, "invalid_input")
    assert sorted(each["path"] for each in answer.json["errors"]) == [
        "/input/a b~1c.d~0/0",
        "/input/list/1",
        "/input/n",
    ]


@pytest.mark.parametrize(
    "key",
    [
        "../../etc/passwd",
        "a//b/./c",
        "\U0001f600.mp4",
        "x" * 1024,
        "-rf",
        "$(id)",
        "a\u202eb",
        " ",
        "a\\b",
        "%",
    ],
)
def test_35_a_key_is_taken_as_it_is(key: str) -> None:
    record = {"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": "b"}, "object": {"key": key}}}

    assert [notice.keys for notice in read_notices({"Records": [record]})] == [(key,)]
    assert read_notices({"Records": []}) == []


def test_38_an_event_for_nobody_is_kept_and_shown(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[Any, int, Any]:
        await client.engine.publish(
            "penstock: 1\nname: w\nexternal: [paid]\nsteps: {a: {task: one, after: paid}}\n"
        )
        sent = [
            told(await client.post("/api/events", {"event": event, "key": {"order": "7"}}))
            for event in ("piad", "OK")
        ]
        taken = await client.post("/api/events", {"event": "paid", "key": {"order": "7"}})
        return sent, taken.status, (await client.get("/api/events/undelivered")).json["items"]

    refused, status, [kept] = serve(talk)

    assert refused == [(422, "undeclared_event")] * 2
    assert (status, kept["event"], kept["key"]) == (202, "paid", {"order": "7"})


DEFINITIONS: list[tuple[str, Any, int, str]] = [
    ("48 a condition that is null", {"if": "null " * 2000}, 422, "bad_expression"),
    ("49 a long expression", {"if": "1 + " * 5000 + "1 > 0"}, 422, "bad_expression"),
    ("49 a deep expression", {"if": "(" * 1000 + "true" + ")" * 1000}, 422, "bad_expression"),
    (
        "50 a pattern that explodes",
        {"if": "data.a.matches('((a{1,1000}){1,1000}){1,1000}')"},
        422,
        "bad_expression",
    ),
]


@pytest.mark.parametrize(
    ("what", "params", "status", "code"), DEFINITIONS, ids=[each[0] for each in DEFINITIONS]
)
def test_48_to_50_an_expression_that_cannot_be_is_refused_when_it_is_saved(
    serve: Serve, what: str, params: dict[str, str], status: int, code: str
) -> None:
    definition = {**CHAIN, "steps": {"first": {"task": "decide", "with": params}}}

    answer = serve(lambda client: client.ask("PUT", "/api/workflows/chain", definition))

    assert answer.status == status
    assert [each["code"] for each in answer.json["errors"]] == [code]


@pytest.mark.parametrize(
    "condition",
    ["null", "1 / 0 == 1", "data.gone", "data.n", "'true'", "[true]", "data.n / 0 > 1 && true", "!data.n"],
)
def test_48_a_condition_without_a_truth_fails_its_step_with_the_place(serve: Serve, condition: str) -> None:
    step = {"task": "decide", "with": {"if": condition}, "emits": {"yes": "big"}}
    definition = {**CHAIN, "name": "odd", "steps": {"first": step, "then": {"task": "one", "after": ["big"]}}}

    async def talk(client: Client) -> Any:
        saved = await client.ask("PUT", "/api/workflows/odd", definition)
        published = await client.post("/api/workflows/odd/publish", {})
        if saved.status == 422 or published.status == 422:
            return None
        run = (await client.post("/api/workflows/odd/runs", {"input": {"n": 1}})).json["id"]
        return await client.engine.wait(run, 10)

    run = serve(talk)

    if run is not None:
        assert (run["status"], run["error"]["kind"]) == ("failed", "expression")
        assert "column" in run["error"]["message"] and run["steps"]["then"]["status"] != "complete"


@pytest.mark.parametrize(
    "expression", ["data.__class__ == null", "data.constructor == 1", "data.__proto__ == 1"]
)
def test_51_names_of_hosts_are_plain_keys_that_are_missing(serve: Serve, expression: str) -> None:
    definition = {
        **CHAIN,
        "name": "odd",
        "steps": {"first": {"task": "decide", "with": {"if": expression}}},
    }

    async def talk(client: Client) -> Any:
        await client.engine.publish(definition)
        run = (await client.post("/api/workflows/odd/runs", {"input": {}})).json["id"]
        return await client.engine.wait(run, 10)

    run = serve(talk)

    assert (run["status"], run["error"]["kind"]) == ("failed", "expression")


def test_51_such_keys_are_plain_data(serve: Serve) -> None:
    data = {"__proto__": {"a": 1}, "constructor": 2, "__class__": None}

    assert serve(lambda client: client.post(RUNS, {"input": data})).json["input"] == data


def test_52_a_net_that_cannot_finish_is_saved_but_not_published(serve: Serve) -> None:
    stuck = {
        **CHAIN,
        "name": "stuck",
        "steps": {"a": {"task": "one", "after": ["b"]}, "b": {"task": "two", "after": ["a"]}},
    }

    async def talk(client: Client) -> tuple[int, Answer]:
        saved = await client.ask("PUT", "/api/workflows/stuck", stuck)
        return saved.status, await client.post("/api/workflows/stuck/publish", {})

    saved, refused = serve(talk)

    assert (saved, told(refused)) == (201, (422, "check_failed"))
    assert any(finding["severity"] == "error" for finding in refused.json["findings"])


@pytest.mark.parametrize(
    ("steps", "code", "path"),
    [
        ({}, "wrong_value", "steps"),
        ({"a": {"task": "one", "after": ["nowhere"]}}, None, '"step":"a"'),
        ({"a": {"task": "one", "after": ["a"]}}, None, '"step":"a"'),
        ({"a": {"task": "one"}, "b": {"task": "one", "after": [{"need": 3, "of": ["a"]}]}}, None, "steps.b"),
        ({str(number): {"task": "one"} for number in range(501)}, "too_many", "steps"),
    ],
    ids=["no step", "an event from nowhere", "never begins", "more than there are", "501 steps"],
)
def test_52_a_net_that_cannot_be_is_refused_with_the_places(
    serve: Serve, steps: Any, code: str | None, path: str
) -> None:
    async def talk(client: Client) -> tuple[Answer, Answer]:
        body = {"definition": {**CHAIN, "name": "odd", "steps": steps}}
        return await client.post("/api/workflows/odd/publish", body), await client.get(
            "/api/workflows/odd/versions"
        )

    refused, versions = serve(talk)

    assert refused.status == 422
    assert path in refused.text and (code is None or code in refused.text)
    assert versions.status == 404


def test_52_a_net_of_more_steps_than_an_object_has_keys_is_refused_as_it_is_read(serve: Serve) -> None:
    steps = {str(number): {"task": "one"} for number in range(10_001)}
    answer = serve(lambda client: client.ask("PUT", "/api/workflows/odd", {**CHAIN, "steps": steps}))

    assert told(answer) == (400, "too_many_keys")


@pytest.mark.parametrize(
    "text",
    [
        "a0: &a0 [x]\n" + "".join(f"a{n + 1}: &a{n + 1} [*a{n}, *a{n}, *a{n}]\n" for n in range(40)),
        "penstock: 1\nname: !!python/object:os.system x\n",
        "penstock: 1\nname: chain\nname: chain\nsteps: {}\n",
        "\tnot yaml",
        "[" * 500,
    ],
)
def test_53_a_text_that_is_no_plain_yaml_is_refused(serve: Serve, text: str) -> None:
    async def talk(client: Client) -> Answer:
        headers = {"content-type": "application/yaml"}
        return await client.ask("PUT", "/api/workflows/chain", data=text.encode(), headers=headers)

    assert serve(talk).status == 400


@pytest.mark.parametrize("name", ["<script>", "a\u202eb", "x" * 300, "   ", "a/b", "é"])
def test_54_a_name_that_could_mislead_is_refused(serve: Serve, name: str) -> None:
    answer = serve(lambda client: client.post("/api/check", {**CHAIN, "name": name}))

    assert answer.status == 422


def scheduled(**source: Any) -> dict[str, Any]:
    return {**CHAIN, "name": "ticking", "source": {"kind": "schedule", **source}}


@pytest.mark.parametrize(
    "source",
    [
        {"cron": "* * * * * *"},
        {"cron": "60 25 * * *"},
        {"cron": "0 0 30 2 *"},
        {"cron": "0 0 * * *", "tz": "Mars/X"},
        {"cron": "0 0 * * *", "tz": "../../etc/passwd"},
        {"cron": "0 0 * * *", "every": "1m"},
        {},
        {"cron": ""},
    ],
)
def test_60_a_clock_that_cannot_be_is_refused(serve: Serve, source: dict[str, Any]) -> None:
    answer = serve(lambda client: client.ask("PUT", "/api/workflows/ticking", scheduled(**source)))

    assert answer.status == 422


def test_61_a_schedule_cannot_flood_the_server(serve: Serve) -> None:
    async def talk(client: Client) -> list[int]:
        asked = [scheduled(every=every) for every in ("999ms", "0s", "1ms")]
        return [(await client.ask("PUT", "/api/workflows/ticking", each)).status for each in asked]

    assert serve(talk) == [422] * 3
    assert rules_of(read_definition(json.dumps(scheduled(every="1s")))).room == 1


def test_63_what_does_not_fit_the_state_of_a_run_is_refused(serve: Serve) -> None:
    async def talk(client: Client) -> list[tuple[int, str]]:
        run = (await client.post(RUNS, {})).json["id"]
        await client.engine.wait(run, 10)
        path = f"/api/runs/{run}"
        put = {"put": [{"step": "second", "slot": 0, "event": "first"}]}
        return [
            told(await client.post(f"{path}/cancel")),
            told(await client.post(f"{path}/retry")),
            told(await client.post(f"{path}/steps/second/skip", {})),
            told(await client.ask("PATCH", f"{path}/marking", put)),
        ]

    assert [status for status, _ in serve(talk)] == [409, 409, 409, 409]


def test_64_a_draft_that_somebody_else_saved_is_not_overwritten(serve: Serve) -> None:
    async def talk(client: Client) -> list[int]:
        path = "/api/workflows/chain"
        first = (await client.ask("PUT", path, CHAIN)).headers["etag"]
        saved = await client.ask("PUT", path, {**CHAIN, "title": "Theirs"}, headers={"if-match": first})
        stale = await client.ask("PUT", path, {**CHAIN, "title": "Mine"}, headers={"if-match": first})
        return [saved.status, stale.status]

    assert serve(talk) == [200, 412]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"zzz": 1}, "/zzz"),
        ({"labels": {"team": 1}}, "/labels/team"),
        ({"labels": {"a": "x", "b/c": None}}, "/labels/b~1c"),
        ({"labels": {"a=b": "x"}}, "/labels"),
        ({"labels": {"": "x"}}, "/labels"),
        ({"labels": {"n" * 101: "x"}}, "/labels"),
        ({"labels": {"a": "x" * 257}}, "/labels/a"),
        ({"labels": {str(n): "x" for n in range(51)}}, "/labels"),
        ({"subject": ""}, "/subject"),
        ({"subject": "x" * 1001}, "/subject"),
    ],
)
def test_what_does_not_fit_is_pointed_at(serve: Serve, body: Any, path: str) -> None:
    answer = serve(lambda client: client.post("/api/workflows/chain/runs", body))

    assert (answer.status, answer.json["code"]) == (422, "invalid_request")
    assert [each["path"] for each in answer.json["errors"]] == [path]


def test_what_is_missing_is_pointed_at(serve: Serve) -> None:
    answer = serve(lambda client: client.post("/api/runs/bulk", {"filter": {}}))

    assert [each["path"] for each in answer.json["errors"]] == ["/action"]


@pytest.mark.parametrize(
    ("query", "path"), [("zzz=1", "zzz"), ("limit=0", "limit"), ("status=odd", "status")]
)
def test_a_parameter_that_is_wrong_is_named(serve: Serve, query: str, path: str) -> None:
    answer = serve(lambda client: client.get(f"/api/runs?{query}"))

    assert (answer.status, [each["path"] for each in answer.json["errors"]]) == (400, [path])
