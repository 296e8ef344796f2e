"""What is written of a run is what is read: after every decision of random runs, however it is encoded."""

from __future__ import annotations

import random
from typing import Any

import pytest
from immutables import Map
from msgspec import msgpack
from msgspec.structs import replace

from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Entry, Plan
from penstock.flow.model.run import Header, RunId, Snapshot
from penstock.flow.model.run_input import Begun, Paused, Retried
from penstock.runtime.codec.decoder import CorruptRecord, Ref, Stored, decode, decode_page, refs_of
from penstock.runtime.codec.encoder import HeadEncoder, Packer, encode_header, encode_page, encode_parts
from penstock.runtime.codec.format import MAX_INLINE_BYTES
from penstock.store.rows.change import Part
from tests.flow.driver import START_TIME, Drive, flow_of
from tests.flow.test_laws import one_move, random_flow

LARGE = {"text": "x" * (MAX_INLINE_BYTES + 1)}
SMALL: list[Any] = [None, 1, "text", {"n": 1}, [START_TIME]]
MIXED: list[Any] = [*SMALL, LARGE, {"half": "x" * (MAX_INLINE_BYTES // 2)}]


class Written:
    """The rows of one run, kept as the store keeps them."""

    def __init__(self, header: Header) -> None:
        self.pack = Packer()
        self.encode = HeadEncoder(self.pack)
        self.parts: dict[tuple[str, int, int], Part] = {}
        self.payloads: dict[bytes, bytes] = {}
        self.pack.begin()
        self.header = encode_header(header, self.pack)
        self.head = b""
        self.payloads |= dict(self.pack.fresh)

    def write(self, was: Snapshot, plan: Plan) -> list[Entry]:
        """Keep what the plan changes; the history as it is read again."""
        self.pack.begin()
        self.head = self.encode(plan.snapshot)
        page = encode_page(plan.history, self.pack) if plan.history else None
        for part in encode_parts(was, plan.snapshot, plan.touched, self.pack):
            self.parts[part.kind, part.firing, part.index] = part
        self.payloads |= dict(self.pack.fresh)
        return [] if page is None else self.filled(decode_page(page))

    def filled(self, entries: list[Entry]) -> list[Entry]:
        """The entries with the payloads that are kept apart."""
        values = {digest: decode(self.payloads[digest]) for digest in refs_of(entries)}
        return [
            replace(each, data=values[each.data.digest]) if isinstance(each.data, Ref) else each
            for each in entries
        ]

    def read(self, pack: Packer) -> Snapshot:
        stored = Stored(self.header, self.head, self.parts.values())
        return stored.snapshot({digest: self.payloads[digest] for digest in stored.refs()}, pack)


class Recorded(Drive):
    """A run whose every decision is written, read again and compared."""

    def __init__(self, flow: Flow, input: Any = None, chance: random.Random | None = None) -> None:
        super().__init__(flow, input, begin=False)
        self.chance = chance
        self.outputs = SMALL if chance is None or chance.random() < 0.5 else MIXED
        self.patience = 0
        self.before = self.snapshot
        self.rows = Written(self.snapshot.run)
        self.met: set[str] = set()

    def done(self, task: str, output: Any = None, **more: Any) -> str:
        return super().done(task, output if self.chance is None else self.chance.choice(self.outputs), **more)

    def check(self) -> Recorded:
        """Write what was decided since the last check, and read it after every decision."""
        for plan in self.plans:
            assert self.rows.write(self.before, plan) == plan.history
            self.before = plan.snapshot
            whole = replace(plan.snapshot, seen=Map())
            pack = Packer()
            assert self.rows.read(pack) == whole
            assert _read_again(self.rows, whole, pack) == whole
            self.met.add(f"format {decode(self.rows.head)[0]}")
            self.met |= {name for name in whole.__struct_fields__ if getattr(whole, name)}
            self.met |= {name for name in whole.marking.__struct_fields__ if getattr(whole.marking, name)}
        self.plans.clear()
        return self


def _read_again(rows: Written, snapshot: Snapshot, pack: Packer) -> Snapshot:
    """Another node goes on with the run: what it knows to be stored it does not store again."""
    pack.begin()
    head = HeadEncoder(pack)(
        Stored(rows.header, rows.head, rows.parts.values()).snapshot(rows.payloads, pack)
    )
    assert pack.fresh == ()
    return Stored(rows.header, head, rows.parts.values()).snapshot(rows.payloads, Packer())


def played(seed: int) -> Recorded:
    chance = random.Random(seed)
    run = Recorded(random_flow(chance), chance.choice([None, {"n": 1}, {"n": 1}, LARGE]), chance)
    run.happen(Begun({"t": 0} if chance.random() < 0.5 else {}))
    for _ in range(30):
        run.check()
        if run.snapshot.seq > 300:
            break
        one_move(run, chance)
    return run.check()


@pytest.mark.parametrize("block", range(2))
def test_what_is_written_of_a_random_run_is_what_is_read(block: int) -> None:
    met: set[str] = set()
    for seed in range(block * 80, block * 80 + 80):
        met |= played(seed).met

    assert met >= {
        "ending",
        "paused",
        "tags",
        "error",
        "put_off",
        "tokens",
        "owed",
        "filled",
        "results",
        "failed",
        "halted",
        "came",
        "disabled",
        "epoch",
        "format 1",
        "format 2",
    }, "the random runs met too little: the test says little"


def begun(steps: str, head: str = "", input: Any = None) -> Recorded:
    run = Recorded(flow_of(steps, head), input)
    run.happen(Begun())
    return run.check()


def test_keys_of_match_and_events_set_aside_are_kept() -> None:
    run = begun(
        "a: {task: t, after: [x, y], match: event.data.k}",
        "external: [{name: x, many: true}, {name: y, many: true}]",
    )

    run.event("x", {"k": "1"})
    run.event("x", {"k": "2"})
    run.event("y", {"k": "1"})
    run.event("y", {"k": "2"})
    run.check()
    run.event("x", {"k": None})
    run.event("x", {})
    run.check()

    assert run.met >= {"tokens", "filled", "complete", "aside", "firings"}


def test_a_retried_fan_keeps_its_results() -> None:
    run = begun("a: {task: t, each: '[1, 2, 3]', parallel: 1}\nb: {task: t, after: [z]}", "external: [z]")

    run.done("a[0]", LARGE)
    run.happen(Paused())
    run.fail("a[1]", retry=False)
    run.happen(Retried())
    run.check()

    assert run.met >= {"results", "failed", "reused", "paused"}


def test_a_retried_fan_of_which_nothing_is_finished_is_kept() -> None:
    run = begun("a: {task: t, each: '[1, 2, 3]', parallel: 1}")

    run.happen(Paused())
    run.fail("a[0]", retry=False)
    run.happen(Retried())
    run.check()

    assert run.snapshot.reused
    assert not run.snapshot.results


def test_the_items_of_a_fan_are_kept_apart_from_the_head() -> None:
    run = begun("""a: {task: t, each: "['the first', 'the second']"}""")

    assert b"the second" not in run.rows.head
    assert any(b"the second" in (part.body or b"") for part in run.rows.parts.values())


def test_a_failure_that_a_step_handles_is_kept() -> None:
    run = begun("a: {task: t, fails: x}\nb: {task: t, after: [x]}")

    run.fail("a", retry=False)
    run.check()

    assert run.snapshot.failed
    assert run.snapshot.ending is None


def test_the_error_of_a_result_is_kept() -> None:
    run = begun("a: {task: t}", "result: data.nothing.at.all")

    run.done("a")
    run.check()

    assert run.snapshot.error is not None
    assert run.snapshot.ending is None


def test_correlation_keys_are_kept() -> None:
    run = begun("a: {task: t}\nb: {task: t, after: [a]}")

    run.done("a", correlate={"order": "17", "customer": "4"})
    run.check()

    assert "keys" in run.met


def test_a_decision_that_stopped_half_way_is_kept() -> None:
    run = begun(
        "a: {task: decide, with: {if: 'true'}, after: [START, x], emits: {then: [x]}}".replace(
            "[START, x]", "['START | x']"
        )
    )

    assert "agenda" in run.met


def test_failures_keep_their_detail() -> None:
    run = begun("a: {task: t}")

    run.done("a", LARGE, port="nowhere")
    run.check()

    assert run.met >= {"error", "failed"}


def test_a_large_payload_is_stored_once_a_run() -> None:
    run = begun("a: {task: t}\nb: {task: t, after: [a]}\nc: {task: t, after: [a]}", input=LARGE)

    output = {"text": "y" * (MAX_INLINE_BYTES + 1)}
    run.done("a", output)
    run.check()

    assert sorted(decode(body)["text"][0] for body in run.rows.payloads.values()) == ["x", "y"]
    assert len(run.rows.head) < MAX_INLINE_BYTES


def test_a_small_payload_that_many_events_carry_does_not_fill_the_head() -> None:
    takers = "\n".join(f"s{number}: {{task: t, after: [a, never]}}" for number in range(20))
    run = begun(f"a: {{task: t}}\n{takers}", "external: [never]")

    run.done("a", {"text": "y" * 1000})
    run.check()

    assert len(run.rows.head) < 2 * MAX_INLINE_BYTES


def test_a_page_has_a_payload_once_though_many_entries_carry_it() -> None:
    run = begun("a: {task: t, emits: [x, y, z]}\nb: {task: t, after: [x, y, z]}")
    run.done("a", {"text": "y" * 1000})

    page = encode_page(run.plans[-1].history, Packer())

    assert len(page) < 1500
    assert decode_page(page) == run.plans[-1].history


FLOW = "a: {task: t}"


@pytest.mark.parametrize(
    "head",
    [b"", b"\xc1", b"\x00", msgpack.encode(["nonsense"]), msgpack.encode([99, 1, 2, 3])],
    ids=["empty", "no message", "a number", "a text", "a later format"],
)
def test_bytes_that_are_no_run_are_unreadable(head: bytes) -> None:
    rows = begun(FLOW).rows

    with pytest.raises(CorruptRecord):
        Stored(rows.header, head, []).snapshot({}, Packer())


def test_a_damaged_head_is_unreadable_or_another_run_but_breaks_nothing() -> None:
    run = begun(FLOW, input={"n": 1})
    rows, unreadable = run.rows, 0
    for at in range(len(rows.head)):
        try:
            Stored(rows.header, rows.head[:at] + b"\xc1" + rows.head[at + 1 :], []).snapshot({}, Packer())
        except CorruptRecord:
            unreadable += 1

    assert unreadable > len(rows.head) // 3


def test_a_payload_that_is_gone_makes_the_run_unreadable() -> None:
    run = Recorded(flow_of(FLOW), LARGE)
    run.happen(Begun())
    run.check()

    with pytest.raises(CorruptRecord):
        Stored(run.rows.header, run.rows.head, []).snapshot({}, Packer())


def test_a_run_id_is_read_as_it_was_written() -> None:
    header = Header(
        id=RunId("0f"),
        workflow="w",
        version=3,
        subject="s",
        labels={"a": "b"},
        input=[1],
        parent="p",
        rerun_of="r",
        tags={"t": 1},
    )
    run = begun(FLOW)

    read = Stored(encode_header(header, Packer()), run.rows.head, []).snapshot({}, Packer())

    assert read.run == header


def test_a_large_payload_is_known_as_long_as_each_round_uses_it() -> None:
    pack, used, unused = Packer(), ["x" * 5000], ["y" * 5000]
    fresh: list[int] = []
    for payloads in ([used, unused], [used, unused, used], [used], [used, unused]):
        pack.begin()
        for payload in payloads:
            pack(payload)
        fresh.append(len(pack.fresh))

    assert fresh == [2, 0, 0, 1]  # what a round did not use is not held for the rest of the run


def test_a_payload_that_was_read_from_the_store_is_known_in_the_first_round() -> None:
    pack, payload = Packer(), ["x" * 5000]
    pack.adopt(payload, b"d" * 16, 5_000)
    pack.begin()
    pack(payload)

    assert pack.fresh == ()
