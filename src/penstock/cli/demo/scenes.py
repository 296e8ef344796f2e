"""The runs that the demo shows: started, and brought as far as each is to come."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from penstock.cli.author.run_report import schema_examples
from penstock.cli.demo.parts import SLOW
from penstock.cli.io.console import note
from penstock.cli.serve.announcement import Shown
from penstock.engine.engine import Engine
from penstock.engine.services import EngineServices
from penstock.runtime.errors import InvalidInput

RUN_TIMEOUT = 30.0
"""Seconds that a run may take before the demo shows it as it is."""
POLL_INTERVAL = 0.25
"""Seconds after which it is asked whether people are."""
MAX_ROUNDS = 5
"""How often a run that waits is given what it waits for."""
CALLBACK = "et_job_finished"
"""What the transcoder tells by itself."""


class Scene(Struct, frozen=True):
    """One run to show: its subject and input; whether it is given what it waits for; what people fill in."""

    workflow: str
    subject: str
    input: Any = None
    helped: bool = True
    fields: Any = None
    calls_back: bool = False  # the transcoder tells its end


class Played(Struct, frozen=True):
    """A run that was shown, and how it is."""

    run: str
    scene: Scene
    status: str
    words: str
    approval: str | None = None  # what a person is asked

    def view(self) -> dict[str, str]:
        return {
            "run": self.run,
            "workflow": self.scene.workflow,
            "subject": self.scene.subject,
            "status": self.status,
        }


MORE = (
    Scene(
        "authorization",
        "a PUT at night",
        {
            "operation": "PUT",
            "key": "home/ada/report.pdf",
            "user": "ada",
            "ip": "10.1.2.3",
            "size": 48000,
            "at": "2026-03-02T23:30:00Z",
        },
    ),
    Scene("auto_tag", "pictures/notes.txt", {"bucket": "pictures", "key": "notes.txt", "size": 14}),
    Scene("viblio", "notes.txt", {"media_uuid": "77aa0c11", "user_uuid": "b2e1", "filename": "notes.txt"}),
    # Of another user: people name the faces of one video of a user at a time.
    Scene(
        "viblio",
        "birthday.mov of another user",
        {"media_uuid": "9c31f2d0", "user_uuid": "c3f2", "filename": "birthday.mov"},
        helped=False,
    ),
)
"""Beside a run of each example with its own input: other branches, one that fails, one that waits for a person."""
FIELDS = {name: {"names": ["Ada", "Grace"]} for name in ("viblio", "viblio_faces")}
"""What people fill in where the demo decides for them."""


async def scenes_of(running: EngineServices, shown: Shown, transcoder: bool) -> list[Scene]:
    """What is played of a workflow: its own example; where it waits for outside, once helped and once left waiting."""
    flow, _ = await running.node.flows.newest(shown.name)
    definition = flow.definition
    calls_back = transcoder and any(event.name == CALLBACK for event in definition.external or ())
    example = first_example(definition.params)
    first = Scene(
        shown.name, subject_of(example), example, fields=FIELDS.get(shown.name), calls_back=calls_back
    )
    scenes = [first]
    if calls_back and shown.name == "mediathread":
        scenes.append(Scene(shown.name, SLOW, {**first.input, "s3_key": SLOW}, helped=False))
    elif definition.external and not calls_back:
        scenes.append(replace(first, subject="another one", helped=False))
    return [*scenes, *(scene for scene in MORE if scene.workflow == shown.name)]


def first_example(schema: Any) -> Any:
    """The first of the examples of a schema, if it has any."""
    return next(iter(schema_examples(schema)), None)


def subject_of(input: Any) -> str:
    """What a run with this input is about."""
    given = input if isinstance(input, dict) else {}
    if "bucket" in given and "key" in given:
        return f"{given['bucket']}/{given['key']}"
    return next((str(given[name]) for name in ("filename", "s3_key", "key") if name in given), "the example")


async def play_all(running: EngineServices, scenes: Sequence[Scene]) -> list[Played]:
    """Play all scenes at once; those whose input their workflow does not take are told, and left out."""
    engine = Engine(running=running)
    played = await asyncio.gather(*(_play_fitting(engine, running, scene) for scene in scenes))
    return [each for each in played if each is not None]


async def _play_fitting(engine: Engine, running: EngineServices, scene: Scene) -> Played | None:
    try:
        return await _play(engine, running, scene)
    except InvalidInput as error:
        note(f"No run is shown, for {error}. Its `params` say with `examples` what to start one with.")
        return None


async def _play(engine: Engine, running: EngineServices, scene: Scene) -> Played:
    """Start a run, once however often the demo is started on one database, and bring it as far as the scene says."""
    run = await engine.start(
        scene.workflow,
        subject=scene.subject,
        input=scene.input,
        labels={"demo": "true"},
        idempotency_key=f"demo {scene.subject}",
    )
    view = await _rested(engine, run, scene.calls_back)
    asked = await _asked(engine, run)
    for _ in range(MAX_ROUNDS):
        if not scene.helped or not (asked or view["status"] == "waiting"):
            break
        await _help(engine, running, scene, run, view["waiting_for"] or ())
        view = await _rested(engine, run, scene.calls_back)
        asked = await _asked(engine, run)
    question = asked[0] if asked else None
    words = (
        _words(view)
        if question is None or question["run"] == run
        else f"{question['workflow']} asks a person"
    )
    return Played(run, scene, view["status"], words, None if question is None else str(question["id"]))


async def _help(
    engine: Engine, running: EngineServices, scene: Scene, run: str, awaited: Sequence[str]
) -> None:
    """Decide what people are asked, and fire the outside events that the run waits for."""
    for question in await _asked(engine, run):
        await engine.decide(question["id"], "approved", fields=scene.fields, by="demo")
    flow, _ = await running.node.flows.newest(scene.workflow)
    declared = {event.name: event.schema for event in flow.definition.external or ()}
    # What the transcoder tells by itself must not be told before it is so.
    for name in (
        name for name in awaited if name in declared and not (scene.calls_back and name == CALLBACK)
    ):
        await engine.emit(name, first_example(declared[name]), run=run, id=f"demo {name}")


async def _asked(engine: Engine, run: str) -> list[dict[str, Any]]:
    """The questions to people that are open in a run or in one that it has started."""
    every = await engine.approvals()
    return [each for each in every if each["run"] == run or each["run"].startswith(f"{run}-")]


async def _rested(engine: Engine, run: str, ended: bool) -> dict[str, Any]:
    """The run when nothing moves any more; with `ended` also what comes from outside is waited for."""
    clock = asyncio.get_running_loop().time
    end = clock() + RUN_TIMEOUT
    while clock() < end:
        try:
            return await engine.wait(run, POLL_INTERVAL, rest=not ended)
        except TimeoutError:
            # A run is not at rest while one that it started waits for a person.
            if await _asked(engine, run):
                break
    return await engine.show(run)


def _words(view: dict[str, Any]) -> str:
    if view["error"]:
        return str(view["error"]["message"])
    if view["status"] == "waiting":
        return f"for {', '.join(view['waiting_for'])}"
    if view["status"] == "stalled":
        return "; ".join(f"{each['step']} lacks {', '.join(each['missing'])}" for each in view["starving"])
    result = view["result"]
    if isinstance(result, dict):
        return ", ".join(f"{name}: {value}" for name, value in result.items() if not isinstance(value, dict))
    return "" if result is None else str(result)
