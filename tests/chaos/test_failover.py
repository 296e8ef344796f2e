"""Nodes, workers and two PostgreSQL servers in networks of their own: all that can befall them and their lines.

Commits are answered when they are on two disks: then a failover loses nothing that was acknowledged. Where no
networks can be made, links are cut by the proxies that all lines go through, and the figures say so.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from penstock.remote.engine import RemoteEngine
from tests.chaos.alone import TOKEN
from tests.chaos.client import Client, Nodes
from tests.chaos.cluster import Cluster
from tests.chaos.figures import Record, tell
from tests.chaos.judging import late_results, most_succeeded, settle
from tests.chaos.nemesis import LEAST, SCALE, SEED, Kind, Nemesis, faults_of, scaled
from tests.chaos.network import Network
from tests.chaos.rooms import NETWORK, can_make, run_in
from tests.chaos.site import HERE, Site

pytestmark = pytest.mark.long(
    "test_c1_n14_what_was_acknowledged_survives_crashes_and_the_store_goes_on",
    "test_c6_a_report_whose_answer_was_lost_is_answered_as_the_first_and_another_refused",
    "test_every_promise_holds_in_many_small_worlds",
)

SECONDS = 18.0 * SCALE
FAULTS: dict[Kind, int] = scaled(
    {
        "kill": 3,
        "stop": 3,
        "freeze": 2,
        "cut": 3,
        "lose": 6,
        "break": 3,
        "slow": 2,
        "failover": 3,
        "stall": 2,
    }
)
STOP = (3.0, 4.0)
"""Seconds that a worker is stopped, or a place cut off: longer than leases of two."""
EVERY = 0.2
"""Seconds between two starts."""
LONGEST = 900.0
"""Seconds that there is load at most; it ends with the last blow."""

Outcome = tuple[dict[str, Any], dict[str, list[str]]]


async def chaos(folder: Path) -> Outcome:
    """The places, and what is done there. Answers figures, and what was found wrong."""
    began = time.monotonic()
    async with Network() as network, Cluster.begin(network) as cluster:
        url = await asyncio.to_thread(cluster.primary.server.create_database)
        database = url.rpartition("/")[2]
        figures, wrong = await under_load(Site(network, cluster, folder), cluster, database, folder)
    return {
        **figures,
        "partitions by": network.means,
        "seconds": time.monotonic() - began,
    }, wrong


async def under_load(site: Site, cluster: Cluster, database: str, folder: Path) -> Outcome:
    """Load and faults, then rest, then the questions."""
    crew = await site.crew(database)
    client, nodes = Client(SEED), Nodes(site.urls, TOKEN)
    nemesis = Nemesis(crew, client, site.blows, lambda: late_results(folder))
    try:
        await crew.begin()
        engine = RemoteEngine(site.urls[0], TOKEN)
        await engine.publish("carry", (HERE / "carry.yaml").read_text())
        await engine.connection.close()
        async with asyncio.TaskGroup() as group:
            group.create_task(client.load(nodes, LONGEST, EVERY))
            await nemesis.strike_all(faults_of(SEED, SECONDS, FAULTS, STOP))
            client.enough = True
        verdict = await settle(cluster.primary.server.url(database), client, crew, folder)
    finally:
        await nodes.close()
        crew.kill()
    figures = dict(nemesis.struck) | verdict.figures
    figures["duplicates suppressed"] = nodes.duplicates + figures["reports repeated"]
    return figures, verdict.wrong


def test_no_failover_partition_or_lost_reply_loses_or_doubles_anything(
    tmp_path: Path, record_property: Record
) -> None:
    room = NETWORK if can_make(NETWORK) else 0

    figures, wrong = run_in(room, lambda: asyncio.run(chaos(tmp_path)))

    tell(record_property, "failovers", figures)
    assert not Path("/sys/class/net/link1").exists(), "a link was left behind"
    assert wrong == {name: [] for name in wrong}
    for kind in (
        "kills of",
        "stops of",
        "partitions of",
        "failovers",
        "lost replies of",
        "broken",
        "slow",
        "stalled",
    ):
        assert sum(n for name, n in figures.items() if name.startswith(kind)) >= LEAST, kind
    assert figures["late results rejected"] > 0
    assert figures["duplicates suppressed"] > 0
    assert most_succeeded(figures)
