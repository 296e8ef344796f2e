"""How far runs have come, and hints to other nodes about which have changed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.store.protocol import Store
from penstock.store.rows.rows import RunState
from tests.store.builders import A, B, C, end, given, new_run, start


async def test_the_states_of_runs_are_read_by_id(store: Store) -> None:
    await given(store, start(A), start(B, new_run(workflow="v")), end(A, 1), start(C))

    found = await store.states([B, "nobody", A])

    assert [(each.run, each.workflow, each.status) for each in found] == [
        (A, "w", "succeeded"),
        (B, "v", "running"),
    ]
    assert {type(each) for each in found} == {RunState}
    assert await store.states([]) == []


@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
async def test_another_node_hears_which_runs_changed(store: Store, other: Store) -> None:
    while await other.listen(timedelta(milliseconds=1)) is None:
        await store.notify("runs", [A])  # until it listens
    while await other.listen(timedelta(milliseconds=50)) is not None:
        pass

    heard = []
    for runs in ([A, B], [], ["x" * 20] * 500):
        await store.notify("runs", runs)
        heard.append(await other.listen(timedelta(seconds=10)))

    assert heard == [f"runs={A},{B}", "runs=", "runs="]
