"""Mermaid text: the golden one, and names that must not be read as syntax."""

from __future__ import annotations

from tests.flow.drawing.workflows import drawn, loop, mediathread, step, workflow

from penstock.flow.drawings import to_mermaid

GOLDEN = """\
---
title: "Say \\"hello\\""
---
flowchart LR
  n0(["START"])
  n1>"doorbell"]
  n2["Ask<br/><small>decide</small>"]
  n3["greet<br/><small>mail</small><br/><small>all 2</small>"]
  n4["sorry<br/><small>mail</small>"]
  n5(["OK"])
  n6("oops")
  n0 --> n2
  n1 --> n3
  n3 --> n5
  n3 -.-> n6
  n6 -.-> n4
  n2 -->|"then"| n3
"""


def test_a_small_workflow_as_mermaid_text() -> None:
    definition = workflow(
        title='Say "hello"',
        external=("doorbell",),
        ask=step("decide", title="Ask"),
        greet=step("mail", after="ask.then + doorbell", emits="OK", fails="oops"),
        sorry=step("mail", after="oops"),
    )

    drawing, classes = to_mermaid(drawn(definition)).split("  classDef", 1)

    assert drawing == GOLDEN
    assert classes.splitlines()[-5:] == [
        "  class n0 start",
        "  class n1 outside",
        "  class n2,n3,n4 step",
        "  class n5 ok",
        "  class n6 event",
    ]


def test_hostile_names_become_entity_codes() -> None:
    text = to_mermaid(
        drawn(workflow(title="a\nb: \\", end=step('"]; click x "javascript:"', title="<b>#`end`")))
    )

    assert 'title: "a\\U0000000ab: \\\\"' in text
    assert (
        'n1["#60;b#62;#35;#96;end#96;<br/><small>#34;#93;#59; click x #34;javascript:#34;</small>"]' in text
    )


def test_what_is_wrong_or_off_has_its_own_class() -> None:
    text = to_mermaid(drawn(workflow(a=step(after="never", emits="OK", fails="FAIL", disabled=True))))

    assert text.endswith("  class n0,n3 bad\n  class n1 disabled\n  class n2 ok\n")


def test_names_of_any_script_stay_readable() -> None:
    assert 'n1["Prüfen 検査<br/>' in to_mermaid(drawn(workflow(a=step(title="Prüfen 検査"))))


def test_a_cancel_region_is_a_crossed_dotted_edge() -> None:
    text = to_mermaid(drawn(loop()))

    assert "  n5 -. cancels .-x n2\n  n5 -. cancels .-x n3\n" in text


def test_the_same_workflow_gives_the_same_text() -> None:
    assert to_mermaid(drawn(mediathread())) == to_mermaid(drawn(mediathread()))
