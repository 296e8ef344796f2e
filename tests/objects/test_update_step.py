"""Steps that write back, as workflows have them: all that is documented works, and what is written stays."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from penstock import Engine
from penstock.flow.values.schema_validation import violations
from penstock.secrets.errors import SecretKeyError
from penstock.steps.kinds import OFFERS
from tests.objects.places import FolderPlace, S3Place, StorePlace
from tests.objects.servers import PASSWORD, SeaweedFS


def ran(
    kept: StorePlace, folder: Path, steps: dict[str, Any], *keys: str, tags: Any = None
) -> list[dict[str, Any]]:
    """Runs of a workflow with these steps, one about each object, when all have ended."""

    async def main() -> list[dict[str, Any]]:
        async with (
            asyncio.timeout(60),
            Engine(str(folder / "penstock.db"), tasks={}, stores={"pics": kept.url}) as engine,
        ):
            await engine.publish({"penstock": 1, "name": "w", "steps": steps})
            runs = [
                await engine.start("w", input={"key": key, "system": {"store": "pics"}}, tags=tags)
                for key in keys
            ]
            return [await engine.wait(run, 40) for run in runs]

    return asyncio.run(main())


def test_metadata_is_taken_away_with_null_and_a_version_may_be_named(tmp_path: Path) -> None:
    folder = FolderPlace(tmp_path / "pics")
    folder.put("a")
    steps = {
        "write": {"task": "update", "with": {"metadata": {"who": "me", "n": 1}}},
        "erase": {"task": "update", "after": "write", "with": {"metadata": {"who": None}, "version": "v1"}},
    }
    [run] = ran(folder, tmp_path, steps, "a")
    assert run["error"] is None and run["status"] == "succeeded"
    found = folder.run(lambda store: store.head("a"))
    assert (found.metadata["n"], "who" in found.metadata) == ("1", False)


def test_an_update_gives_and_sets_what_its_offer_says(tmp_path: Path) -> None:
    folder = FolderPlace(tmp_path / "pics")
    folder.put("a")
    [run] = ran(
        folder, tmp_path, {"s": {"task": "update", "with": {"metadata": {"n": 1}}}}, "a", tags={"x": "y"}
    )
    offer, known = OFFERS["update"], {"version", "etag"}
    assert run["status"] == "succeeded"
    assert violations(offer.output, run["steps"]["s"]["output"]) == []
    patch = {name: value for name, value in run["data"].items() if name in known}
    assert ("etag" in patch, violations(offer.sets, patch)) == (True, [])


def test_a_tag_that_a_step_took_away_is_taken_from_the_object_and_others_stay(tmp_path: Path) -> None:
    folder = FolderPlace(tmp_path / "pics")
    folder.put("a")
    folder.run(lambda store: store.put_tags("a", {"gps": "1.2", "kind": "picture", "later": "x"}))
    steps = {
        "strip": {"task": "tag", "with": {"remove": ["gps"], "set": {"seen": "yes"}}},
        "write": {"task": "update", "after": "strip"},
    }
    [run] = ran(folder, tmp_path, steps, "a", tags={"gps": "1.2", "kind": "picture"})
    assert run["status"] == "succeeded"
    found = folder.run(lambda store: store.head("a"))
    assert found.tags == {"kind": "picture", "later": "x", "seen": "yes"}


def test_a_step_that_cannot_open_the_secret_of_its_store_is_tried_again(
    seaweed: SeaweedFS, tmp_path: Path
) -> None:
    pics = S3Place(seaweed, seaweed.bucket("key-away"))
    pics.put("a")
    tries = 0

    async def secret(name: str) -> str | None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise SecretKeyError(f"the secret '{name}' has another key")
        return PASSWORD

    async def main() -> dict[str, Any]:
        stores = {"pics": seaweed.address(pics.bucket, secret_key="${SK}")}
        async with (
            asyncio.timeout(60),
            Engine(str(tmp_path / "penstock.db"), tasks={}, stores=stores) as engine,
        ):
            (await engine._open()).means.stores.secrets = secret  # as a server sets it
            step = {"task": "update", "with": {"tags": {"seen": "yes"}}, "retries": 1}
            await engine.publish({"penstock": 1, "name": "w", "steps": {"write": step}})
            return await engine.wait(
                await engine.start("w", input={"key": "a", "system": {"store": "pics"}}), 40
            )

    run = asyncio.run(main())
    assert (run["status"], tries) == ("succeeded", 2)
    assert pics.run(lambda store: store.head("a")).tags == {"seen": "yes"}
