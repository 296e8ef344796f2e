"""The calls of the release coordinator, with the paths, fields and answers that task services and their users know.

Not here: what a call does to a release (`releases`, `library`, `services`).
"""

from __future__ import annotations

from msgspec.structs import replace

from penstock.api.extension import Call
from penstock_release.api import events, releases, services, studies, tasks
from penstock_release.api.answers import answers
from penstock_release.options import Options

CALLS: tuple[Call, ...] = tuple(
    replace(call, handler=answers(call.handler), everywhere=True)
    for noun in (services, releases, tasks, events, studies)
    for call in noun.calls.list
)


def calls_for(options: Options) -> tuple[Call, ...]:
    """All of them; what task services need, reports and their release, needs no sign-in where the operator says so."""
    if not options.open_reports:
        return CALLS
    return tuple(replace(call, action="public") if call.name in tasks.OPEN else call for call in CALLS)
