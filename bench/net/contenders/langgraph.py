"""LangGraph: a state graph with a node a step, compiled once, without a saver."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph

from bench.net.runs import MIXED, SMALL, Call, run_name
from bench.net.work import Work, Works

PACKAGE = "langgraph"
BRANCHES = ("thumbnail", "transcode", "describe")


def _merged(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    return {**left, **right}


class _State(TypedDict):
    data: Annotated[dict[str, Any], _merged]
    tags: Annotated[dict[str, Any], _merged]
    output: Annotated[dict[str, Any], _merged]


def works() -> Works:
    graphs = {SMALL.name: _small(), MIXED.name: _mixed()}
    return {
        run_name(script): Work(_running(graphs[script.name]), len(script.calls)) for script in (SMALL, MIXED)
    }


def _node(call: Call) -> Callable[[_State], dict[str, Any]]:
    def node(state: _State) -> dict[str, Any]:
        answer = call.function()
        update: dict[str, Any] = {"output": {call.step: answer}}
        if call.keeps != "output":
            update[call.keeps] = answer
        return update

    return node


def _graph(calls: tuple[Call, ...]) -> Any:
    graph = StateGraph(_State)
    for call in calls:
        graph.add_node(call.step, _node(call))
    return graph


def _chain(graph: Any, *names: str) -> None:
    for before, after in pairwise(names):
        graph.add_edge(before, after)


def _small() -> Any:
    graph = _graph(SMALL.calls)
    _chain(graph, START, *(call.step for call in SMALL.calls), END)
    return graph.compile()


def _mixed() -> Any:
    graph = _graph(MIXED.calls)
    _chain(graph, START, "measure", "large")
    graph.add_conditional_edges("large", _choose, [*BRANCHES, END])
    graph.add_edge(list(BRANCHES), "gather")
    _chain(graph, "gather", "total", "mark", "store", "notify", END)
    return graph.compile()


def _choose(state: _State) -> list[str]:
    return list(BRANCHES) if state["data"]["size"] > 1 else [END]


def _running(graph: Any) -> Callable[[], dict[str, Any]]:
    def run() -> dict[str, Any]:
        state = graph.invoke({"data": {}, "tags": {}, "output": {}})
        return {"data": state["data"], "tags": state["tags"]}

    return run
