"""What a word of a task service means: by the state of its task, and by that of the release. One table for all.

Reports go through `meaning`; the steps of the workflow, which ask by themselves, take the same words from `PHASES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

RELEASE_ENDS = frozenset({"published", "canceled", "failed"})
TASK_ENDS = frozenset({"published", "canceled", "failed", "rejected"})
SPELLINGS = {"pending": "initialized", "cancelled": "canceled", "cancelling": "canceling"}
STATES = (
    "waiting",
    "initialized",
    "running",
    "staged",
    "publishing",
    "published",
    "failed",
    "canceled",
    "canceling",
    "rejected",
)
PHASES: Mapping[str, Mapping[str, Any]] = {
    "initialize": {
        "accept": [200],
        "until": ["*"],
        "known": ["pending", "initialized"],
        "refusal": "rejected",
    },
    "start": {"accept": ["running", "staged"], "until": ["*"], "known": ["running", "staged"]},
    "stage": {"until": ["staged"], "goes_on": ["running"], "misses": 2},
    "watch": {"until": [], "goes_on": ["staged"], "misses": 2, "patient": True},
    "publish": {
        "accept": ["publishing", "published"],
        "until": ["published"],
        "known": ["publishing", "published"],
        "goes_on": ["publishing", "staged"],
        "ask_again": ["staged"],
        "misses": 1_000_000,  # until its time runs out: others may be out already
    },
    "cancel": {"until": ["*"], "known": ["canceled", "published", "failed"], "failed": [], "canceled": []},
}
"""For each step that calls services: which answers are accepted, which end it, and in which it goes on."""


class Meaning(Enum):
    """What comes of a word."""

    SAME = "it says what is known, or is on the way: only its progress counts"
    ENDS = "it ends a part of the work: the run is told"
    EARLY = "it will end a part of the work that the run has not come to: it is kept"
    SHOWN = "it was published although it should be canceled: that is shown"
    LATE = "it is too late or cannot be: it is recorded, and changes nothing"
    WRONG = "it is ahead of what was asked, or behind what was said: nobody knows what it does, and the release fails"


_S, _E, _K, _W = Meaning.SAME, Meaning.ENDS, Meaning.EARLY, Meaning.WRONG
_BROKEN = {"failed": _E, "canceled": _E}
_LIVE: Mapping[str, Mapping[str, Meaning]] = {
    "waiting": {"initialized": _S, "running": _W, "staged": _W, "publishing": _W, "published": _W, **_BROKEN},
    "initialized": {"waiting": _W, "running": _S, "staged": _K, **_BROKEN},
    "running": {"waiting": _W, "initialized": _W, "staged": _E, **_BROKEN},
    "staged": {"waiting": _W, "initialized": _W, "running": _W, **_BROKEN},
    "publishing": {"published": _E, **_BROKEN},  # others may be out: what cannot be is left to the clock
}
_ASKED = {"staged": {"publishing": _S, "published": _E, **_BROKEN}}
"""Of a task that was asked to publish, and whose answer is not known yet."""


def meaning(release: Mapping[str, Any], task: Mapping[str, Any], word: str) -> Meaning:
    """What a word means for a task of a release, as both are kept."""
    state = str(task["state"])
    if word == state:
        return Meaning.SAME
    over = state in TASK_ENDS
    if over or release["state"] == "canceling" or release["state"] in RELEASE_ENDS:
        if word == "published" and task["asked"] and (not over or state in ("canceled", "failed")):
            return Meaning.SHOWN
        return Meaning.SAME if word == "canceled" and not over else Meaning.LATE
    if (state, word) == ("initialized", "staged") and release["state"] != "running":
        return Meaning.WRONG  # nobody was asked to start yet
    known = _ASKED if task["asked"] and state in _ASKED else _LIVE
    return known[state].get(word, Meaning.LATE)


def hears_progress(release: Mapping[str, Any], task: Mapping[str, Any]) -> bool:
    """Whether how far a task is can change now."""
    if release["state"] == "canceling" or release["state"] in RELEASE_ENDS:
        return False
    return task["state"] in ("initialized", "running", "publishing")


def progress_of(said: Any) -> int | None:
    """Progress as a number from 0 to 100, said as 50, 50.0 or 50%; None: it is none."""
    if isinstance(said, str):
        try:
            said = float(said.strip().removesuffix("%"))
        except ValueError:
            return None
    if isinstance(said, bool) or not isinstance(said, int | float):
        return None
    if said != said or said in (float("inf"), float("-inf")):
        return None
    return int(min(max(said, 0), 100))
