"""What the built-in tasks say of themselves is said in German too: the pages have a dictionary."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.steps.kinds import OFFERS

WORDS = Path(__file__).parents[2] / "web" / "src" / "messages" / "de" / "boxes.json"


def texts_of(schema: Any) -> Iterator[str]:
    """Every title and description in a schema."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("title", "description") and isinstance(value, str):
                yield value
            else:
                yield from texts_of(value)
    elif isinstance(schema, list | tuple):
        for each in schema:
            yield from texts_of(each)


def test_every_text_of_a_built_in_task_has_its_german_and_no_other_has() -> None:
    german = json.loads(WORDS.read_text(encoding="utf-8"))

    said = {text for offer in OFFERS.values() for text in (offer.doc, *texts_of(offer.parameters))}

    assert said == {
        words.rpartition(": ")[2] if words.partition(": ")[0] in OFFERS else words for words in german
    }
