"""Pinball's workflow configuration: each job becomes a step that waits for its parents."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

from penstock.flow.model.names import quoted
from penstock.flow.values.duration import format_duration
from penstock.importing.imported import (
    Imported,
    Notes,
    Wrongs,
    circle_in,
    escaped,
    made,
    step_name,
    whole,
    workflow_name,
)
from penstock.importing.pinball_jobs import Job, Schedule, Workflow, read_workflow
from penstock.importing.shell_text import single_quoted

FINAL, PREFIX = "final", "ATTR_"
DEFAULT_RUNNING = 3
OVERRUNS = {
    "skip": "skip",
    "start_new": "start",
    "abort_running": "abort",
    "delay": "delay",
    "delay_until_success": "delay_until_success",
}
CONDITION = {"max_attempts": 10, "retry_delay_sec": 300}
"""What a condition says where it says nothing."""
_SECONDS = ("retry_delay_sec", "abort_timeout_sec", "warn_timeout_sec")
_ATTRIBUTE = re.compile(r"%{1,2}\((\w+)\)s")
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)


def import_pinball(text: str, name: str | None = None) -> Imported:
    """The definition of a workflow configuration; of several, the one of that name. Raises DefinitionError."""
    workflow, wrongs = read_workflow(text, name)
    return _Jobs(workflow, wrongs).made(workflow_name(name or workflow.name, "pinball"))


class _Jobs:
    def __init__(self, workflow: Workflow, wrongs: Wrongs) -> None:
        self.workflow, self.wrongs, self.notes = workflow, wrongs, Notes()
        self.names: dict[str, str] = {}
        for name in workflow.jobs:
            self.names[name] = step_name(name, "job", set(self.names.values()))
        self.external: list[str] = []

    def made(self, name: str) -> Imported:
        self.reject_cycles()
        self.wrongs.stop()
        steps = {self.names[job.name]: self.step(job) for job in self.workflow.jobs.values()}
        self.add_final(steps)
        self.add_mail(steps)
        plain: dict[str, Any] = {"name": name, "source": self.source()}
        if self.external:
            plain["external"] = list(dict.fromkeys(self.external))
        # Branches that do not need the failed job run to their end, as in Pinball.
        plain |= {"on_failure": "continue", "steps": steps}
        self.tell()
        return made("Pinball's workflow configuration", plain, self.notes)

    def reject_cycles(self) -> None:
        if circle := circle_in({job.name: job.parents for job in self.workflow.jobs.values()}):
            said = "these jobs wait for each other, which Pinball's parser refuses too"
            self.wrongs.say("", f"{said}: {' → '.join(circle)}")

    # -- jobs ----------------------------------------------------------------------------------------------

    def step(self, job: Job) -> dict[str, Any]:
        name = self.names.get(job.name, job.name)
        made = self.work(job, name)
        after = [self.names.get(parent) or self.outside(parent, name) for parent in job.parents]
        if after:
            made["after"] = after[0] if len(after) == 1 else after
        return {**made, **self.policy(job, name)}

    def work(self, job: Job, name: str) -> dict[str, Any]:
        if job.unread is not None:
            self.notes.say(
                f"The command of '{name}' is worked out by a program ({job.unread}): offer it as the task "
                f"'{job.runs}', or write a `shell` step."
            )
        if job.command is None:
            return {"task": job.runs}
        found = list(dict.fromkeys(_ATTRIBUTE.findall(job.command)))
        if not found:
            return {"task": "shell", "with": {"command": self.in_shell(job, escaped(job.command))}}
        self.notes.say(
            f"The command of '{name}' takes {quoted(found)} from what the jobs before it printed "
            "(PINBALL:EVENT_ATTR): let those print a JSON object with that as their last line; the command gets it as "
            "a variable of its environment."
        )
        # As variables of the environment: a value with a quote or a semicolon must not become a command.
        command, last = "", 0
        literal = single_quoted(job.command)
        for each in _ATTRIBUTE.finditer(job.command):
            variable = f"$${{{PREFIX}{each[1]}}}"
            # In single quotes a shell puts no variable in: they end before it, and begin again.
            variable = f"'\"{variable}\"'" if each.start() in literal else variable
            command += escaped(job.command[last : each.start()]) + variable
            last = each.end()
        command += escaped(job.command[last:])
        sources = [self.names[parent] for parent in job.parents if parent in self.names]
        env = {f"{PREFIX}{each}": _attribute(each, sources) for each in found}
        return {"task": "shell", "with": {"command": self.in_shell(job, command), "env": env}}

    def in_shell(self, job: Job, command: str) -> list[str]:
        """What runs a command in a shell, as Pinball does; what it prints is a result only where a job wants one."""
        wanted = any(
            job.name in other.parents and _ATTRIBUTE.search(other.command or "")
            for other in self.workflow.jobs.values()
        )
        # A last line that is no JSON would fail the step: what nobody reads goes to the log.
        return ["sh", "-c", command if wanted else f"exec 1>&2\n{command}"]

    def outside(self, parent: str, name: str) -> str:
        """A job of another workflow: its end comes from outside."""
        event = step_name(parent.replace(".", "/"), "other", ())
        self.external.append(event)
        self.notes.say(
            f"'{name}' waits for the job '{parent}' of another workflow: it is the outside event '{event}' here; let "
            "that workflow fire it with an `emit` step."
        )
        return event

    def policy(self, job: Job, name: str) -> dict[str, Any]:
        options = {**(CONDITION if job.condition else {}), **job.options}
        retries = (whole(options.get("max_attempts")) or 1) - 1
        delay, abort, warn = (whole(options.get(key)) for key in _SECONDS)
        found = {
            "retries": retries or None,
            "backoff": {"initial": f"{delay}s", "factor": 1, "max": f"{delay}s", "jitter": 0}
            if retries and delay
            else None,
            # A job that took too long was a failed attempt like any other.
            "timeouts": {"start_to_close": f"{abort}s"} if abort else None,
            "timeout_retries": [1] * retries if abort else None,
            "warn_after": f"{warn}s" if warn else None,
            "priority": options["priority"] if isinstance(options.get("priority"), int) else None,
            "disabled": options.get("disabled") is True or None,
        }
        self.tell_options(job, name)
        return {key: value for key, value in found.items() if value is not None}

    def tell_options(self, job: Job, name: str) -> None:
        if "emails" in job.options:
            self.notes.say(f"Mails about '{name}' were left out: add a `mail` step after '{name}.failed'.")
        if "cleanup_template" in job.options:
            self.notes.say(
                f"The clean-up command of '{name}' was left out: add a step after '{name}.failed' that runs it."
            )
        if job.unknown:
            self.notes.say(
                f"Job '{name}' says {quoted(list(job.unknown))}, which has no counterpart here: see `with`."
            )

    def add_final(self, steps: dict[str, Any]) -> None:
        """The final job waits for every job that nobody waits for, and its end is the goal."""
        final = self.workflow.final
        if final is None:
            return
        awaited = {parent for job in self.workflow.jobs.values() for parent in job.parents}
        leaves = [self.names[name] for name in self.workflow.jobs if name not in awaited]
        name = step_name(FINAL, FINAL, steps)
        made = {**self.work(final, name), "after": leaves[0] if len(leaves) == 1 else leaves, "emits": "OK"}
        steps[name] = {**made, **self.policy(final, name)}

    def add_mail(self, steps: dict[str, Any]) -> None:
        """Who was told how an instance ended is told where it failed."""
        people = list(self.workflow.emails)
        if self.workflow.unread_emails is not None:
            self.notes.say(
                f"Whom to mail is worked out by a program ({self.workflow.unread_emails}), and was left out: write "
                "the addresses into a `mail` step after `FAIL`."
            )
        if not people:
            return
        name = step_name("mail failure", "mail", steps)
        subject = "FAILURE for workflow ${ run.workflow }"
        steps[name] = {"task": "mail", "after": "FAIL", "with": {"to": people, "subject": subject}}
        self.notes.say(
            f"{quoted(people)} are mailed where a run fails, through `smtp_url`; a run that went well sends no mail."
        )

    def tell(self) -> None:
        jobs = [*self.workflow.jobs.values(), *([self.workflow.final] if self.workflow.final else [])]
        classes = list(dict.fromkeys(job.runs for job in jobs if job.runs and job.unread is None))
        if classes:
            self.notes.say(
                f"Workers must offer the tasks {quoted(classes)}: a class becomes a function with @task."
            )
        if any(job.command for job in jobs):
            self.notes.say(
                "Commands are run by `shell` steps, which only workers started with --shell DIR do."
            )

    # -- the schedule --------------------------------------------------------------------------------------

    def source(self) -> dict[str, Any]:
        schedule = self.workflow.schedule
        if schedule is None and (unread := self.workflow.unread_schedule) is not None:
            self.notes.say(
                f"The schedule is not in this text ({unread}), and was left out: write it under `source`; until then "
                "runs are started by a person or the API."
            )
        elif schedule is None:
            self.notes.say("There is no schedule: runs are started by a person or the API.")
        if schedule is None:
            return {"kind": "api"}
        overrun = OVERRUNS.get(schedule.overrun or "skip")
        if overrun is None:
            self.notes.say(f"The overrun policy '{schedule.overrun}' is not known here: it became `skip`.")
        made = {"kind": "schedule", **self.clock(schedule)}
        if overrun not in (None, "skip"):
            made["overrun"] = overrun
        if schedule.limit is not None:
            made["max_running"] = schedule.limit
        elif overrun == "start":
            made["max_running"] = DEFAULT_RUNNING
        # Ticks that were missed collapse into one in Pinball, which is the default here.
        return made

    def clock(self, schedule: Schedule) -> dict[str, Any]:
        moment = schedule.moment
        minute, hour = moment.get("minute", 0), moment.get("hour", 0)
        if moment.get("second"):
            self.notes.say("The schedule begins at a second of a minute: seconds were left out.")
        if not moment or schedule.every not in (_HOUR, _DAY, 7 * _DAY):
            if moment:
                self.notes.say(
                    f"The schedule counts from a reference time: every {format_duration(schedule.every)} is counted "
                    "from midnight UTC of 1970-01-01."
                )
            return {"every": format_duration(schedule.every)}
        if schedule.every == _HOUR:
            return {"cron": f"{minute} * * * *", "tz": "UTC"}
        day = "*" if schedule.every == _DAY else str(_weekday(moment))
        return {"cron": f"{minute} {hour} * * {day}", "tz": "UTC"}


def _attribute(name: str, sources: list[str]) -> str:
    """The value of an attribute in what any of these steps gave; empty where none has it, as in Pinball."""
    made = '""'
    for source in reversed(sources):
        event = f'events["{source}"]'
        made = f"{event} != null && has({event}.{name}) ? string({event}.{name}) : {made}"
    return "${ " + made + " }"


def _weekday(moment: dict[str, int]) -> int:
    """The day of the week as cron counts it, 0 for Sunday."""
    try:
        return date(moment["year"], moment.get("month", 1), moment.get("day", 1)).isoweekday() % 7
    except (KeyError, ValueError):
        return 1
