"""Who is bound to workflows, over every call: those of others are not there, are not changed, and not told of."""

from __future__ import annotations

from typing import Any

from penstock.api.call import Call
from penstock.api.table import CALLS
from tests.api.conftest import OWN, Client, Serve

ADMIN = {"authorization": f"Bearer {OWN}"}
WORD = "quux7"
"""In all that is of the other workflow."""

THEIRS = f"of-{WORD}"
DEFINITION: dict[str, Any] = {
    "penstock": 1,
    "name": THEIRS,
    "title": f"Title {WORD}",
    "source": {"kind": "schedule", "every": "1d"},
    "external": [
        {
            "name": f"paid-{WORD}",
            "from": {
                "kind": "webhook",
                "verify": {"method": "token", "secret": "s"},
                "key": {"order": "body.order"},
            },
        }
    ],
    "steps": {
        "ask": {"task": "approval", "with": {"text": f"May {WORD}?"}},
        "ship": {"task": "set", "after": [f"paid-{WORD}"], "with": {"x": 1}},
    },
}
FAILS = {
    "penstock": 1,
    "name": f"fails-{WORD}",
    "steps": {"a": {"task": "set", "with": {"x": f"${{ data.{WORD} }}"}}},
}
MINE = {"penstock": 1, "name": "mine", "steps": {"a": {"task": "set", "with": {"x": 1}}}}

BODIES: dict[str, Any] = {
    "decide_approval": {"decision": "approved"},
    "save_draft": DEFINITION,
    "emit_event": {"event": f"paid-{WORD}"},
    "set_step": {"disabled": True},
    "repair_run": {"put": [{"step": "ship", "slot": 0, "event": f"paid-{WORD}"}]},
    "backfill_workflow": {"from": "2026-01-01", "to": "2026-01-02"},
    "try_workflow": {"definition": DEFINITION},
    "emit_by_key": {"event": f"paid-{WORD}", "key": {"order": WORD}},
    "act_on_runs": {"filter": {}, "action": "cancel"},
    "evaluate_expression": {"expression": "1", "scope": {}},
    "check_definition": MINE,
    "import_definition": {"kind": "zenko", "text": "{}"},
    "preview_schedule": {"every": "1h"},
    "change_tokens": {"claim": {"owner": "me", "prefix": "/custom/", "lease": 1}},
}
"""What is sent by those that would be refused before anybody asks whose it is."""


def looks(call: Call) -> bool:
    """Whether it is for people, and not for the whole installation."""
    return call.action in ("read", "operate", "repair", "author") and not call.everywhere


def names_one(call: Call) -> bool:
    """Whether its path says whose it is."""
    return "{" in call.path and call.name != "redeliver_event"


def filled(call: Call, run: str, approval: str) -> str:
    id = approval if "/approvals/" in call.path else run
    values = {"name": THEIRS, "id": id, "step": "ship", "v": "1", "number": "1"}
    path = call.path
    for name, value in values.items():
        path = path.replace("{" + name + "}", value)
    return path


async def furnish(client: Client) -> tuple[str, str, dict[str, str]]:
    """Workflows of others with runs of every kind; a run and an approval of theirs, and the caller who sees none."""
    for definition in (DEFINITION, FAILS, MINE):
        await client.engine.publish(definition)
    await client.engine.start_source(THEIRS)
    run = await client.engine.start(THEIRS, subject=WORD, input={"order": WORD}, labels={"of": WORD})
    await client.engine.wait(run, 10, rest=True)
    await client.engine.wait(await client.engine.start(f"fails-{WORD}", subject=WORD), 10)
    await client.engine.emit(f"paid-{WORD}", {"word": WORD}, key={"order": f"none-{WORD}"})
    [asked] = await client.engine.approvals()
    view = {"title": WORD, "filter": {"workflow": THEIRS}}
    await client.ask("PUT", f"/api/views/v-{WORD}", view, headers=dict(ADMIN))
    body = {"name": "bound", "role": "author", "workflows": ["mine"]}
    made = await client.post("/api/access", body, headers=dict(ADMIN))
    return run, str(asked["id"]), {"authorization": f"Bearer {made.json['token']}"}


def test_18_what_is_of_others_is_not_there_whatever_is_asked_of_it(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[list[Any], bool, list[Any]]:
        run, approval, bound = await furnish(client)
        asked = [call for call in CALLS if looks(call) and names_one(call)]
        before = await client.engine.history(run), await client.engine.drafts.show(THEIRS)
        wrong = []
        for call in asked:
            path = filled(call, run, approval)
            answer = await client.ask(call.method, path, BODIES.get(call.name), headers=dict(bound))
            if answer.status != 404 or WORD in answer.text.replace(THEIRS, "").replace(approval, ""):
                wrong.append((call.name, answer.status, answer.text))
        unchanged = before == (await client.engine.history(run), await client.engine.drafts.show(THEIRS))
        absent = []  # for who may see it, too: then the call above has shown nothing
        for call in asked:
            if call.media != "text/event-stream":
                answer = await client.ask(
                    call.method, filled(call, run, approval), BODIES.get(call.name), headers=dict(ADMIN)
                )
                absent += [(call.name, answer.status)] if answer.status in (404, 400, 422) else []
        return wrong, unchanged, absent

    assert serve(talk, open=False) == ([], True, [])


def test_18_no_list_and_no_figure_tells_of_what_is_of_others(serve: Serve) -> None:
    async def talk(client: Client) -> tuple[list[Any], bool, set[str]]:
        run, _, bound = await furnish(client)
        before = await client.engine.history(run)
        asked = [call for call in CALLS if looks(call) and not names_one(call) and call.path != "/api/stream"]
        told, wrong = set(), []
        for call in asked:
            path, body = call.path.replace("{number}", "1"), BODIES.get(call.name)
            answer = await client.ask(call.method, path, body, headers=dict(bound))
            if WORD in answer.text or (answer.status in (400, 422) and call.name != "import_definition"):
                wrong.append((call.name, answer.status, answer.text))
            if call.method == "GET" and WORD in (await client.get(path, headers=dict(ADMIN))).text:
                told.add(call.name)
        return wrong, await client.engine.history(run) == before, told

    wrong, unchanged, told = serve(talk, open=False)

    assert (wrong, unchanged) == ([], True)
    assert told >= {
        "list_runs",
        "list_workflows",
        "list_approvals",
        "list_incidents",
        "list_schedules",
        "list_hooks",
        "list_views",
        "list_undelivered",
        "show_pulse",
        "list_tokens",
    }, "the lists have something to hide"


def test_18_a_token_under_ones_own_name_leads_to_no_run_of_others(serve: Serve) -> None:
    async def talk(client: Client) -> list[int]:
        run, _, bound = await furnish(client)
        data = {"event": f"paid-{WORD}"}
        bodies = [
            {"insert": [{"name": f"/runs/{workflow}/{run}/slots/ship/0/1", "data": data}]}
            for workflow in ("mine", THEIRS)
        ]
        answers = [await client.post("/api/tokens", body, headers=dict(bound)) for body in bodies]
        prefixes = (f"/runs/{THEIRS}/", f"/history/fails-{WORD}/", "/runs/", "/runs/of", "/custom/")
        looks = [await client.get(f"/api/tokens?prefix={each}", headers=dict(bound)) for each in prefixes]
        own = await client.get(f"/api/tokens?prefix=/runs/mine/{run}", headers=dict(bound))
        return [each.status for each in (*answers, *looks)] + [len(own.json["items"])]

    assert serve(talk, open=False) == [404, 404, 404, 404, 403, 403, 403, 0]
