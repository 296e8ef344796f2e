"""SNAKES again, as a run has to use it: which transition comes next is found by looking at each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from snakes.nets import dot

from bench.net.contenders.snakes import Player
from bench.net.runs import SCRIPTS, Script, State, run_name
from bench.net.work import Work, Works

PACKAGE = "SNAKES"


def works() -> Works:
    return {run_name(script): Work(_running(script), len(script.calls)) for script in SCRIPTS}


def _running(script: Script) -> Callable[[], dict[str, Any]]:
    """Only the transitions on the way are looked at, the ones that fire first come first."""
    player = Player(script.net())
    order = [(player.transition(call.step, call.port), call) for call in script.calls]

    def run() -> dict[str, Any]:
        state = State()
        for place in player.begin:
            place.add(dot)
        found = True
        while found:
            found = False
            for transition, call in order:
                modes = transition.modes()
                if modes:
                    transition.fire(modes[0])
                    state.keep(call)
                    found = True
                    break
        return state.answer()

    return run
