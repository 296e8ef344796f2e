"""Zenko on a server: a folder as a store, functions as a process, a call that is answered at once, a search."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.examples.live import Live, script, until, upped
from tests.examples.shelf import FOLDER, functions, path_of, proposed
from tests.objects.test_search import Shifted, searched

from penstock import Engine
from penstock.objects.folder import FolderStore
from penstock.store.open import open_store
from penstock.workers.worker.task_loader import load_tasks

SYSTEM = FOLDER / "zenko"
SKIN, SKY = (220, 170, 135), (120, 170, 220)


class Place:
    """The server, and the folder that it watches."""

    def __init__(self, live: Live, pictures: Path) -> None:
        self.live, self.pictures = live, pictures

    def drop(self, data: str, key: str) -> None:
        """Put a file of the examples into the folder."""
        shutil.copyfile(SYSTEM / "data" / data, self.pictures / key)

    def run_of(self, workflow: str, key: str) -> Any:
        """The run that an object has started, once it has succeeded."""
        [run] = until(lambda: self.live.runs(workflow, subject=f"pictures/{key}"), bool)
        return self.live.until(run["id"], "succeeded", "failed")

    def tags(self, key: str) -> dict[str, str]:
        """The tags of an object in the store."""
        found = asyncio.run(FolderStore("pictures", str(self.pictures)).head(key))
        return dict(found.tags or {})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A copy of the example, whose function is where this test has it."""
    folder = tmp_path_factory.mktemp("zenko")
    own, pictures = folder / "zenko", folder / "pictures"
    pictures.mkdir()
    shutil.copytree(SYSTEM, own, ignore=shutil.ignore_patterns("__pycache__"))
    with script(own / "functions" / "serve.py", "--port", 0, cwd=folder) as address:
        file = own / "notification.yaml"
        file.write_text(file.read_text().replace("http://127.0.0.1:8020", address))
        variables = {"PICTURES": str(pictures), "PENSTOCK_EGRESS_ALLOW": "127.0.0.1"}
        with upped(own, folder, "--store", f"pictures=dir://{pictures}", **variables) as live:
            yield Place(live, pictures)


def test_a_picture_that_is_dropped_is_looked_at_and_its_tags_are_written_back(place: Place) -> None:
    place.drop("holiday/beach-people.jpg", "people.jpg")

    run = place.run_of("auto_tag", "people.jpg")

    tags = {"mime": "image/jpeg", "camera": "Pinhole 1", "taken": "2026-07-14", "content": "people"}
    assert run["status"] == "succeeded"
    assert place.tags("people.jpg") == {**tags, "visibility": "private"}


def test_a_text_that_is_called_like_a_picture_is_left_alone(place: Place) -> None:
    place.drop("notes.txt", "no-picture.jpg")

    run = place.run_of("auto_tag", "no-picture.jpg")

    assert (run["steps"]["skip"]["firings"], run["steps"]["describe"]["firings"]) == (1, 0)
    assert place.tags("no-picture.jpg") == {}


def test_the_function_is_called_for_each_new_object(place: Place) -> None:
    place.drop("holiday/alps.jpg", "alps.jpg")

    run = place.run_of("notification", "alps.jpg")

    assert run["result"]["told"] == "pictures/alps.jpg is new"


def test_writing_tags_back_starts_nothing_again(place: Place) -> None:
    place.drop("holiday/alps.jpg", "once.jpg")
    place.run_of("auto_tag", "once.jpg")
    place.drop("holiday/alps.jpg", "later.jpg")
    place.run_of("auto_tag", "later.jpg")

    assert len(place.live.runs("auto_tag", subject="pictures/once.jpg")) == 1


def test_a_request_is_judged_within_the_call(place: Place) -> None:
    given = proposed("authorization")

    answers = [
        place.live.good("POST", "/api/workflows/authorization/call", {"input": {**given, **changed}})[
            "result"
        ]
        for changed in ({}, {"ip": "8.8.8.8"}, {"at": "2026-03-02T23:30:00Z"}, {"size": 9_000_000_000})
    ]

    assert [(answer["allowed"], answer["reason"]) for answer in answers] == [
        (True, "within the rules"),
        (False, "foreign address"),
        (False, "after hours"),
        (False, "too big"),
    ]


def test_the_search_tags_what_has_no_type_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PICTURES", str(tmp_path))
    for name in ("a.jpg", "b.jpg"):
        shutil.copyfile(SYSTEM / "data" / "holiday" / "alps.jpg", tmp_path / name)
    store = FolderStore("pictures", str(tmp_path))
    asyncio.run(store.put_tags("b.jpg", {"mime": "image/jpeg"}))
    tasks = load_tasks([str(SYSTEM / "auto_tag.py")])

    async def main() -> Any:
        kept = await open_store("memory:", clock=Shifted())  # a quarter of an hour begins in a moment
        stores = {"pictures": f"dir://{tmp_path}"}
        async with asyncio.timeout(40), Engine(store=kept, tasks=tasks, stores=stores) as engine:
            await engine.publish(path_of("untagged"), start=True)
            await searched(engine, "pictures")
            runs = await engine.runs()
            return [await engine.wait(run["id"], 20) for run in runs]

    runs = asyncio.run(main())

    assert [(run["subject"], run["status"]) for run in runs] == [("pictures/a.jpg", "succeeded")]
    assert asyncio.run(store.head("a.jpg")).tags == {"mime": "image/jpeg"}


@pytest.mark.parametrize(
    ("skin", "shown"), [(0, "landscape"), (14, "landscape"), (15, "people"), (100, "people")]
)
def test_a_picture_with_much_skin_shows_people(skin: int, shown: str) -> None:
    assert functions("auto_tag").shown_by([SKIN] * skin + [SKY] * (100 - skin)) == shown
