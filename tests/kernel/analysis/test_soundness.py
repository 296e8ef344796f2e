"""Named cases of the proof: what is found, and the trace that shows it."""

from __future__ import annotations

import pytest
from tests.kernel.analysis.nets import branches, net, step

from penstock.kernel.net import Net
from penstock.kernel.proof import soundness
from penstock.kernel.proof.analysis import Analysis, Deadlock, Leftover, Unbounded
from penstock.kernel.proof.soundness import analyse
from penstock.kernel.proof.trace import Event, Fire, Trace


def facts(found: Analysis) -> dict[str, object]:
    """What was found, without what is empty and without how it was found."""
    silent = Analysis()
    names = ("dead", "deadlock", "no_end", "unbounded", "fail_without_failure", "fires_twice", "leftover")
    return {name: getattr(found, name) for name in names if getattr(found, name) != getattr(silent, name)}


def fires(text: str) -> Trace:
    """`d.then x.done`; a word without a dot is an event from outside."""
    items = (word.split(".") for word in text.split())
    return tuple(Event(item[0]) if len(item) == 1 else Fire(item[0], item[1]) for item in items)


DECISION = (
    step("d", then="a", **{"else": "b"}),
    step("x", "a", done="p"),
    step("y", "b", done="q"),
)


def test_s5_a_join_below_a_decision_is_a_deadlock() -> None:
    found = analyse(net(*DECISION, step("j", "p q", done="OK")))

    assert found.complete
    assert facts(found) == {
        "dead": ("j",),
        "deadlock": Deadlock(fires("d.then x.done"), {"j": ("q",)}),
    }


def test_s5_the_same_join_as_either_or_is_clean() -> None:
    found = analyse(net(*DECISION, step("j", "p|q", done="OK")))

    assert (found.complete, facts(found)) == (True, {})


def test_s9_a_loop_that_feeds_itself_twice_is_unbounded() -> None:
    found = analyse(net(step("a", "START|again", done="again more"), step("b", "more", done="again")))

    assert found.unbounded == Unbounded(fires("a.done"), "b", "more")


def test_s9_a_pile_is_found_at_a_step_with_a_cancel_region() -> None:
    found = analyse(net(step("a", "START|x|y", cancels="b", done="x y"), step("b")))

    assert found.unbounded == Unbounded(fires("a.done"), "a", "x")


def test_s9_a_loop_that_keeps_its_count_is_bounded() -> None:
    loop = (step("work", "START|again"), step("look", "work", then="OK", **{"else": "again"}))

    assert facts(analyse(net(*loop))) == {}


def test_s10_a_loop_without_a_way_out_has_no_end() -> None:
    found = analyse(net(step("d", then="OK", **{"else": "b"}), step("a", "b|again", done="again")))

    assert facts(found) == {"no_end": fires("d.else")}


def test_s10_an_endless_workflow_may_go_on_for_ever() -> None:
    assert facts(analyse(net(step("a", "START|again", done="again"), endless=True))) == {}


def test_s10_a_failure_is_no_way_out() -> None:
    found = analyse(net(step("a", "START|again", done="again", failed="FAIL")))

    assert facts(found) == {"no_end": ()}


def test_s10_an_event_that_comes_again_and_again_never_ends_a_run_without_ok() -> None:
    assert facts(analyse(net(step("a", "e"), outside="e*"))) == {"no_end": ()}


def test_s10_ok_ends_a_run_with_an_event_that_comes_again() -> None:
    found = analyse(net(step("a", "e", then="OK", **{"else": ""}), outside="e*"))

    assert (facts(found), found.assumes) == ({}, ("many",))


def test_s13_an_either_or_join_below_a_split_fires_twice() -> None:
    found = analyse(net(step("a", done="p"), step("b", done="q"), step("j", "p|q"), step("k", "j")))

    assert facts(found) == {"fires_twice": {"j": fires("a.done b.done j.done j.done")}}


