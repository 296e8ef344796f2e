"""The types of the web pages are those of the API."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from scripts.reference.typescript import types_text

from penstock.api.call import Call
from penstock.api.extension import Calls
from penstock.api.table import CALLS
from penstock_release.api import CALLS as RELEASES

FILE = Path(__file__).parents[2] / "web" / "src" / "api" / "schema.d.ts"


def test_the_types_of_the_pages_are_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == types_text((*CALLS, *RELEASES)), "run `make reference`"


class Part(Struct):
    n: int


class Whole(Struct):
    """What a
    call gives."""

    name: str
    parts: list[Part | None]
    by: dict[str, float]
    some: str | None = None


def test_what_a_call_gives_is_written_as_a_type() -> None:
    calls = Calls("test")

    @calls.get("/whole", "read", gives=Whole)
    async def show_whole(ask: object) -> object:
        """The whole."""
        return ask

    made: tuple[Call, ...] = tuple(calls.list)
    text = types_text(made)

    assert "    /** What a call gives. */\n    Whole: {\n" in text
    assert "      parts: (components['schemas']['Part'] | null)[]\n" in text
    assert "      by: Record<string, number>\n      some: string | null\n    }\n" in text
