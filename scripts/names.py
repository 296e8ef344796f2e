"""Find private words in names: of modules, classes, functions, parameters, constants, attributes and fields.

Each word has one that others know. It counts wherever it is a part of a name, such as `told` in `_told_apart`. `KEPT`
lists the names in which a word has another meaning, which everybody knows, or which an interface has: those stay.
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
    **dict.fromkeys(("World", "world"), "`penstock.testing`, where it is a world of runs, and `Engine`"),
    **dict.fromkeys(("dead_letters", "_dead_letter", "dead_letter"), "the word of all brokers"),
    "DeadLetter": "the word of all brokers",
    "change_feed": "what databases call it",
    **dict.fromkeys(("_yaml_letter", "_Pen", "straight", "turns_of", "RING", "_longest"), "of a drawing"),
    **dict.fromkeys(("feeds_only", "at_most_once", "most_firings"), "of nets and of proofs"),
    **dict.fromkeys(("advance_through", "play_through", "_look_through", "largest_body"), "plain English"),
    "wk11_reports_are_kept_while_the_gate_is_away": "plain English",
    **dict.fromkeys(("feed", "_feed", "outlook", "set_aside"), "of the Python API or the HTTP API"),
    "aside": "stored with runs, and a filter of the API",
    **dict.fromkeys(("_hands_back", "hands_back", "letter"), "plain English"),
    **dict.fromkeys(("feeds", "turns", "pen"), "of nets and of drawings"),
    "_in_doubt": "what databases call it",
    "_world": "`penstock.testing`, where it is a world of runs",
    "Conflict.kept": "the API",
    "act_on_many.most": "of the Python API: `Engine.bulk` passes it on",
    **dict.fromkeys(
        ("StepCount.most", "Durations.most", "_Count.most"),
        "least and most, the figures of a summary or a proof",
    ),
}
"""Each name, or each class with its field and each function with its parameter, and whose word it is."""


def parts(name: str) -> set[str]:
    """The words of a name, in small letters."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def names(path: Path) -> Iterator[tuple[int, str]]:
    """The module itself, and what it defines with its line; a parameter or a field behind its owner and a dot."""
    yield 1, path.parent.name if path.name == "__init__.py" else path.stem
    yield from _defined(ast.parse(path.read_text(encoding="utf-8")), "", "", False)


def _defined(node: ast.AST, owner: str, instance: str, local: bool) -> Iterator[tuple[int, str]]:
    """`instance` is the class whose methods these are; variables of functions (`local`) may have any name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield child.lineno, child.name
            yield from _defined(child, f"{child.name}.", child.name, False)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child.lineno, child.name
            yield from _defined(child, f"{child.name}.", instance, True)
        else:
            if isinstance(child, ast.arg):
                yield child.lineno, owner + child.arg
            elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store) and not local:
                yield child.lineno, owner + child.id
            elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
                yield child.lineno, f"{instance}.{child.attr}"
            yield from _defined(child, owner, instance, local)


def private(path: Path) -> Iterator[str]:
    """A sentence for each private word."""
    for line, name in names(path):
        own = name.rpartition(".")[2]
        if name not in KEPT and own not in KEPT:
            for word in sorted(parts(own) & INSTEAD.keys()):
                yield f"{path.relative_to(ROOT)}:{line}: `{name}` has '{word}': say {INSTEAD[word]}"


def main() -> int:
    paths = [path for source in SOURCES for path in sorted((ROOT / source).rglob("*.py"))]
    found = [sentence for path in paths for sentence in private(path)]
    print("\n".join(found) if found else "names: none has a private word")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
