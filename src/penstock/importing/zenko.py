"""Zenko's diagrams: boxes and links become steps that wait for steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from graphlib import TopologicalSorter
from typing import Any

from penstock.importing.imported import Imported, Notes, Wrongs, escaped, made, step_name, workflow_name
from penstock.importing.json_document import JsonDocument
from penstock.importing.zenko_conditions import basic_condition, script_condition
from penstock.importing.zenko_rules import (
    ADVANCED,
    AZURE,
    SOURCES,
    check_model,
    edges_of,
    subtype_of,
)

ROUTER = "http://router.fission/fission-function"
"""Where Fission answers inside its cluster."""
OURS = {"Bucket": "object.bucket", "Key": "object.key", "tags": "object.tags"}
"""What the script of a source may speak of."""
FARTHEST = 1_000_000
"""No box of a drawing is further away; what says so says nothing."""
PORTS = {"output": "then", "output2": "else"}
_WILD = re.compile(r"[*?\[\]{}!]")
_BUCKET = re.compile(r"\s*Bucket\s*={2,3}\s*(['\"])([^'\"]+)\1\s*;?\s*")
_CHOICE = frozenset[tuple[str, str]]
"""The ports of decisions that must be taken for an event to come."""


def import_zenko(text: str, name: str | None = None) -> Imported:
    """The definition of a diagram in JSON. Raises DefinitionError with every rule of Zenko that it breaks."""
    document = JsonDocument(text)
    wrongs = Wrongs(document.place)
    check_model(document.value, wrongs)
    wrongs.stop()
    if not any(node["type"] not in SOURCES for node in document.value["nodes"]):
        wrongs.say("nodes", "the diagram has no box beside its source: there is nothing to import", "empty")
        wrongs.stop()
    return _Diagram(document.value, workflow_name(name, "zenko")).made()


class _Diagram:
    def __init__(self, model: Mapping[str, Any], name: str) -> None:
        self.name, self.notes = name, Notes()
        self.nodes: dict[str, Mapping[str, Any]] = {node["id"]: node for node in model["nodes"]}
        self.edges = list(dict.fromkeys(edges_of(model)))
        if len(self.edges) < len(model["links"]):
            self.notes.say("Two links from one port to the same box are one: an event comes once.")
        self.names: dict[str, str] = {}
        for node in self.nodes.values():
            if node["type"] not in SOURCES:
                taken = set(self.names.values())
                self.names[node["id"]] = step_name(node.get("name"), str(node["type"]), taken)

    def made(self) -> Imported:
        slots = self.slots()
        steps = {}
        for id in self.order():
            if id in self.names:
                after = [" | ".join(slot) for slot in slots[id] if slot]
                waits = {"after": after[0] if len(after) == 1 else after} if after else {}
                steps[self.names[id]] = {**self.box(self.nodes[id], self.names[id]), **waits}
        plain: dict[str, Any] = {"name": self.name, "source": self.source(), "steps": steps}
        if view := self.view():
            plain["view"] = view
        return made("a diagram of Zenko", plain, self.notes)

    def order(self) -> list[str]:
        graph: dict[str, list[str]] = {id: [] for id in self.nodes}
        for start, _, end in self.edges:
            graph[end].append(start)
        return list(TopologicalSorter(graph).static_order())

    # -- what a box waits for ------------------------------------------------------------------------------

    def slots(self) -> dict[str, list[list[str]]]:
        """Each box with its slots; links that cannot both be taken share one."""
        needs: dict[str, _CHOICE] = {}
        found: dict[str, list[list[str]]] = {}
        for id in self.order():
            slots: list[list[tuple[str, _CHOICE]]] = []
            for start, port, end in self.edges:
                if end == id:
                    _place(slots, self.event(start, port), needs[start] | self.choice(start, port))
            # What every way to a slot needs, over all slots: the box itself needs that.
            common = [frozenset.intersection(*(need for _, need in slot)) for slot in slots]
            needs[id] = frozenset().union(*common)
            found[id] = [[event for event, _ in slot if event] for slot in slots]
            if any(len(slot) > 1 for slot in slots):
                self.notes.say(
                    f"'{self.names[id]}' joins branches of which only one is taken: it waits for any one of them, "
                    "where Zenko would wait for all."
                )
        return found

    def choice(self, id: str, port: str) -> _CHOICE:
        return frozenset({(id, port)}) if self.nodes[id]["type"] == "decision" else frozenset()

    def event(self, id: str, port: str) -> str:
        """What a step fires on a port; nothing for the source, which is the start."""
        if id not in self.names:
            return ""
        name = self.names[id]
        return f"{name}.{PORTS[port]}" if self.nodes[id]["type"] == "decision" else name

    # -- boxes ---------------------------------------------------------------------------------------------

    def box(self, node: Mapping[str, Any], name: str) -> dict[str, Any]:
        title = {"title": str(node["name"])} if node.get("name") not in (None, "", name) else {}
        kind = str(node["type"])
        if kind == "tag":
            made = {"task": "tag", "with": self.tags(node, name)}
        elif kind == "decision":
            made = {"task": "decide", "with": {"if": self.condition(node, name)}}
        elif kind == "function":
            made = {"task": "http", "with": self.function(node, name)}
        else:
            made = {"task": "update" if kind == "update" else "terminate"}
        return {**title, **made}

    def tags(self, node: Mapping[str, Any], name: str) -> dict[str, Any]:
        mode = {"tags_mode": "replace"} if node.get("replace") else {}
        if subtype_of(node) == ADVANCED:
            also = ", and `tags_mode: replace`, for the others go" if mode else ""
            self.notes.say(
                f"The script of '{name}' sets tags in JavaScript ({_short(node['script'])}): say them under `set`, "
                f"with expressions such as ${{ tags.a }}{also}; until then it sets none."
            )
            return {"set": {}}
        return {"set": {str(node["key"]): escaped(node["value"])}, **mode}

    def condition(self, node: Mapping[str, Any], name: str) -> str:
        if subtype_of(node) != ADVANCED:
            return basic_condition(str(node["key"]), str(node["operator"]), node["value"])
        made = script_condition(str(node["script"]), {"tags": "tags"})
        if made is None:
            self.notes.say(
                f"The script of '{name}' is JavaScript that has no simple form in CEL ({_short(node['script'])}): "
                "write it under `if`; until then it always takes the branch `else`."
            )
            return "false"
        if made not in ("true", "false"):
            self.notes.say(f"The script of '{name}' was rewritten in CEL: check whether it says the same.")
        return made

    def function(self, node: Mapping[str, Any], name: str) -> dict[str, Any]:
        if node.get("funcAccessKey") or node.get("funcSecretKey"):
            self.notes.say(
                f"The keys of '{name}' were not carried over: store them with `penstock secret set` and name them "
                "under `headers`."
            )
        given: dict[str, Any] = {"url": f"{ROUTER}/{node['func']}", "kind": "fission"}
        if subtype_of(node) == AZURE:
            given = {"url": str(node["endpoint"]), "kind": "azure", "body": escaped(node["postData"])}
            self.notes.say(
                f"'{name}' is sent its `postData` alone, and what it answers is its output: to take tags from that, "
                "add a `tag` step after it, or replace `body` by `params`, which are sent in addition to the context."
            )
        else:
            self.notes.say(
                f"'{name}' calls the function '{node['func']}' of Fission at {ROUTER}: change `url` where your router "
                "is elsewhere, and allow its host with `egress_allow`."
            )
        if node.get("param") not in (None, ""):
            given["params"] = escaped(node["param"])
        if node.get("asynchronous") is not True:
            return given
        self.notes.say(
            f"'{name}' is asynchronous: its function answers at once and, when it is done, calls the address that it "
            "gets as `callback`; change it to do so, or remove `mode: async`. `timeouts` bound the wait."
        )
        return {**given, "mode": "async"}

    # -- the source, and the drawing -----------------------------------------------------------------------

    def source(self) -> dict[str, Any]:
        node = next((node for node in self.nodes.values() if node["type"] in SOURCES), None)
        if node is None:
            self.notes.say("The diagram has no source: runs are started by a person or the API.")
            return {"kind": "api"}
        bucket, where = str(node.get("key") or ""), None
        if subtype_of(node) == ADVANCED:
            bucket, where = self.filter(node, bucket)
        kind = "object" if node["type"] == "data" else "search"
        found: dict[str, Any] = {"kind": kind, "store": self.store(bucket)}
        value = node.get("value")
        # A script says all about what an event is taken; a search has its pattern beside it.
        if (subtype_of(node) != ADVANCED or kind == "search") and value not in (None, "", "*"):
            found["glob"] = str(value)
        if where is not None:
            found["where"] = where
        if kind == "object":
            return {**found, "events": ["created"]}
        return {**found, "cron": self.cron(str(node["cronRule"]))}

    def filter(self, node: Mapping[str, Any], bucket: str) -> tuple[str, str | None]:
        """The bucket and the condition of a source that has a script."""
        script = str(node["script"])
        if only := _BUCKET.fullmatch(script):
            return only[2], None
        made = script_condition(script, OURS)
        if made == "true":
            return bucket, None
        if made is None:
            self.notes.say(
                f"The script of the source is JavaScript that has no simple form in CEL ({_short(script)}): "
                "write it under `where`; until then it takes nothing."
            )
            return bucket, "false"
        self.notes.say("The script of the source was rewritten in CEL: check whether it says the same.")
        return bucket, made

    def store(self, bucket: str) -> str:
        store = workflow_name("" if _WILD.search(bucket) else bucket, "zenko")
        if store == bucket:
            self.notes.say(
                f"The source names the bucket '{bucket}': say where it is with --store {store}=s3://{bucket}."
            )
        else:
            what = f"the buckets '{bucket}'" if bucket else "every bucket"
            self.notes.say(
                f"The source takes {what}, and a source of Penstock takes one store: '{store}' stands for it; say "
                f"where it is with --store {store}=s3://BUCKET, and publish the workflow under other names for others."
            )
        return store

    def cron(self, rule: str) -> str:
        fields = rule.split()
        if len(fields) == 6:
            self.notes.say(
                f"The rule '{rule}' counts seconds, which schedules here do not: they were left out."
            )
            fields = fields[1:]
        return " ".join("*" if field == "?" else field for field in fields)

    def view(self) -> dict[str, Any]:
        places = {
            name: [round(self.nodes[id]["x"]), round(self.nodes[id]["y"])]
            for id, name in self.names.items()
            if all(_is_place(self.nodes[id].get(axis)) for axis in ("x", "y"))
        }
        return {"positions": places} if places else {}


def _is_place(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) <= FARTHEST


def _place(slots: list[list[tuple[str, _CHOICE]]], event: str, need: _CHOICE) -> None:
    """Put an event into a slot where it cannot come together with any that is there, else into one of its own."""
    for slot in slots:
        if all(_exclude(need, other) for _, other in slot):
            slot.append((event, need))
            return
    slots.append([(event, need)])


def _exclude(one: _CHOICE, other: _CHOICE) -> bool:
    """Whether both need different ports of the same decision."""
    taken = dict(one)
    return any(taken.get(id, port) != port for id, port in other)


def _short(script: Any) -> str:
    text = " ".join(str(script).split())
    return text if len(text) <= 60 else text[:59] + "…"
