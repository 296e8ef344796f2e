"""The picture: well-formed, complete, the same each time, and safe whatever people call things."""

from __future__ import annotations

from time import perf_counter
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.flow.drawing.workflows import (
    decision,
    drawn,
    fork_join,
    loop,
    mediathread,
    mixed,
    net_of,
    step,
    workflow,
    zenko,
)

from penstock.flow.drawings import diagram_of, to_svg
from penstock.flow.drawings.text_width import shorten, width_of, wrap
from penstock.flow.model.definition import Definition, External, Policy
from penstock.flow.model.offer import Offer

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = """<script>alert("x")</script> & 'y' ]]> <!-- \x00\x1b\ufffe"""


def parsed(definition: Definition) -> ElementTree.Element:
    return ElementTree.fromstring(to_svg(drawn(definition)))


def names(root: ElementTree.Element, kind: str) -> list[str]:
    return [group.get("data-name", "") for group in root.iter(f"{SVG}g") if group.get("class") == kind]


def texts(root: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


def test_every_step_and_every_listed_event_appears() -> None:
    root = parsed(mediathread())

    events = ["metadata_extracted", "failed", "et_job_created", "poster_created", "uploaded", "submitted"]
    assert names(root, "step") == list(mediathread().steps)
    assert names(root, "event") == events
    assert names(root, "outside") == ["et_job_finished"]
    assert names(root, "start") + names(root, "end") == ["START", "OK", "FAIL"]


def test_the_title_and_the_description_stand_on_top() -> None:
    root = parsed(mediathread())

    assert texts(root)[:2] == ["Video for Mediathread", mediathread().description]


def test_a_workflow_without_title_shows_its_name() -> None:
    assert texts(parsed(workflow("nightly", a=step())))[0] == "nightly"


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        (zenko(), ["match", "2 of 3", "all 4", "each", "4 at once", "1 per key", "disabled"]),
        (loop(), ["either", "loop", "approved", "rejected", "cancels 2"]),
        (decision(), ["then", "else", "all 2", "either"]),
    ],
    ids=lambda value: getattr(value, "title", None),
)
def test_joins_ports_and_policies_are_said_in_words(definition: Definition, words: list[str]) -> None:
    assert set(words) <= set(texts(parsed(definition)))


def test_an_unhandled_failure_has_no_port_and_a_listed_one_is_a_square() -> None:
    plain = to_svg(drawn(workflow(a=step())))
    handled = to_svg(drawn(workflow(a=step(fails="FAIL"))))

    assert plain.count('class="pt f"') == 0
    assert handled.count('class="pt f"') == 1


def test_a_failure_is_dashed_and_a_cancel_region_dotted() -> None:
    picture = to_svg(drawn(loop()))

    assert picture.count('class="c"') == 2
    assert 'class="w f"' in to_svg(drawn(mediathread()))
    assert 'class="w f"' not in picture


def test_a_step_may_cancel_one_beside_it_above_it_or_below_it() -> None:
    chain = workflow(a=step(), b=step(after="a", cancels=("a",)))
    rows = workflow(a=step(cancels=("c",)), b=step(), c=step(cancels=("a",)))

    assert to_svg(drawn(chain)).count('class="cx"') == 1
    assert to_svg(drawn(rows)).count('class="cx"') == 2


def test_a_cancelled_step_that_does_not_exist_is_left_out() -> None:
    assert 'class="cx"' not in to_svg(drawn(workflow(a=step(cancels=("nobody",)))))


def test_a_net_without_its_definition_is_drawn_by_its_names() -> None:
    net = net_of(workflow(a=step(), b=step(after="a")))

    root = ElementTree.fromstring(to_svg(diagram_of(Definition(name="w", steps={}), net, {})))

    assert texts(root) == ["w", "START", "a", "b"]


def test_an_event_that_nothing_fires_is_marked() -> None:
    assert names(parsed(workflow(a=step(after="never"))), "missing") == ["never"]


