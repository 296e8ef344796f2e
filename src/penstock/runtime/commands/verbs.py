"""What people do to a run by hand, as one table for the API, its client and the command line."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from penstock.flow.model.run import ENDED, STATUSES

BulkAction = Literal["cancel", "retry", "pause", "resume", "rerun"]
Version = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Reason = Annotated[str, Meta(max_length=1000)]
LIVE = tuple(status for status in STATUSES if status not in ENDED)


class Cancel(Struct, forbid_unknown_fields=True, kw_only=True):
    """`force`: without the clean-up."""

    force: bool = False
    reason: Reason | None = None


class Retry(Struct, forbid_unknown_fields=True, kw_only=True):
    """All that failed, or one step."""

    step: str | None = None


class Rerun(Struct, forbid_unknown_fields=True, kw_only=True):
    """A new run, with the same input unless another is given; `from`: as the old one was before that step began."""

    version: Version | None = None
    input: Any = None
    start_at: str | None = field(default=None, name="from")


class SkipStep(Struct, kw_only=True, forbid_unknown_fields=True):
    port: str = "done"
    output: Any = None
    reason: Reason | None = None


class FailRun(Struct, kw_only=True, forbid_unknown_fields=True):
    reason: Reason | None = None


class Verb(Struct, frozen=True):
    """`name` is the method of the engine; `operation`, its path under `at` and what it `takes` are those of the API.

    `bulk` are the statuses of the runs that a filter may find for it; none: it is done to one run at a time. `owned`:
    people may do it to a run that an application manages.
    """

    name: str
    operation: str
    summary: str
    takes: type[Struct] | None = None
    bulk: tuple[str, ...] = ()
    at: str = "/api/runs/{id}"
    right: Literal["operate"] = "operate"
    makes_run: bool = False
    owned: bool = False

    @property
    def path(self) -> str:
        return f"{self.at}/{self.name}"

    async def act(self, engine: Any, run: str, **parameters: Any) -> dict[str, Any]:
        """Do it to a run of an engine, here or elsewhere: the run as it is then, or the one that was made."""
        answer = await getattr(engine, self.name)(run, **parameters)
        view: dict[str, Any] = await engine.show(answer) if self.makes_run else answer
        return view


_VERBS = (
    Verb(
        "cancel",
        "cancel_run",
        "Cancel a run; its clean-up steps still run, unless `force`.",
        Cancel,
        LIVE,
        owned=True,
    ),
    Verb(
        "pause",
        "pause_run",
        "Dispatch nothing new of a run.",
        bulk=tuple(status for status in LIVE if status != "paused"),
    ),
    Verb("resume", "resume_run", "Go on where a pause held the run.", bulk=("paused",)),
    Verb(
        "retry",
        "retry_run",
        "Put back what the failed steps of a failed run consumed, and run on.",
        Retry,
        ("failed",),
    ),
    Verb("rerun", "rerun_run", "Start a new run like this one.", Rerun, STATUSES, makes_run=True),
    Verb(
        "skip",
        "skip_step",
        "Let a step end on a port with an output, without its task.",
        SkipStep,
        at="/api/runs/{id}/steps/{step}",
    ),
    Verb("fail", "fail_run", "Let a run fail; its clean-up steps still run.", FailRun),
)
VERBS = {verb.name: verb for verb in _VERBS}
