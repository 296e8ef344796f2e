"""What is still under way from before a restore changes nothing after it (ST3, ST5)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from penstock.store.open import open_store, restore_store
from penstock.store.protocol import Store
from penstock.store.rows.change import Change
from penstock.store.rows.rows import Heartbeat, Lease, Renewal
from tests.store.builders import A, B, change, end, ended, given, lease, start, task
from tests.store.places import Place, PostgresPlace


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """The model has no files."""
    return str(request.param)


@asynccontextmanager
async def restored(place: Place, copy: Path, number: int) -> AsyncIterator[Store]:
    """The copy, in a new database."""
    new = str(copy.with_name(f"{number}.db"))
    url = place.server.create_database() if isinstance(place, PostgresPlace) else new
    await restore_store(url, str(copy))
    store = await open_store(url)
    try:
        yield store
    finally:
        await store.close()


async def begun(store: Store) -> tuple[list[Lease], int]:
    """A run that was made after the backup, one that was there before; the leases of both, and the fence told."""
    told = await store.commit([start(B, tasks=(task(worker="amy"), task(2)))])
    await lease(store)
    return [row.lease for run in (A, B) for row in await store.tasks(run)], told.fence


def report(one: Lease) -> Change:
    return change(one.run, 1, ended=(ended(one),))


async def test_st5_no_lease_of_the_time_before_a_restore_is_taken_for_one_after_it(
    place: Place, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    await given(place.store, start(A, tasks=(task(worker="amy"), task(2))))
    await place.store.backup(str(copy))
    before, _ = await begun(place.store)

    for number in (1, 2):  # the second time the leases after the first restore are of the time before
        async with restored(place, copy, number) as store:
            after, fence = await begun(store)

            assert [row.lease.fence for row in await store.tasks(B)] == [fence, fence]
            assert await store.renew([Heartbeat(one) for one in before]) == [Renewal(None)] * len(before)
            assert [(await store.commit([report(one)])).outcomes for one in before] == [["lost"]] * len(
                before
            )
            await given(store, report(after[-1]))
            before += after


@pytest.mark.parametrize("other", ["stale", "applied"])
async def test_st5_the_fence_told_is_that_of_the_tasks_also_where_another_run_was_looked_at(
    place: Place, tmp_path: Path, other: str
) -> None:
    """One of the batch came too late, or ended with a key: on PostgreSQL it is written apart from the rest."""
    copy = tmp_path / "copy"
    await place.store.backup(str(copy))
    async with restored(place, copy, 1) as store:
        await given(store, *[start(run, has_extras=False, tasks=(task(worker="amy"),)) for run in (A, B)])
        await given(store, change(B, 1, keys=(("order", "1"),)))
        [mine], [its] = [[row.lease for row in await store.tasks(run)] for run in (A, B)]
        step = change(
            A, 1, has_extras=False, goes_on=True, ended=(ended(mine),), tasks=(task(2, worker="amy"),)
        )
        last = end(B, 2 if other == "applied" else 1, has_extras=False, ended=(ended(its),))
        committed = await store.commit([step, last])

        assert committed.outcomes == ["applied", other]
        assert [row.lease.fence for row in await store.tasks(A)] == [committed.fence]
