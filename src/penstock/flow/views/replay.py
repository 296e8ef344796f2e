"""The fold of a history: the marking of a run after any of its entries, from the entries alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.emit import match_key
from penstock.flow.decisions.repair import add
from penstock.flow.decisions.retry import forget_failures
from penstock.flow.model.plan import Entry
from penstock.flow.model.run import Origin
from penstock.flow.model.run_input import Put
from penstock.flow.model.tags import NO_TAGS, TagChange, Tags, change
from penstock.flow.values.merge_patch import merge_patch
from penstock.kernel.firing import MutableMarking
from penstock.kernel.marking import Marking, Taken, Token
from penstock.kernel.net import START, WiredStep


class BrokenHistory(Exception):
    """An entry cannot have happened after those before it."""


def fold(flow: Flow, history: Iterable[Entry]) -> Marking:
    """The marking after the last entry. Raises BrokenHistory."""
    replay = Replay(flow)
    for entry in history:
        replay.take(entry)
    return replay.marking.marking()


def begun(flow: Flow, tags: Mapping[str, Any] | None = None) -> Replay:
    """A run of which no entry was taken yet; it begins with `tags`."""
    replay = Replay(flow)
    if tags:
        replay.tags = change(NO_TAGS, TagChange(dict(tags)), 0)
    return replay


class Replay:
    """A history taken entry by entry. `input` stands for that of the run, if given."""

    def __init__(self, flow: Flow, input: Any = None) -> None:
        self.flow, self.input = flow, input
        self.marking = MutableMarking(flow.wiring)
        self.data: Any = None
        self.tags: Tags = NO_TAGS
        self.taken: dict[int, tuple[WiredStep, Taken]] = {}

    def take(self, entry: Entry) -> None:
        """What one entry says. Raises BrokenHistory."""
        if entry.tags is not None:
            self.tags = change(self.tags, entry.tags, entry.seq)
        if entry.kind == "event":
            self.event(entry)
        elif entry.kind == "fired":
            self.fired(entry)
        elif entry.kind == "set":
            self.data = merge_patch(self.data, entry.data)
        elif entry.kind == "repaired":
            self.repaired(entry)

    def repaired(self, entry: Entry) -> None:
        said, step = entry.data, entry.step or ""
        if "retry" in said:
            forget_failures(self.flow, self.marking, set(said["retry"]))
            for number in said["retry"]:
                self.marking.put_back(*self.taken[number])
        elif "put" in said:
            put = Put(step=step, event=entry.event or "", slot=said["put"], data=said["data"])
            token = Token(entry.seq, put.event, Origin(put.data, NO_TAGS, entry.at))
            add(self.flow, self.marking, put, token, self.data)
        elif "take" in said:
            slot = self.flow.wiring.by_name[step].slots[said["take"]]
            self.marking.remove(slot, said["number"])
        elif said.get("cleared"):
            self.marking.clear(self.flow.wiring.by_name[step])

    def event(self, entry: Entry) -> None:
        if entry.event == START:
            given = entry.data if self.input is None else self.input
            self.data = given if given is not None else {}
        assert entry.event is not None
        origin = Origin(entry.data, NO_TAGS, entry.at, entry.step, id=entry.id, firing=entry.firing)
        self.marking.put(Token(entry.seq, entry.event, origin), self.key)

    def key(self, step: WiredStep, token: Token) -> str | None:
        key = match_key(self.flow, step, token, self.data)
        return key if isinstance(key, str) else None

    def fired(self, entry: Entry) -> None:
        assert entry.step is not None
        step = self.flow.wiring.by_name[entry.step]
        if not self.marking.enabled(step):
            raise BrokenHistory(f"entry {entry.seq}: step '{step.name}' fired and was not enabled")
        taken = self.marking.take(step)
        if [token.number for token in taken.tokens()] != entry.data["consumed"]:
            raise BrokenHistory(f"entry {entry.seq}: step '{step.name}' did not consume what waited")
        self.taken[entry.seq] = (step, taken)
        for other in step.cancels:
            self.marking.clear(self.flow.wiring.steps[other])