def test_outside_events_say_whether_they_come_again_or_need_not_come() -> None:
    outside = (External(name="ping", many=True), External(name="note", optional=True))
    definition = Definition(name="w", external=outside, steps={"a": step(after="ping | note")})

    assert {"many", "optional"} <= set(texts(parsed(definition)))


def test_a_task_that_nobody_offers_is_marked_where_offers_are_known() -> None:
    definition = workflow(a=step("video.cut", title="Cut"), b=step("mail", after="a"))

    picture = to_svg(diagram_of(definition, net_of(definition), {"mail": Offer(name="mail")}))

    assert picture.count(">unknown task<") == 1


def test_a_marking_fills_slots_and_counts_what_waits() -> None:
    diagram = drawn(zenko())

    def filled(marking: dict[tuple[str, int], int]) -> int:
        return to_svg(diagram, marking).count('class="pt full"')

    assert filled({}) == 0
    assert filled({("collect", 0): 1, ("collect", 2): 1}) == 2
    assert filled({("quick", 0): 1}) == 0
    assert '<path class="full"' in to_svg(diagram, {("quick", 0): 1})
    assert ">3</text>" in to_svg(diagram, {("write", 0): 3})
    assert ">9+</text>" in to_svg(diagram, {("write", 0): 12})


def test_the_same_workflow_gives_the_same_bytes() -> None:
    assert to_svg(drawn(mixed(40))) == to_svg(drawn(mixed(40)))


def test_hostile_names_stay_text() -> None:
    definition = Definition(
        name="w",
        title=HOSTILE,
        description=HOSTILE,
        external=(External(name=HOSTILE + "o"),),
        steps={HOSTILE: step(HOSTILE, after=HOSTILE + "o", emits={"done": HOSTILE + "e", HOSTILE: "OK"})},
    )

    root = parsed(definition)

    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        *("svg", "title", "desc", "style", "defs", "pattern", "g"),
        *("rect", "circle", "path", "text"),
    }
    assert names(root, "step") == [HOSTILE.replace("\x00", "�").replace("\x1b", "�").replace("\ufffe", "�")]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.text(min_size=1, max_size=20))
def test_any_text_at_all_makes_well_formed_xml(name: str) -> None:
    definition = Definition(
        name="w", title=name, steps={name: step(name, title=name, policy=Policy(parallel=2))}
    )

    assert len(names(parsed(definition), "step")) == 1


def test_long_names_are_cut_inside_their_box_and_whole_in_the_tooltip() -> None:
    name = "a very long name of a step that nobody would want to read in a box of a picture"
    root = parsed(workflow(a=step(title=name)))

    shown = next(text for text in texts(root) if text.startswith("a very long"))
    assert shown.endswith("…")
    assert width_of(shown, 12, bold=True) < 200
    assert f"a · {name} · work" in [title.text for title in root.iter(f"{SVG}title")]


def test_text_is_measured_cut_and_wrapped() -> None:
    assert width_of("漢字", 10) == 20
    assert width_of("é", 10) == width_of("e\u0301", 10)
    assert shorten("abcdef", 10, 1000) == "abcdef"
    assert wrap("one two three four", 10, 44, 2) == ["one two", "three…"]
    assert wrap("", 10, 40, 2) == []


def test_large_workflows_are_drawn_fast() -> None:
    begin = perf_counter()

    to_svg(drawn(fork_join(80, 5)))
    to_svg(drawn(mixed(400)))

    assert perf_counter() - begin < 6


def test_a_crossing_is_a_bridge_and_a_merging_is_not() -> None:
    crossing = workflow(a=step(), b=step(), c=step(after="a + b"), d=step(after="a + b"))
    merging = workflow(a=step(), b=step(), c=step(after="a | b"))

    assert 'class="halo"' in to_svg(drawn(crossing))
    assert 'class="halo"' not in to_svg(drawn(merging))
