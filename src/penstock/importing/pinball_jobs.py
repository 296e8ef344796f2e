"""Pinball's workflow configuration as plain values: from its Python, or from the same in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from msgspec import Struct

from penstock.flow.model.names import Hints, nearest
from penstock.importing.imported import Wrongs, hint
from penstock.importing.json_document import JsonDocument
from penstock.importing.python_text import Call, Module, Unknown, read_either

OPTIONS = (
    "max_attempts",
    "retry_delay_sec",
    "warn_timeout_sec",
    "abort_timeout_sec",
    "priority",
    "emails",
    "disabled",
    "cleanup_template",
)
_CONDITIONS = ("CommandConditionTemplate", "ShellConditionTemplate", "ShellConditionJob")
_COMMANDS = ("CommandJobTemplate", "ShellJobTemplate", "CommandJob", "ShellJob", *_CONDITIONS)
_TIMES = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks")
_MOMENT = ("year", "month", "day", "hour", "minute", "second")


class Job(Struct, frozen=True):
    """One job: its command or its class, what it waits for, and what it says about attempts."""

    name: str
    parents: tuple[str, ...]
    command: str | None = None
    runs: str | None = None
    condition: bool = False
    options: dict[str, Any] = {}
    unknown: tuple[str, ...] = ()
    unread: str | None = None
    """A command that is worked out by a program: its text."""


class Schedule(Struct, frozen=True):
    """When a workflow begins by itself."""

    every: timedelta
    moment: dict[str, int] = {}
    overrun: str | None = None
    limit: int | None = None


class Workflow(Struct, frozen=True):
    """One workflow of a configuration."""

    name: str | None
    jobs: dict[str, Job]
    final: Job | None
    schedule: Schedule | None
    emails: tuple[str, ...] = ()
    unread_emails: str | None = None
    """Addresses that are worked out by a program: their text."""
    unread_schedule: str | None = None
    """A schedule that is worked out by a program: its text."""


def read_workflow(text: str, wanted: str | None) -> tuple[Workflow, Wrongs]:
    """The workflow of a configuration that is wanted, or its only one. Raises DefinitionError."""
    module = read_either(text)
    if isinstance(module, JsonDocument):
        found = module.value.get("workflows") or module.value.get("WORKFLOWS") or module.value
        wrongs = Wrongs(module.place)
        alone = isinstance(found, dict) and "jobs" in found
        return _chosen({"": found} if alone else found, wanted, _Reader(wrongs)), wrongs
    wrongs = Wrongs(lambda path: None if not path.isdigit() else (int(path), 1))
    return _chosen(_configurations(module), wanted, _Reader(wrongs, module)), wrongs


def _configurations(module: Module) -> Any:
    """The dictionary of workflows, or a workflow that stands alone."""
    for value in module.values.values():
        if isinstance(value, dict) and any(_is_workflow(each) for each in value.values()):
            return value
    return {name: value for name, value in module.values.items() if _is_workflow(value)}


def _is_workflow(value: Any) -> bool:
    return isinstance(value, Call) and (value.name == "WorkflowConfig" or "jobs" in value.named)


def _chosen(found: Any, wanted: str | None, reader: _Reader) -> Workflow:
    names = list(found) if isinstance(found, dict) else []
    if wanted in names:
        return reader.workflow(wanted, found[wanted])
    if not names or not all(isinstance(found[name], Call | Mapping) for name in names):
        reader.wrongs.say(
            "", "there is no workflow configuration here: it is a WorkflowConfig(jobs={…}) under a name"
        )
    elif len(names) > 1:
        there, near = ", ".join(names), hint(nearest(wanted, names) if wanted else None)
        reader.wrongs.say("", f"there are {len(names)} workflows here ({there}): say which by its name{near}")
    reader.wrongs.stop()
    return reader.workflow(names[0] or None, found[names[0]])


class _Reader:
    def __init__(self, wrongs: Wrongs, module: Module | None = None) -> None:
        self.wrongs, self.module = wrongs, module

    def wrong(self, value: Any, path: str, sentence: str) -> None:
        """Say what is wrong: at a path in JSON, at a line in Python."""
        place = path if self.module is None else str(self.module.line(value) or "")
        self.wrongs.say(place, sentence)

    def workflow(self, name: str | None, given: Any) -> Workflow:
        jobs = _get(given, "jobs", 0)
        if not isinstance(jobs, dict) or not jobs:
            self.wrong(given, "jobs", f"the workflow '{name or ''}' has no `jobs`: a map from name to job")
            self.wrongs.stop()
        made = {each: self.job(each, value) for each, value in jobs.items()}
        self.reject_unknown(made, jobs)
        final = _get(given, "final_job_config", 1)
        emails, unread = _emails(_get(given, "notify_emails", 3))
        schedule = _get(given, "schedule", 2)
        return Workflow(
            name,
            made,
            None if final is None else self.job("final", final),
            self.schedule(schedule),
            emails,
            unread,
            schedule.source if isinstance(schedule, Unknown) else None,
        )

    def job(self, name: str, given: Any) -> Job:
        if isinstance(given, Unknown) or not isinstance(given, Call | Mapping):
            self.wrong(given, f"jobs.{name}", f"the job '{name}' is no JobConfig(template, [parents])")
            return Job(name, ())
        template = _get(given, "template", 0) if isinstance(given, Call) else given
        if isinstance(given, Call) and given.name != "JobConfig" and not isinstance(template, Call | Unknown):
            template = given
        options, unknown = self.options(given, template)
        unknown += _surplus(template)
        command, runs = _work(template)
        if command is None and runs is None:
            self.wrong(given, f"jobs.{name}", f"the job '{name}' says neither a command nor a class to run")
        condition = isinstance(template, Call) and template.name in _CONDITIONS
        unread = _unread(template) if command is None else None
        if unread is not None and isinstance(template, Call) and runs == template.name:
            runs = name  # the kind of a template is no task
        return Job(name, self.parents(name, given), command, runs, condition, options, unknown, unread)

    def parents(self, name: str, given: Any) -> tuple[str, ...]:
        found = _get(given, "parents", 1)
        if found is None:
            found = _get(given, "inputs", None)
        if found is None:
            return ()
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            self.wrong(given, f"jobs.{name}", f"the parents of job '{name}' must be a list of names")
            return ()
        return tuple(dict.fromkeys(found))

    def options(self, *given: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
        said: dict[str, Any] = {}
        for each in given:
            named = each.named if isinstance(each, Call) else each if isinstance(each, Mapping) else {}
            said |= named
        known = {
            key: value for key, value in said.items() if key in OPTIONS and not isinstance(value, Unknown)
        }
        shape = {
            "template",
            "parents",
            "inputs",
            "command",
            "class",
            "job",
            "name",
            "class_name",
            "job_class",
        }
        return known, tuple(key for key in said if key not in known and key not in shape)

    def reject_unknown(self, jobs: dict[str, Job], given: Mapping[str, Any]) -> None:
        hints = Hints()
        for job in jobs.values():
            for parent in job.parents:
                if parent in jobs or "." in parent:
                    continue
                near = hint(hints.nearest(parent, jobs))
                why = f"job '{job.name}' waits for '{parent}', which is no job{near}"
                self.wrong(given[job.name], f"jobs.{job.name}", why)

    def schedule(self, given: Any) -> Schedule | None:
        if not isinstance(given, Call | Mapping):
            return None
        every = _span(_get(given, "recurrence", 0), _get(given, "recurrence_seconds", None))
        if every is None or every <= timedelta():
            self.wrong(given, "schedule", "the schedule says no `recurrence`, such as timedelta(days=1)")
            return None
        policy, limit = _get(given, "overrun_policy", 2), _get(given, "max_running_instances", 3)
        word = policy.source if isinstance(policy, Unknown) else policy
        moment = _moment(_get(given, "reference_timestamp", 1))
        overrun = word.rpartition(".")[2].lower() if isinstance(word, str) else None
        return Schedule(every, moment, overrun, limit if isinstance(limit, int) else None)


def _get(given: Any, name: str, position: int | None) -> Any:
    if isinstance(given, Call):
        return given.get(name, position)
    return given.get(name) if isinstance(given, Mapping) else None


def _work(template: Any) -> tuple[str | None, str | None]:
    """The command that a job runs, or the class."""
    if isinstance(template, Mapping):
        command, runs = template.get("command"), template.get("class") or template.get("job")
        return (str(command), None) if command else (None, str(runs) if runs else None)
    if isinstance(template, Unknown):
        return None, template.source.rpartition(".")[2]
    if not isinstance(template, Call):
        return None, None
    command = template.get("command", 1 if template.name in _COMMANDS else None)
    if isinstance(command, str):
        return command, None
    named = template.get("name", 0) or template.get("class_name") or template.get("job_class")
    if isinstance(named, Unknown):
        return None, _class_of(named) or template.name
    return None, named if isinstance(named, str) and named else template.name


def _class_of(unknown: Unknown) -> str | None:
    """A class that the text imports, by its last name; None: what stands there is no name."""
    name = unknown.source.rpartition(".")[2]
    return name if name.isidentifier() else None


def _surplus(template: Any) -> tuple[str, ...]:
    """What a template is given without a name, beside its own and a command: only its class would tell what it is."""
    if not isinstance(template, Call):
        return ()
    read = 2 if template.name in _COMMANDS else 1
    return tuple(f"argument {number}" for number in range(read + 1, len(template.args) + 1))


def _unread(template: Any) -> str | None:
    """The command of a job that is no text, as it is written."""
    if not isinstance(template, Call):
        return None
    command = template.get("command", 1 if template.name in _COMMANDS else None)
    return None if command is None and template.name not in _COMMANDS else _written(command)


def _emails(given: Any) -> tuple[tuple[str, ...], str | None]:
    """Addresses, as a list or in one text with commas; and what is neither, as it is written."""
    said = [given] if isinstance(given, str) else [] if given is None else given
    if not isinstance(said, list | tuple):
        return (), _written(given)
    texts = [each for each in said if isinstance(each, str)]
    odd = ", ".join(_written(each) for each in said if not isinstance(each, str))
    return tuple(each.strip() for text in texts for each in text.split(",") if each.strip()), odd or None


def _written(value: Any) -> str:
    return getattr(value, "source", None) or getattr(value, "name", None) or "something"


def _span(recurrence: Any, seconds: Any) -> timedelta | None:
    if isinstance(recurrence, Call) and recurrence.name == "timedelta":
        given = {**dict(zip(_TIMES, recurrence.args, strict=False)), **recurrence.named}
        if all(key in _TIMES and isinstance(value, int | float) for key, value in given.items()):
            return _time(**given)
    number = seconds if seconds is not None else recurrence
    return _time(seconds=number) if isinstance(number, int | float) else None


def _time(**given: float) -> timedelta | None:
    """None: no time is so long."""
    try:
        return timedelta(**given)
    except (OverflowError, ValueError):
        return None


def _moment(given: Any) -> dict[str, int]:
    if not isinstance(given, Call):
        return {}
    found = {**dict(zip(_MOMENT, given.args, strict=False)), **given.named}
    return {key: value for key, value in found.items() if isinstance(value, int)}