def test_s13_the_first_of_two_fires_once() -> None:
    found = analyse(net(step("a", done="p"), step("b", done="q"), step("j", "1of:p|q")))

    assert facts(found) == {}


def test_s13_a_failure_put_off_lets_a_step_fire_again() -> None:
    """Its other exit ends the run, but the first firing may fail, and the second event still waits."""
    two = (step("a", done="", failed="bad"), step("b", done="", failed="bad"))
    found = analyse(net(*two, step("mail", "bad", done="FAIL", failed=""), on_failure="continue"))

    assert found.fires_twice == {"mail": fires("a.failed b.failed mail.failed mail.done")}


def test_s14_fail_that_nothing_asked_for() -> None:
    found = analyse(net(step("a", done="p"), step("mail", done="FAIL"), step("j", "p", done="OK")))

    assert facts(found) == {"fail_without_failure": fires("mail.done")}


def test_s14_an_outside_event_is_a_reason_to_fail() -> None:
    assert facts(analyse(net(step("a", "e", done="FAIL"), outside="e"))) == {}


def test_s15_success_that_leaves_an_event_at_a_join() -> None:
    found = analyse(net(step("a", done="p OK"), step("d", then="q", **{"else": ""}), step("j", "p q")))

    assert facts(found) == {"leftover": Leftover(fires("a.done d.else"), "j", ("p",))}


def test_s6_a_failure_handler_that_ends_the_run_costs_no_states() -> None:
    handled = net(*branches(10, 5), step("mail", "failed", done="FAIL", failed="FAIL"))

    found = analyse(handled)

    assert (found.complete, facts(found)) == (True, {})
    assert found.states < 100


@pytest.mark.parametrize(
    "proved",
    [
        net(*branches(10, 5, None)),
        net(*branches(10, 5, "")),
        net(*branches(10, 5, ""), on_failure="continue"),
        net(*branches(398, 1, "")),
    ],
    ids=["ten branches", "that may fail", "that go on", "a fork of 398"],
)
def test_s7_parallel_branches_are_proved_in_as_many_states_as_they_have_steps(proved: Net) -> None:
    found = analyse(proved)

    assert (found.complete, facts(found)) == (True, {})
    assert found.states <= len(proved.steps) + 10


def test_s8_a_cancel_region_may_take_what_a_join_waits_for() -> None:
    found = analyse(
        net(
            step("slow", done="x"),
            step("after", "x", done="p"),
            step("stop", "slow", cancels="after", done="q"),
            step("j", "p q", done="OK"),
        )
    )

    assert found.deadlock == Deadlock(fires("slow.done stop.done"), {"j": ("p",)})
    assert found.covered.endswith("cancel regions: reset arcs, exact search")


def test_s4_a_slot_owes_what_its_round_did_not_take() -> None:
    found = analyse(
        net(
            step("a", done="p"),
            step("b", "a", done="q"),
            step("j", "1of:p|q", done="k"),
            step("z", "j", done="OK"),
        )
    )

    assert (found.complete, facts(found)) == (True, {})


def test_s11_a_step_of_the_clean_up_is_alive() -> None:
    found = analyse(net(step("a"), step("tidy", "FAIL|CANCEL"), step("note", "tidy")))

    assert (found.complete, facts(found)) == (True, {})


def test_s11_a_timeout_that_is_not_set_never_comes() -> None:
    assert facts(analyse(net(step("a"), step("tidy", "TIMEOUT")))) == {"dead": ("tidy",)}


def test_s11_a_clean_up_that_turns_for_ever_has_no_end() -> None:
    found = analyse(net(step("a"), step("tidy", "CANCEL|again", done="again")))

    assert facts(found) == {"no_end": fires("CANCEL")}


def test_s11_a_clean_up_can_pile_events_up() -> None:
    found = analyse(net(step("a"), step("tidy", "CANCEL|again", done="again more"), step("b", "more")))

    assert facts(found) == {"unbounded": Unbounded(fires("CANCEL tidy.done"), "b", "more")}


