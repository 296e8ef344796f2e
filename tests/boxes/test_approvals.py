"""`approval`: one question, one decision, by who may (C17), on both databases."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock import CheckFailed
from penstock.access.caller import ANYBODY_HERE
from penstock.access.tokens import TokenRequest
from penstock.engine import approvals
from penstock.flow.model.problems import DefinitionError
from penstock.runtime.commands.approval_bypass import barring
from penstock.runtime.errors import AlreadyDecided
from tests.boxes.conftest import Site, site
from tests.waiting import until

FORM = {"type": "object", "required": ["price"], "properties": {"price": {"type": "integer"}}}


def asks(**more: Any) -> dict[str, Any]:
    step = {
        "task": "approval",
        "with": {"text": "Publish?", **more},
        "emits": {"approved": "yes", "rejected": "no"},
    }
    return {"steps": {"ask": step, "sorry": {"task": "set", "after": "no", "with": {"sorry": True}}}}


async def token(here: Site, role: Any, name: str) -> str:
    made = await here.service.access.create(ANYBODY_HERE, TokenRequest(role=role, name=name))
    return made.token


def test_a_run_waits_for_a_person_and_goes_on_with_the_decision(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here:
            run = await here.run(asks(fields=FORM), subject="video 7")
            assert (run["status"], run["waiting_for"]) == ("waiting", ["ask"])

            _, inbox = await here.ask("GET", "/api/approvals")
            [item] = inbox["items"]
            assert (item["text"], item["subject"], item["fields"], item["status"]) == (
                "Publish?",
                "video 7",
                FORM,
                "open",
            )
            status, decided = await here.ask(
                "POST",
                f"/api/approvals/{item['id']}",
                {"decision": "approved", "fields": {"price": 3}, "comment": "ok"},
            )
            ended = await here.engine.wait(run["id"], 20)

            assert (status, decided["status"], ended["status"]) == (200, "approved", "succeeded")
            output = ended["steps"]["ask"]["output"]
            assert output == decided["decision"]
            assert (output["decision"], output["fields"], output["by"]) == (
                "approved",
                {"price": 3},
                "settings",
            )

    asyncio.run(main())


def test_a_second_decision_is_answered_with_the_first(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here:
            run = await here.run(asks())
            [item] = await here.engine.approvals()
            path = f"/api/approvals/{item['id']}"

            answers = await asyncio.gather(
                *(here.ask("POST", path, {"decision": word}) for word in ("approved", "rejected", "approved"))
            )
            late = await here.ask("POST", path, {"decision": "rejected"})

            assert sorted(status for status, _ in answers) == [200, 409, 409]
            assert late[0] == 409 and late[1]["code"] == "already_decided"
            first = (await here.engine.show(run["id"]))["steps"]["ask"]["output"]
            assert f"was {first['decision']} by" in late[1]["detail"]
            assert late[1]["decision"] == first

    asyncio.run(main())


def test_fields_that_do_not_fit_the_form_are_refused_with_their_paths(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here:
            await here.run(asks(fields=FORM))
            [item] = await here.engine.approvals()

            bad = await here.ask(
                "POST", f"/api/approvals/{item['id']}", {"decision": "approved", "fields": {"price": "x"}}
            )
            missing = await here.ask("POST", f"/api/approvals/{item['id']}", {"decision": "approved"})
            rejected = await here.ask("POST", f"/api/approvals/{item['id']}", {"decision": "rejected"})

            assert (bad[0], [each["path"] for each in bad[1]["errors"]]) == (422, ["/fields/price"])
            assert missing[0] == 422
            assert rejected[0] == 200

    asyncio.run(main())


def test_only_the_role_or_one_above_it_decides(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here:
            await here.run(asks(role="author"))
            [item] = await here.engine.approvals()
            path, word = f"/api/approvals/{item['id']}", {"decision": "approved"}
            viewer, operator = await token(here, "viewer", "vera"), await token(here, "operator", "otto")
            author = await token(here, "author", "anna")

            seen = {
                who: (await here.ask("GET", "/api/approvals", token=who))[1]["items"][0]["may_decide"]
                for who in (viewer, operator, author)
            }
            answers = [
                (await here.ask("POST", path, word, token=who))[0] for who in (viewer, operator, author)
            ]

            assert list(seen.values()) == [False, False, True]
            assert answers == [403, 403, 200]

    asyncio.run(main())


def test_four_eyes_neither_who_started_nor_who_decided_before(url: str, tmp_path: Path) -> None:
    second = {"task": "approval", "after": "ask.approved", "with": {"separate": True}}
    workflow = {"steps": {"ask": {"task": "approval", "with": {"separate": True}}, "again": second}}

    async def main() -> None:
        async with site(tmp_path, url) as here:
            await here.engine.publish({"penstock": 1, "name": "w", **workflow})
            anna, otto, olga = [await token(here, "operator", name) for name in ("anna", "otto", "olga")]
            _, run = await here.ask("POST", "/api/workflows/w/runs", {}, token=anna)

            async def decide(who: str) -> tuple[int, str]:
                [item] = await here.engine.approvals()
                status, said = await here.ask(
                    "POST", f"/api/approvals/{item['id']}", {"decision": "approved"}, who
                )
                return status, said.get("code", "")

            async def may(who: str) -> tuple[bool, str | None]:
                [item] = (await here.ask("GET", "/api/approvals", token=who))[1]["items"]
                return item["may_decide"], item["barred"]

            assert [await may(anna), await may(otto)] == [(False, "started the run"), (True, None)]
            first = [await decide(anna), await decide(otto)]
            await here.until(run["id"], "again", "running")
            then = [await decide(anna), await decide(otto), await decide(olga)]

            assert first == [(403, "not_separate"), (200, "")]
            assert then == [(403, "not_separate"), (403, "not_separate"), (200, "")]

    asyncio.run(main())


def test_nobody_in_time_fails_the_step_as_a_time_out(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here:
            await here.engine.publish({"penstock": 1, "name": "w", **asks(due="100ms")})
            run = await here.engine.wait(await here.engine.start("w"), 20)

            error = run["steps"]["ask"]["error"]
            assert (run["status"], error["kind"], run["steps"]["ask"]["attempts"]) == ("failed", "timeout", 1)
            [item] = await here.engine.approvals(status=None)
            assert item["status"] == "expired"
            with pytest.raises(AlreadyDecided):
                await here.engine.decide(item["id"], "approved")
            status, late = await here.ask("POST", f"/api/approvals/{item['id']}", {"decision": "approved"})
            assert (status, late["code"], "decision" in late) == (410, "approval_expired", False)

    asyncio.run(main())


def test_time_is_given_from_the_question_on_and_not_while_it_queues_for_its_key(
    url: str, tmp_path: Path
) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here:
            workflow = asks(due="1d")
            workflow["steps"]["ask"]["serialize"] = "'one'"
            first = await here.run(workflow)
            second = await here.engine.start("w")
            [asked] = await here.engine.approvals()
            await here.engine.decide(asked["id"], "approved")
            begun = (await here.engine.wait(first["id"], 20))["ended_at"]
            await here.engine.wait(second, 20, rest=True)

            [then] = await here.engine.approvals()
            assert datetime.fromisoformat(then["due_at"]) - timedelta(days=1) >= datetime.fromisoformat(begun)
            assert (await here.engine.why(second))["steps"][0]["due"] == then["due_at"]

    asyncio.run(main())


def test_a_withdrawn_firing_closes_its_approval(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here:
            run = await here.run(asks())
            await here.engine.cancel(run["id"])

            [item] = await here.engine.approvals(status=None)
            assert item["status"] == "closed"
            answer = await here.ask("POST", f"/api/approvals/{item['id']}", {"decision": "approved"})
            assert (answer[0], answer[1]["code"]) == (409, "already_decided")

    asyncio.run(main())


def test_each_asks_for_every_item_and_all_must_be_approved_or_not(url: str, tmp_path: Path) -> None:
    workflow = {
        "steps": {
            "ask": {"task": "decide", "with": {"if": "true"}},
            "votes": {
                "task": "workflow",
                "each": "data.people",
                "with": {"name": "vote", "subject": "${ item }"},
            },
        }
    }

    async def main() -> None:
        async with site(tmp_path, url) as here:
            await here.engine.publish(
                {
                    "penstock": 1,
                    "name": "vote",
                    "steps": {"v": {"task": "approval"}},
                }
            )
            await here.engine.publish({"penstock": 1, "name": "w", **workflow})
            run = await here.engine.start("w", input={"people": ["ann", "bob"]})
            items = await until(here.engine.approvals, "two questions", so=lambda items: len(items) == 2)
            for item in items:
                await here.engine.decide(item["id"], "approved", by=item["subject"])

            assert (await here.engine.wait(run, 20))["status"] == "succeeded"

    asyncio.run(main())


def test_the_approvals_of_one_run_are_looked_through_once_for_a_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each of two hundred, all of thousands of the same run were."""
    step = {"task": "approval", "after": "asked", "parallel": 10, "with": {"separate": True}}
    workflow = {"endless": True, "external": [{"name": "asked", "many": True}], "steps": {"ask": step}}
    looked: list[str] = []

    async def main() -> None:
        async with site(tmp_path) as here:
            run = await here.run(workflow)
            for _ in range(5):
                await here.engine.emit("asked", run=run["id"])
            await until(here.engine.approvals, "five questions", so=lambda items: len(items) == 5)

            assert len(await here.engine.approvals(by="ann")) == 5
            assert looked == [run["id"]]

    async def looking(store: Any, run: str, *said: Any) -> str | None:
        looked.append(run)
        return await barring(store, run, *said)

    monkeypatch.setattr(approvals, "barring", looking)
    asyncio.run(main())


