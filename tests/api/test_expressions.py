"""Expressions tried on a sample."""

from __future__ import annotations

from typing import Any

from tests.api.conftest import Answer, Client, Serve


def asked(serve: Serve, *bodies: dict[str, Any]) -> list[Answer]:
    async def talk(client: Client) -> list[Answer]:
        return [await client.post("/api/expressions", body) for body in bodies]

    answers: list[Answer] = serve(talk)
    return answers


def test_an_expression_has_its_value_on_a_sample(serve: Serve) -> None:
    scope = {"data": {"user": "ada@test.edu"}, "steps": {"look": {"output": {"n": 3}}}}

    condition, template = asked(
        serve,
        {"expression": "data.user.endsWith('@test.edu') && steps.look.output.n < 5", "scope": scope},
        {"expression": "Dear ${ data.user }", "scope": scope, "template": True},
    )

    assert (condition.status, condition.json["value"], condition.json["error"]) == (200, True, None)
    assert template.json["value"] == "Dear ada@test.edu"


def test_what_has_no_value_says_why_and_where(serve: Serve) -> None:
    missing, unreadable = asked(
        serve, {"expression": "data.usr == 1", "scope": {"data": {"user": "a"}}}, {"expression": "data. =="}
    )

    assert "did you mean `user`" in missing.json["error"]
    assert (unreadable.status, unreadable.json["line"]) == (200, 1)
    assert unreadable.json["code"]


def test_an_expression_that_works_too_long_is_stopped(serve: Serve) -> None:
    [answer] = asked(
        serve,
        {
            "expression": "data.all(a, data.all(b, data.all(c, a + b + c >= 0)))",
            "scope": {"data": list(range(1000))},
        },
    )

    assert answer.json["code"] == "cost_exceeded"


def test_the_time_now_is_there_for_a_sample_without_one(serve: Serve) -> None:
    [answer] = asked(serve, {"expression": "now > timestamp('2020-01-01T00:00:00Z')"})

    assert answer.json["value"] is True
