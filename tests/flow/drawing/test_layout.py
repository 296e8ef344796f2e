"""Where things stand: nothing overlaps, wires run to the right, loops come back."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.flow.drawing.workflows import EXAMPLES, drawn, loop, mediathread, step, workflow

from penstock.flow.drawings.layout import Layout, Spot, layout_of
from penstock.flow.model.definition import Definition, External

Stroke = tuple[tuple[float, float], tuple[float, float]]


def apart(one: Spot, two: Spot) -> bool:
    return one.right <= two.x or two.right <= one.x or one.bottom <= two.y or two.bottom <= one.y


def strokes(layout: Layout) -> Iterator[tuple[str, Stroke]]:
    for route in layout.routes:
        for points in route.strokes:
            for pair in pairwise(points):
                yield route.group, pair


def inside(spot: Spot, stroke: Stroke) -> bool:
    """Whether a stroke runs through a box, its edge not counted."""
    (x1, y1), (x2, y2) = stroke
    across = max(x1, x2) > spot.x + 0.5 and min(x1, x2) < spot.right - 0.5
    return across and max(y1, y2) > spot.y + 0.5 and min(y1, y2) < spot.bottom - 0.5


def doubled(layout: Layout) -> list[tuple[str, str]]:
    """The groups whose upright strokes lie on each other."""
    uprights = [
        (x1, min(y1, y2), max(y1, y2), group) for group, ((x1, y1), (x2, y2)) in strokes(layout) if x1 == x2
    ]
    return [
        (one[3], two[3])
        for one, two in combinations(uprights, 2)
        if one[3] != two[3] and one[0] == two[0] and one[1] < two[2] and two[1] < one[2]
    ]


def check(definition: Definition) -> None:
    layout = layout_of(drawn(definition))
    overlaps = [(a, b) for (a, one), (b, two) in combinations(layout.spots.items(), 2) if not apart(one, two)]
    assert overlaps == []
    through = [
        (group, name)
        for group, line in strokes(layout)
        for name, spot in layout.spots.items()
        if inside(spot, line)
    ]
    assert through == []
    assert doubled(layout) == []
    assert all(spot.x >= 0 and spot.right <= layout.width for spot in layout.spots.values())
    assert all(spot.y >= 0 and spot.bottom <= layout.height for spot in layout.spots.values())
    assert all(
        0 <= x <= layout.width and 0 <= y <= layout.height for _, line in strokes(layout) for x, y in line
    )


@pytest.mark.parametrize("definition", EXAMPLES, ids=lambda definition: definition.title)
def test_boxes_pills_and_wires_keep_clear_of_each_other(definition: Definition) -> None:
    check(definition)


@st.composite
def definitions(draw: st.DrawFn) -> Definition:
    """Any net at all: loops, self-loops, joins, n of m, events nobody fires, steps nobody reaches."""
    count = draw(st.integers(1, 9))
    names = [f"s{index}" for index in range(count)]
    events = [*names, *(f"{name}.failed" for name in names), "e1", "e2", "outside", "START", "FAIL"]
    slot = st.one_of(
        st.sampled_from(events),
        st.lists(st.sampled_from(events), min_size=2, max_size=3, unique=True).map(" | ".join),
        st.lists(st.sampled_from(events), min_size=2, max_size=3, unique=True).map(
            lambda names: "2 of " + ", ".join(names)
        ),
    )
    fired = st.sampled_from(["", "", "e1", "e2", "OK", "e1 + e2"])
    steps = {
        name: step(
            after=" + ".join(draw(st.lists(slot, max_size=3))),
            emits=draw(fired),
            fails=draw(fired),
            cancels=tuple(draw(st.lists(st.sampled_from(names), max_size=1))),
        )
        for name in names
    }
    return Definition(name="any", external=(External(name="outside"),), steps=steps)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(definitions())
def test_any_net_can_be_drawn_without_overlaps(definition: Definition) -> None:
    check(definition)


def test_a_chain_runs_straight_from_left_to_right() -> None:
    layout = layout_of(drawn(workflow(a=step(), b=step(after="a"), c=step(after="b", emits="OK"))))

    ends = ["start", "step:a", "step:b", "step:c", "end:OK"]
    assert [name for name in sorted(layout.spots, key=lambda name: layout.spots[name].x)] == ends
    assert {y for _, line in strokes(layout) for _, y in line} == {layout.spots["step:a"].y + 17}


def test_a_loop_comes_back_below_or_above_the_boxes_it_passes() -> None:
    layout = layout_of(drawn(loop()))

    [back] = [route for route in layout.routes if route.backward]
    assert back.group == "out:changes"
    assert layout.spots["step:draft"].right < layout.spots["event:changes"].x
    assert len(back.backward) == 4


def test_a_step_that_waits_for_itself_gets_a_wire_around_it() -> None:
    layout = layout_of(drawn(workflow(again=step(after="START | again"))))

    [back] = [route for route in layout.routes if route.backward]
    assert back.group == "own:0:again"


def test_failures_run_below_everything_else() -> None:
    layout = layout_of(drawn(mediathread()))

    lowest = max(
        spot.bottom
        for name, spot in layout.spots.items()
        if name not in ("step:email_failure", "end:FAIL", "event:failed")
    )
    assert layout.spots["event:failed"].y + 10 > lowest


def test_wires_of_one_event_are_one_line_with_no_stretch_drawn_twice() -> None:
    layout = layout_of(drawn(mediathread()))

    [failed] = [route for route in layout.routes if route.group == "in:failed:failed"]
    level = [line for points in failed.strokes for line in pairwise(points) if line[0][1] == line[1][1]]
    spans = sorted((line[0][1], *sorted((line[0][0], line[1][0]))) for line in level)
    doubled = [
        (one, two) for one, two in pairwise(spans) if one[0] == two[0] and min(one[2], two[2]) - two[1] > 6
    ]
    assert doubled == []


def test_an_empty_diagram_has_no_size() -> None:
    assert layout_of(drawn(workflow())) == Layout(0.0, 0.0, {}, ())
