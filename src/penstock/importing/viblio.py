"""Viblio's stage dictionary: each stage becomes a step that waits for its prerequisites."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from penstock.flow.format.nodes import Place
from penstock.flow.model.names import Hints, quoted, wrong_identifier, wrong_name
from penstock.importing.imported import Imported, Notes, Wrongs, circle_in, hint, made, whole, workflow_name
from penstock.importing.json_document import JsonDocument
from penstock.importing.python_text import Module, Unknown, read_either

TIMEOUTS = {
    "default_task_schedule_to_start_timeout": "schedule_to_start",
    "default_task_start_to_close_timeout": "start_to_close",
    "default_task_schedule_to_close_timeout": "schedule_to_close",
    "default_task_heartbeat_timeout": "heartbeat",
}
LOCKS = ("lock_retries", "lock_heartbeat_secs", "lock_wait_secs")
KNOWN = {"name", "domain", "version", "task_list", "prerequisites", "failure_retries", "timeout_retries"}
DICTIONARY = "VPW"
_SECONDS = re.compile(r"0*[1-9][0-9]{0,9}")
IDS = ("media_uuid", "user_uuid")
"""What every message of Viblio has."""


def import_viblio(text: str, name: str | None = None) -> Imported:
    """The definition of a stage dictionary, in Python or JSON. Raises DefinitionError."""
    stages, wrongs = _read(text)
    made_of = _Stages(stages, wrongs)
    return made_of.made(workflow_name(name, "viblio"))


def _read(text: str) -> tuple[Any, Wrongs]:
    module = read_either(text)
    if isinstance(module, JsonDocument):
        return module.value, Wrongs(module.place)
    found = module.values.get(DICTIONARY)
    if found is None:
        found = next((value for value in module.values.values() if _is_stages(value)), None)
    return found, Wrongs(lambda path: _line(module, found, path))


def _is_stages(value: Any) -> bool:
    return isinstance(value, dict) and any(
        isinstance(stage, dict) and "prerequisites" in stage for stage in value.values()
    )


def _line(module: Module, stages: Any, path: str) -> Place | None:
    stage = stages.get(path.partition(".")[0]) if isinstance(stages, dict) else None
    line = module.line(stage)
    return None if line is None else (line, 1)


class _Stages:
    def __init__(self, stages: Any, wrongs: Wrongs) -> None:
        self.wrongs, self.notes, self.hints = wrongs, Notes(), Hints()
        if (
            not isinstance(stages, dict)
            or not stages
            or not all(isinstance(each, dict) for each in stages.values())
        ):
            wrongs.say(
                "",
                f"there is no dictionary of stages here: it is called {DICTIONARY}, and has a dictionary a stage",
            )
            wrongs.stop()
        self.stages: dict[str, Mapping[str, Any]] = stages

    def made(self, name: str) -> Imported:
        steps = {key: self.step(key, stage) for key, stage in self.stages.items()}
        self.reject_cycles()
        self.wrongs.stop()
        self.tell()
        properties = {each: {"type": "string"} for each in IDS}
        plain = {
            "name": name,
            "params": {"type": "object", "required": list(IDS), "properties": properties},
            "steps": steps,
        }
        return made("Viblio's stage dictionary", plain, self.notes)

    def step(self, name: str, stage: Mapping[str, Any]) -> dict[str, Any]:
        if wrong := wrong_name(name):
            self.wrongs.say(name, f"the stage '{name}' cannot be a step: its name {wrong}")
        if stage.get("name", name) != name:
            self.wrongs.say(
                name, f"the stage '{name}' is called {stage['name']!r} inside: make them the same"
            )
        unknown = [key for key in stage if key not in KNOWN and key not in TIMEOUTS and key not in LOCKS]
        if unknown:
            self.notes.say(f"Stage '{name}' says {quoted(unknown)}, which has no counterpart here.")
        made = {
            "task": name,
            "after": self.prerequisites(name, stage) or None,
            "task_list": self.task_list(name, stage.get("task_list")),
            "retries": self.fitting(name, stage, "failure_retries", _is_count, "a whole number from 0 on"),
            "timeout_retries": self.fitting(
                name, stage, "timeout_retries", _are_factors, "a list of numbers above 0"
            ),
            "timeouts": self.timeouts(name, stage) or None,
        }
        return {key: value for key, value in made.items() if value is not None}

    def must_be(self, name: str, key: str, what: str) -> None:
        self.wrongs.say(f"{name}.{key}", f"`{key}` of '{name}' must be {what}")

    def prerequisites(self, name: str, stage: Mapping[str, Any]) -> list[str]:
        found = stage.get("prerequisites", [])
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            self.must_be(name, "prerequisites", "a list of stages")
            return []
        for each in found:
            if each not in self.stages:
                near = hint(self.hints.nearest(each, self.stages))
                self.wrongs.say(
                    f"{name}.prerequisites", f"'{name}' waits for '{each}', which is no stage{near}"
                )
        return list(dict.fromkeys(found))

    def task_list(self, name: str, given: Any) -> str | None:
        if not isinstance(given, str):
            return None
        if wrong := wrong_identifier(given):
            self.wrongs.say(f"{name}.task_list", f"`task_list` of '{name}' cannot be one: it {wrong}")
        return given

    def fitting(
        self, name: str, stage: Mapping[str, Any], key: str, fits: Callable[[Any], bool], what: str
    ) -> Any:
        """What a stage says under a key; None where it says nothing, or nothing that fits."""
        value = stage.get(key)
        if value is None or fits(value):
            return value
        self.must_be(name, key, f"{what}, not {_shown(value)}")
        return None

    def timeouts(self, name: str, stage: Mapping[str, Any]) -> dict[str, str]:
        found: dict[str, str] = {}
        for key, ours in TIMEOUTS.items():
            value = stage.get(key)
            if value is None or value == "NONE":
                continue
            if not _SECONDS.fullmatch(str(value)):
                self.must_be(name, key, f"seconds as a text, or NONE, not {_shown(value)}")
                continue
            found[ours] = f"{int(value)}s"
        if found.get("schedule_to_start") and found.get("schedule_to_start") == found.get(
            "schedule_to_close"
        ):
            del found["schedule_to_start"]
            self.notes.say(
                "`schedule_to_start` was left out where it is the same as `schedule_to_close`: "
                "it can never strike first."
            )
        return found

    def reject_cycles(self) -> None:
        if self.wrongs.problems:
            return
        graph = {name: list(stage.get("prerequisites") or ()) for name, stage in self.stages.items()}
        if circle := circle_in(graph):
            said = "these stages wait for each other, so that none would ever begin"
            self.wrongs.say(circle[0], f"{said}: {' → '.join(circle)}")

    def tell(self) -> None:
        """What the dictionary says that is done in another way here."""
        stages = self.stages.values()
        locked = [name for name, stage in self.stages.items() if any(key in stage for key in LOCKS)]
        if locked:
            self.notes.say(
                f"The locks of {quoted(locked)} were left out: a lease and an attempt number fence every report of a "
                "worker; for one at a time over all runs write `serialize`, such as `serialize: data.user_uuid`."
            )
        if any("task_list" in stage for stage in stages):
            self.notes.say(
                "Task lists got no suffix of a deployment or a developer: set `task_list_suffix` for that."
            )
        if any(key in stage for stage in stages for key in ("domain", "version")):
            self.notes.say(
                "`domain` and `version` were left out: versions are counted when a workflow is published."
            )
        if any(stage.get("default_task_heartbeat_timeout") == "NONE" for stage in stages):
            self.notes.say(
                "A heartbeat of NONE became the default of 60s: workers send it by themselves while a task runs."
            )
        self.notes.say(
            f"Workers must offer the tasks {quoted(list(self.stages))}: `run_task(self, opts)` becomes a "
            "function with @task, and `opts` is its `ctx.data` and `ctx.input`."
        )
        self.notes.say(
            "No stage has the time limit of a whole execution: say `timeout: 36h` at the top, if it is that."
        )


def _is_count(value: Any) -> bool:
    return whole(value) is not None


def _are_factors(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, int | float) and not isinstance(each, bool) and each > 0 for each in value
    )


def _shown(value: Any) -> str:
    return (
        f"`{value.source}`, which only running the file would tell"
        if isinstance(value, Unknown)
        else repr(value)
    )
