"""The reference page is that of the calls there are."""

from __future__ import annotations

from pathlib import Path

from scripts.reference.http_api import reference_text

from penstock.api.table import CALLS
from penstock_release.api import CALLS as RELEASES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "api.md"


def test_the_page_says_what_the_calls_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference_text((*CALLS, *RELEASES)), "run `make reference`"


def test_every_call_says_what_it_answers() -> None:
    assert [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.endswith("Answers .")
    ] == []


def test_every_call_says_what_it_does_and_has_a_name_of_its_own() -> None:
    assert [call.path for call in (*CALLS, *RELEASES) if not call.summary.endswith(".")] == []
    assert len({call.name for call in (*CALLS, *RELEASES)}) == len(CALLS) + len(RELEASES)
