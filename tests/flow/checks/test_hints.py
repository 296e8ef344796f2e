"""“Did you mean” is said of the first wrong names alone: to compare thousands with thousands would take minutes."""

from __future__ import annotations

from tests.flow.checks.workflows import report

from penstock.flow.model.names import MAX_COMPARED, MAX_HINTS, nearest

MANY = 3 * MAX_HINTS
KNOWN = [f"known_{number}" for number in range(MANY)]
WRONG = f"external: [{', '.join(KNOWN)}]\nsteps:\n" + "".join(
    f"  a{number}: {{task: job, after: knowm_{number}}}\n" for number in range(MANY)
)


def test_of_many_wrong_names_the_first_have_a_hint() -> None:
    found = [each for each in report(WRONG).findings if "knowm" in each.message]

    assert len(found) == MANY
    assert ["Did you mean" in str(each.hint) for each in found].count(True) == MAX_HINTS


def test_among_very_many_names_those_of_about_the_length_are_looked_at() -> None:
    others = [f"{number:040}" for number in range(100 * MAX_COMPARED)]

    assert nearest("transcode_vidoe", [*others, "transcode_video"]) == "transcode_video"