def test_few_wanted_approvals_are_found_among_many_in_few_readings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    async def main() -> None:
        async with site(tmp_path) as here:
            store = (await here.engine.running()).store
            reading = store.approvals

            async def counted(**which: Any) -> Any:
                asked.append(which["limit"])
                return await reading(**which)

            monkeypatch.setattr(store, "approvals", counted)
            assert await here.engine.approvals(workflow="none", limit=1) == []

    asyncio.run(main())
    assert asked == [64]


def test_why_says_who_can_decide(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here:
            run = await here.run(asks(role="author", due="2d"))
            why = await here.engine.why(run["id"])
            [item] = await here.engine.approvals()

            [step] = why["steps"]
            assert (step["reason"], step["role"], step["approval"]) == ("approval", "author", item["id"])
            assert "somebody with the role author or above" in step["text"]
            assert "waits for somebody outside" in why["text"]

    asyncio.run(main())


def test_a_list_is_read_page_by_page(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here:
            await here.engine.publish({"penstock": 1, "name": "w", **asks()})
            runs = [await here.engine.start("w") for _ in range(5)]
            for run in runs:
                await here.engine.wait(run, 20, rest=True)

            found, query = [], "?limit=2"
            while True:
                _, page = await here.ask("GET", f"/api/approvals{query}")
                found += [item["run"] for item in page["items"]]
                if page["next"] is None:
                    break
                query = f"?limit=2&cursor={page['next']}"

            assert found == runs[::-1]
            assert (await here.ask("GET", "/api/approvals?workflow=other"))[1]["items"] == []

    asyncio.run(main())


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"due": "soon"}, "neither a duration nor a time"),
        ({"role": "boss"}, "Setting 'role' of step"),
        ({"fields": {"type": 7}}, "is no valid JSON Schema"),
        ({"rolle": "admin"}, "has the setting 'rolle', which `approval` does not take"),
    ],
)
def test_a_wrong_parameter_is_refused_when_it_is_published(
    params: dict[str, Any], says: str, tmp_path: Path
) -> None:
    async def main() -> None:
        async with site(tmp_path) as here:
            with pytest.raises((DefinitionError, CheckFailed), match=says):
                await here.engine.publish({"penstock": 1, "name": "w", **asks(**params)})

    asyncio.run(main())
