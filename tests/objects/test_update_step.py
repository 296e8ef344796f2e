"""Steps that write back, as workflows have them: all that is documented works, and what is written stays."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from penstock import Engine
from tests.objects.places import FolderPlace, StorePlace


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
