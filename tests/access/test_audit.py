"""The record of what people did: whole, or it is told what is wrong."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from penstock.access.access import Access
from penstock.access.audit import digest_of, verify_audit, verify_chain
from penstock.access.caller import ANYBODY_HERE, Caller
from penstock.access.tokens import TokenRequest
from penstock.store.protocol import Store
from penstock.store.rows.access import Audited, AuditHead, AuditRow
from penstock.store.rows.audit_chain import START, chained
from tests.store.builders import NOON
from tests.store.places import Place

AMY = Caller(name="amy", role="admin", token_id="t1", ip="10.0.0.1")


def record(count: int) -> tuple[list[Audited], AuditHead]:
    entries = chained(START, NOON, [AMY.audit("publish", f"w{n}") for n in range(count)])
    return entries, AuditHead(entries[-1].number, entries[-1].hash)


def test_a_record_that_is_whole_has_nothing_wrong() -> None:
    assert (verify_chain([], START), verify_chain(*record(4))) == (None, None)


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        (0, "audit: entry 1 is missing"),
        (2, "audit: entry 3 is missing"),
        (3, "audit: entry 4 is missing, the record should end with 4"),
    ],
)
def test_an_entry_that_is_gone_is_missed(gone: int, said: str) -> None:
    entries, head = record(4)
    del entries[gone]

    assert verify_chain(entries, head) == said


@pytest.mark.parametrize(
    "change",
    [
        {"actor": "bob"},
        {"token_id": None},
        {"ip": "::1"},
        {"action": "delete"},
        {"target": "w9"},
        {"before": b"x"},
        {"after": b"x"},
        {"reason": ""},
    ],
)
def test_an_entry_that_was_changed_is_found(change: dict[str, object]) -> None:
    entries, head = record(4)
    entries[1] = replace(entries[1], row=replace(entries[1].row, **change))

    assert verify_chain(entries, head) == "audit: entry 2 was changed"


def test_an_entry_at_another_time_or_place_is_found() -> None:
    entries, head = record(4)
    moved = [replace(entries[0], at=entries[0].at.replace(hour=3)), *entries[1:]]
    swapped = [entries[0], replace(entries[2], number=2), replace(entries[1], number=3), entries[3]]

    assert verify_chain(moved, head) == "audit: entry 1 was changed"
    assert verify_chain(swapped, head) == "audit: entry 2 was changed"


def test_a_record_that_was_written_anew_does_not_end_as_the_store_remembers() -> None:
    entries, head = record(4)
    anew = chained(START, NOON, [replace(entry.row, actor="bob") for entry in entries])

    assert verify_chain(anew, head) == "audit: entry 4 is not the one that the record ended with"
    assert verify_chain([*anew, *anew], START) == "audit: entry 5 is missing"


async def test_what_is_done_at_the_doors_is_recorded_with_who_and_from_where(access: Access) -> None:
    made = await access.create(AMY, TokenRequest(name="ci", role="viewer"))
    await access.revoke(AMY, made.view.id)
    await access.set_secret(AMY, "smtp", "hunter22")
    await access.delete_secret(AMY, "smtp")

    entries = await access.audit(None, 10)

    said = [(e.row.actor, e.row.token_id, e.row.ip, e.row.action, e.row.target) for e in reversed(entries)]
    assert said == [
        ("amy", "t1", "10.0.0.1", action, target)
        for action, target in (
            ("token.create", made.view.id),
            ("token.revoke", made.view.id),
            ("secret.set", "smtp"),
            ("secret.delete", "smtp"),
        )
    ]
    assert await access.verify_audit() is None


async def test_the_record_is_read_page_by_page(access: Access, store: Store) -> None:
    await store.record([ANYBODY_HERE.audit("x", str(n)) for n in range(5)])

    pages = [await access.audit(before, 3) for before in (None, 3)]

    assert [[entry.number for entry in page] for page in pages] == [[5, 4, 3], [2, 1]]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize(
    ("meddling", "said"),
    [
        ("DELETE FROM audit WHERE number = 2", "audit: entry 2 is missing"),
        ("DELETE FROM audit WHERE number >= 2", "audit: entry 2 is missing, the record should end with 3"),
        ("DELETE FROM audit", "audit: entry 1 is missing, the record should end with 3"),
        ("UPDATE audit SET actor = 'bob' WHERE number = 3", "audit: entry 3 was changed"),
        ("UPDATE audit SET reason = NULL WHERE number = 1", "audit: entry 1 was changed"),
        ("UPDATE audit SET number = 4 WHERE number = 3", "audit: entry 3 is missing"),
    ],
    ids=["gone", "cut off", "all gone", "last changed", "first changed", "renumbered"],
)
async def test_who_meddles_with_the_rows_is_found_out(
    store: Store, place: Place, meddling: str, said: str
) -> None:
    await store.record([AMY.audit("publish", str(n), reason="why") for n in range(3)])
    before = await verify_audit(store)

    await place.sql(meddling)

    found = await verify_audit(store)
    assert (before, found and found.split(", the record")[0]) == (None, said.split(", the record")[0])


def test_the_hash_of_a_value_does_not_depend_on_the_order_of_its_keys() -> None:
    assert digest_of({"a": 1, "b": [2]}) == digest_of({"b": [2], "a": 1}) != digest_of({"a": 1, "b": [3]})


def test_an_entry_names_every_column_of_the_row() -> None:
    assert AuditRow.__struct_fields__ == (
        *("actor", "token_id", "ip", "action", "target"),
        *("before", "after", "reason"),
    )
