"""Plain Python: the functions called one after the other. The floor under everything."""

from __future__ import annotations

from typing import Any

from bench.net.runs import SCRIPTS, Call, State, run_name
from bench.net.work import Work, Works

PACKAGE = None


def works() -> Works:
    return {run_name(script): Work(_Running(script.calls).run, len(script.calls)) for script in SCRIPTS}


class _Running:
    def __init__(self, calls: tuple[Call, ...]) -> None:
        self.calls = calls

    def run(self) -> dict[str, Any]:
        state = State()
        for call in self.calls:
            state.keep(call)
        return state.answer()