def test_s12_a_clean_up_may_join_the_end_with_what_the_run_left() -> None:
    run = (step("take", done="taken"), step("use", "take", failed="", done="OK"))

    assert facts(analyse(net(*run, step("give back", "FAIL taken")))) == {}
    assert facts(
        analyse(net(*run, step("give back", "FAIL never"), step("x", "give back", done="never")))
    ) == {"dead": ("give back", "x")}


def test_s12_an_end_may_come_while_a_step_beside_the_clean_up_runs() -> None:
    found = analyse(net(step("a", "e"), step("b", "e CANCEL"), outside="e"))

    assert found.dead == ()


def test_s12_no_end_comes_to_a_run_that_has_succeeded() -> None:
    alone = (step("p", done="x OK"), step("c", "CANCEL x"))

    assert analyse(net(*alone)).dead == ("c",)
    assert analyse(net(*alone, step("q"))).dead == ()


def test_s12_in_any_order_of_two_last_steps_the_other_may_be_cut_off() -> None:
    found = analyse(
        net(step("a", done="x OK"), step("b", done="y OK"), step("c", "CANCEL x"), step("d", "CANCEL y"))
    )

    assert found.dead == ()


def test_s12_what_a_withdrawn_firing_took_is_gone() -> None:
    """Whoever waits for x runs as soon as x is there, and the end takes it away."""
    found = analyse(net(step("p", done="x FAIL"), step("a", "x"), step("tidy", "FAIL"), step("c", "a tidy")))

    assert found.dead == ("a", "c")


def test_s12_an_outside_event_may_come_in_the_clean_up() -> None:
    found = analyse(
        net(step("a"), step("tidy", "CANCEL"), step("b", "e", done="FAIL"), step("c", "b"), outside="e")
    )

    assert found.dead == ()


def test_s12_the_end_wakes_a_step_that_holds_its_other_event_already() -> None:
    found = analyse(net(step("p", done="x FAIL"), step("tidy", "x|FAIL"), step("c", "tidy")))

    assert found.dead == ()


@pytest.mark.parametrize("end", ["FAIL", "FAIL START", "CANCEL", "CANCEL START"])
@pytest.mark.parametrize("listed", ["FAIL", "CANCEL"])
def test_s11_an_end_event_in_a_clean_up_changes_nothing(end: str, listed: str) -> None:
    run = (step("a", done="OK", failed=""), step("tidy", end, done=listed), step("more", "tidy"))

    assert facts(analyse(net(*run, step("last", "more")))) == {}


@pytest.mark.parametrize("joined", ["a FAIL", "FAIL START"])
def test_s12_a_failure_put_off_may_meet_what_the_run_left(joined: str) -> None:
    run = (step("a", done="", failed=""), step("b", "a", done="OK", failed=""), step("undo", joined))

    assert facts(analyse(net(*run, on_failure="continue"))) == {}


def test_s12_a_clean_up_fed_by_the_run_may_have_no_end() -> None:
    found = analyse(net(step("a", done="x OK"), step("b"), step("tidy", "CANCEL|tidy x|tidy")))

    assert found.no_end == fires("a.done CANCEL")


def test_s12_a_failure_put_off_is_cleaned_up_in_the_end() -> None:
    found = analyse(net(step("a", done="", failed=""), step("tidy", "FAIL"), on_failure="continue"))

    assert facts(found) == {}


def test_s16_choices_beyond_listing_leave_the_answer_open() -> None:
    """Nine of eighteen kept events: 48,620 ways to take them, which took longer to list than any budget."""
    names = [f"e{number}" for number in range(18)]
    many = step("j", f"9of:{'|'.join(names)}+", done="OK")
    found = analyse(net(*(step(name) for name in names), many, step("never", "nothing")))

    assert (found.complete, found.states, found.assumes) == (False, 0, ("rest: keep",))
    assert facts(found) == {"dead": ("never",)}


