"""The table of what people do to a run by hand."""

from __future__ import annotations

from typing import get_args

from penstock.runtime.commands.verbs import VERBS, BulkAction


def test_what_may_be_done_to_many_runs_is_what_the_table_of_verbs_says() -> None:
    assert set(get_args(BulkAction)) == {verb.name for verb in VERBS.values() if verb.bulk}
