"""SNAKES: a Petri-net library in Python. It is told which transition comes next, so it never has to search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from snakes.nets import PetriNet, Place, Transition, Value, dot

from bench.net.runs import SCRIPTS, Script, State, run_name
from bench.net.shapes import SHAPES, SIZES, Shape, shape_of, work_name
from bench.net.work import Work, Works
from penstock.kernel.net import START, Net, Wiring

PACKAGE = "SNAKES"


def works() -> Works:
    made: Works = {}
    for name in SHAPES:
        for size in SIZES:
            shape = shape_of(name, size)
            made[f"fire {work_name(name, size)}"] = Work(_firing(shape), len(shape.order))
    for script in SCRIPTS:
        made[run_name(script)] = Work(_running(script), len(script.calls))
    return made


class Player:
    """A net of places with dots: a place a slot, a transition a port of a step."""

    def __init__(self, net: Net) -> None:
        wiring = Wiring(net)
        self.net = PetriNet("bench")
        for slot in wiring.slots:
            self.net.add_place(Place(f"p{slot.index}"))
        for step in wiring.steps:
            for port, events in step.fires.items():
                name = f"{step.name}:{port}"
                self.net.add_transition(Transition(name))
                for slot in step.slots:
                    self.net.add_input(f"p{slot.index}", name, Value(dot))
                for event in events:
                    for slot in wiring.takers[event]:
                        self.net.add_output(f"p{slot.index}", name, Value(dot))
        self.begin = [self.net.place(f"p{slot.index}") for slot in wiring.takers[START]]

    def transition(self, step: str, port: str | None) -> Any:
        return self.net.transition(f"{step}:{port}")


def _firing(shape: Shape) -> Callable[[], int]:
    player = Player(shape.net)
    order = [player.transition(step, port) for step, port in shape.order]

    def run() -> int:
        for place in player.begin:
            place.add(dot)
        fired = 0
        for transition in order:
            transition.fire(transition.modes()[0])
            fired += 1
        return fired

    return run


def _running(script: Script) -> Callable[[], dict[str, Any]]:
    """The same functions, called after each firing; no history, no retries, no time."""
    player = Player(script.net())
    order = [(player.transition(call.step, call.port), call) for call in script.calls]

    def run() -> dict[str, Any]:
        state = State()
        for place in player.begin:
            place.add(dot)
        for transition, call in order:
            transition.fire(transition.modes()[0])
            state.keep(call)
        return state.answer()

    return run