def test_s16_an_answer_that_hit_the_budget_says_so() -> None:
    cut = analyse(net(*branches(3, 3)), states=4)

    assert (cut.complete, cut.covered) == (False, "10 steps, 4 states, more are left")


def test_s16_fewer_states_are_kept_where_each_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = net(*branches(3, 3))
    assert analyse(wide).complete

    monkeypatch.setattr(soundness, "MAX_NUMBERS", 80)

    cut = analyse(wide)
    assert (cut.complete, cut.states) == (False, 5)


def test_s16_time_that_is_up_stops_the_search() -> None:
    assert not analyse(net(*branches(3, 3)), out_of_time=lambda: True).complete


def test_s16_what_was_relaxed_is_listed() -> None:
    kept = net(step("a", done="p"), step("b", done="q"), step("j", "1of:p|q+"))

    assert analyse(kept).assumes == ("rest: keep",)


def test_s9_a_loop_that_sinks_into_debt_can_still_pile_up_elsewhere() -> None:
    loop = step("a", "1of:again|x", done="again p")

    found = analyse(net(step("b", done="again"), loop, step("j", "p never"), outside="never?"))

    assert found.unbounded is not None
    assert (found.unbounded.step, found.unbounded.event) == ("j", "p")


def test_s8_a_fork_inside_an_endless_loop_stays_small() -> None:
    names = [f"p{number}" for number in range(12)]
    fork = [step(name, "go") for name in names]
    turning = net(
        step("t", "START|again", done="go"), *fork, step("j", " ".join(names), done="again"), endless=True
    )

    found = analyse(turning)

    assert (found.complete, facts(found), found.states) == (True, {}, 14)


def test_s18_a_step_that_may_begin_does_begin() -> None:
    found = analyse(net(step("reset", cancels="ship"), step("ship", "reset paid", done="OK"), outside="paid"))

    assert found.deadlock is None


def test_s7_steps_beside_one_that_only_ends_the_run_or_starts_again_are_not_passed_over() -> None:
    found = analyse(net(step("w", "START|w.failed", no="FAIL", failed=""), step("a"), step("b", "a")))

    assert found.dead == ()


def test_s8_outside_events_come_while_the_run_still_moves() -> None:
    found = analyse(net(step("ask", done="OK"), step("j", "2of:a|b|c+"), outside="a b c"))

    assert found.dead == ()


def test_s18_what_is_kept_of_a_round_may_be_left_for_ever() -> None:
    found = analyse(net(step("a", done="x"), step("b", "1of:x|a|e 2of:x|START|a+"), outside="e"))

    assert found.deadlock is not None
    assert found.deadlock.trace == fires("a.done b.done")


def test_s18_a_join_takes_the_oldest_and_leaves_what_came_from_outside() -> None:
    found = analyse(net(step("a", done="OK"), step("b", done="x"), step("j", "x START|e"), outside="e"))

    assert facts(found) == {}


def test_s18_an_outside_event_that_came_first_leaves_the_event_of_the_run() -> None:
    run = (step("a"), step("b", done="", failed="d"), step("j", "a d|e", done="OK"))
    found = analyse(net(*run, outside="e"))

    assert found.leftover == Leftover(fires("e a.done b.failed j.done"), "j", ("d",))


def test_s18_the_first_of_two_that_cancels_both_fires_once() -> None:
    found = analyse(
        net(step("a"), step("b"), step("winner", "a|b", cancels="a b"), step("end", "winner", done="OK"))
    )

    assert facts(found) == {}


def test_s18_a_second_firing_beside_a_cancel_region_is_told_where_it_can_be_played() -> None:
    found = analyse(
        net(step("a"), step("b"), step("both", "a|b"), step("stop", "a", cancels="x"), step("x", "b"))
    )

    assert found.fires_twice == {"both": fires("a.done b.done both.done both.done")}


