"""Which checker could show that a guarantee does not hold, and which guarantees a simulation cannot reach.

Each is named as in `docs/guarantees.md`. A checker may serve several; those that serve none look at the whole of it:
that customers get no errors, that every run comes to what it should, that the store is whole.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.simulation import checkers as inside
from tests.simulation import outside
from tests.simulation.checkers import Checker

GUARANTEES: Mapping[str, tuple[Checker, ...]] = {
    "C1": (
        inside.acknowledged_starts_are_there,
        inside.accepted_results_are_in_the_history,
        inside.acknowledged_cancels_cancel,
        outside.lists_show_what_was_acknowledged,
        outside.what_is_over_stays_over,
    ),
    "C2": (inside.history_folds_to_the_marking,),
    "C3": (inside.each_firing_happens_once, inside.children_begin_once),
    "C4": (
        inside.every_run_ends,
        inside.lost_work_is_tried_again_in_time,
        inside.healthy_work_takes_one_attempt,
        inside.a_graceful_stop_costs_no_attempt,
    ),
    "C5": (
        inside.only_the_last_holder_is_heard,
        inside.at_most_one_result_is_accepted,
        inside.late_reports_change_nothing,
        inside.fences_only_rise,
    ),
    "C6": (outside.a_repeated_report_is_answered_as_the_first,),
    "C7": (inside.duplicates_are_suppressed,),
    "C8": (inside.history_has_no_gaps, outside.history_is_shown_without_gaps),
    "C9": (
        inside.no_timer_rings_early,
        inside.no_lease_is_stolen_early,
        inside.history_is_stamped_by_the_stores_clock,
    ),
    "C10": (outside.each_tick_starts_one_run,),
    "C11": (outside.runs_keep_their_version,),
    "C13": (outside.poison_is_given_up, inside.every_run_ends),
    "C14": (outside.who_is_sent_away_did_nothing,),
    "C15": (inside.cancelling_is_final, outside.cancelled_runs_are_shown_so),
    "C17": (outside.approvals_are_decided_once,),
    "C18": (outside.acts_are_on_record,),
}

ELSEWHERE: Mapping[str, str] = {
    "C12": "tests/chaos: an earlier release beside this one takes real processes",
    "C16": "tests/release: the coordinator against services that fail in every way",
}
"""Power cuts (C1) are for tests/store/sqlite/test_power.py, backups and retention (C18) for tests/trust."""
