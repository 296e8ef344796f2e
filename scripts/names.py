"""Find private words in the names of modules, classes, functions and constants; each has one that others know.

A word counts wherever it is a part of a name, such as `told` in `_told_apart`. `KEPT` lists the names in which a word
has another meaning, which everybody knows, or which an interface has: those stay.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("src/penstock", "src/penstock_release")

INSTEAD = {
    **dict.fromkeys(("blotting", "redacting", "masking"), "redaction"),
    **dict.fromkeys(("ringing", "ring", "rang"), "timers, fire"),
    **dict.fromkeys(("desk", "desks"), "WorkerSlot, worker_registry, writer"),
    **dict.fromkeys(("pen", "ledger"), "write_lock, transaction_runner"),
    **dict.fromkeys(("doubt", "doubts"), "poison_runs"),
    **dict.fromkeys(("letter", "letters", "mailing"), "outbox_message, event_delivery"),
    **dict.fromkeys(("keeping", "kept"), "pending_event, stored"),
    **dict.fromkeys(("doors", "shelf", "bell", "ear"), "access_store, workflow_versions, notifier, listener"),
    **dict.fromkeys(
        ("glances", "misfit", "misfits", "aside"), "reference_tables, validation_errors, dead_letters"
    ),
    **dict.fromkeys(
        ("chores", "supervising", "pulse", "pulses"), "background_tasks, supervisor, loop_health"
    ),
    **dict.fromkeys(("portion", "portions"), "bounded_page"),
    **dict.fromkeys(("tally", "tallies", "tallying"), "counts"),
    **dict.fromkeys(("lagging", "outlook", "resting"), "slow_runs, reachability, wait_index"),
    **dict.fromkeys(("hands", "crew", "muster", "leavings"), "thread_pool, executor, executor_factory"),
    **dict.fromkeys(("attend", "attendance", "leave"), "register, deregister"),
    **dict.fromkeys(("wish", "wishes", "beat", "beats"), "ClaimRequest, Heartbeat"),
    **dict.fromkeys(("seat", "seats"), "worker_key"),
    **dict.fromkeys(("alike", "straight", "through"), "batch_memo, fast_path, inline_run"),
    **dict.fromkeys(("board", "occurrence", "occurrences"), "MutableMarking, RunInput"),
    **dict.fromkeys(("told", "hosted"), "on_result, InMemoryEngine"),
    **dict.fromkeys(("intake", "mending", "mender"), "commands, repair"),
    **dict.fromkeys(("repairing", "overseeing", "managing"), "retry, operations, ownership"),
    **dict.fromkeys(("world", "worldly"), "task_environment, io_steps"),
    **dict.fromkeys(("seals", "careful"), "callback_tokens, LimitedHttpProtocol"),
    **dict.fromkeys(("feed", "feeds", "feeder", "feeders", "feeding"), "Trigger, TriggerLease"),
    **dict.fromkeys(("wanting", "holding", "presence"), "Trigger, TriggerLease"),
    **dict.fromkeys(("sorting", "granting", "walks", "turns"), "conflicts, lock_grants, index_scans"),
    **dict.fromkeys(("rehearse", "rehearsing", "bury"), "warmup, expire"),
    **dict.fromkeys(("refuse", "refuses"), "validate, reject"),
    **dict.fromkeys(("most", "longest", "largest", "patience"), "MAX_…, …_TIMEOUT"),
    **dict.fromkeys(("neighbours", "bars"), "peers, targets"),
}
"""Each word, and what is said instead."""

KEPT = {
    # of the HTTP API, whose document names them
    **dict.fromkeys(("Misfit", "SetAside", "Told", "AllTold", "show_pulse", "pulse", "leave"), "the API"),
    **dict.fromkeys(("Rang", "Aside"), "stored with runs"),
    **dict.fromkeys(("World", "world"), "`penstock.testing`, where it is a world of runs"),
    **dict.fromkeys(("dead_letters", "_dead_letter", "dead_letter"), "the word of all brokers"),
    "DeadLetter": "the word of all brokers",
    "change_feed": "what databases call it",
    **dict.fromkeys(("_yaml_letter", "_Pen", "straight", "turns_of", "RING", "_longest"), "of a drawing"),
    **dict.fromkeys(("feeds_only", "at_most_once", "most_firings"), "of nets and of proofs"),
    **dict.fromkeys(("advance_through", "play_through", "_look_through", "largest_body"), "plain English"),
    "wk11_reports_are_kept_while_the_gate_is_away": "plain English",
}
"""Each name, and whose word it is."""


def parts(name: str) -> set[str]:
    """The words of a name, in small letters."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def names(path: Path) -> Iterator[tuple[int, str]]:
    """The module itself, and what it defines with its line."""
    yield 1, path.parent.name if path.name == "__init__.py" else path.stem
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.Module):
            for one in node.body:
                for target in one.targets if isinstance(one, ast.Assign) else ():
                    yield from (
                        (one.lineno, each.id) for each in ast.walk(target) if isinstance(each, ast.Name)
                    )


def private(path: Path) -> Iterator[str]:
    """A sentence for each private word."""
    for line, name in names(path):
        if name not in KEPT:
            for word in sorted(parts(name) & INSTEAD.keys()):
                yield f"{path.relative_to(ROOT)}:{line}: `{name}` has '{word}': say {INSTEAD[word]}"


def main() -> int:
    paths = [path for source in SOURCES for path in sorted((ROOT / source).rglob("*.py"))]
    found = [sentence for path in paths for sentence in private(path)]
    print("\n".join(found) if found else "names: no module, class, function or constant has a private word")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