def test_s11_a_clean_up_that_piles_events_up_is_never_called_proved() -> None:
    found = analyse(
        net(step("a", done="OK", failed="FAIL"), step("c", "FAIL|x", failed="x"), step("d", "START x|a")),
    )

    assert found.unbounded is not None or not found.complete


DECIDED = (
    step("d", then="", **{"else": ""}),
    step("a", "d.then", done="OK"),
    step("b", "d.else", done="OK"),
    step("j", "d.then d.else"),
)


def test_s3_an_event_that_nobody_waits_for_hides_no_dead_step() -> None:
    found = analyse(net(*DECIDED, outside="x*"))

    assert (found.dead, found.complete, found.assumes) == (("j",), True, ())


def test_s3_a_step_is_dead_beside_an_event_that_comes_again_and_again() -> None:
    found = analyse(net(*DECIDED, step("k", "x"), step("m", "k j"), outside="x*"))

    assert (found.dead, found.assumes) == (("j", "m"), ("many",))


def test_s3_an_event_that_comes_twice_before_the_end_keeps_a_join_alive() -> None:
    """Both branches of `d` are taken, one for each coming of x, while `t` still runs."""
    both = (step("d", "x", then="", **{"else": ""}), step("j", "d.then d.else"))

    assert analyse(net(step("t", done="OK"), *both, outside="x*")).dead == ()


def test_s9_a_many_event_that_is_faster_than_the_run_is_no_loop() -> None:
    found = analyse(net(step("a", "x"), step("b", "a"), step("c", "b", cancels="a"), outside="x*"))

    assert found.unbounded is None


def test_s2_a_step_with_a_cancel_region_begins_at_once_and_ends_a_loop() -> None:
    withdrawn = (step("stop", "a", cancels="l"), step("l", "e", done="e"), step("w", "e"))

    assert facts(analyse(net(step("a", done="e"), *withdrawn))) == {}


def test_s9_a_loop_beside_a_cancel_region_that_spares_it_is_unbounded() -> None:
    spared = (step("stop", "a", cancels="w"), step("l", "e", done="e"), step("w", "e p"))

    found = analyse(net(step("a", done="e"), *spared))

    assert found.unbounded == Unbounded(fires("a.done l.done"), "w", "e")


def test_s9_what_piles_up_may_set_the_cancel_region_going_that_ends_the_loop() -> None:
    """The second p completes the set of `stop`, which withdraws the loop: there is no third."""
    found = analyse(
        net(step("a", done="e"), step("l", "e", done="e p"), step("stop", "l", cancels="l"), step("w", "p q"))
    )

    assert found.unbounded is None


def test_s2_of_two_steps_that_cancel_each_other_the_first_filled_begins() -> None:
    """The events are fired in the order in which they are listed, so `t` is filled first."""
    race = (step("s", "b", cancels="t"), step("t", "a", cancels="s"))
    end = (step("s2", "s", done="OK"), step("t2", "t"))

    assert analyse(net(step("d", done="a b"), *race, *end)).dead == ("s2",)


def test_s15_nothing_is_left_over_where_the_cancel_region_takes_it_at_once() -> None:
    kept = (step("j", "p q"), step("stop", "a", cancels="j", done="OK"))

    assert facts(analyse(net(step("a", done="p"), *kept))) == {"dead": ("j",)}


def test_s9_beside_a_pile_other_mistakes_are_found() -> None:
    loop = (step("l", "START|l", done="more"), step("w", "more never"), step("z", "l", done="FAIL"))

    found = analyse(net(*loop, step("d", "w")))

    assert found.unbounded is not None
    assert (found.dead, found.fail_without_failure) == (("w", "d"), fires("l.done z.done"))


def test_s9_a_standstill_behind_a_pile_is_found() -> None:
    pump = step("l", "START|again", more="again x", stop="y")
    found = analyse(net(pump, step("w", "x never"), step("j", "y x never"), step("end", "j", done="OK")))

    assert found.unbounded is not None
    assert found.deadlock is not None
    assert found.dead == ("w", "j", "end")
