"""Small things that the installation remembers by name: rows of `setting` whose names begin with `note/`."""

from __future__ import annotations

from penstock.store.sqlite.session import Session

SPACE = "note/"


def note(session: Session, name: str, value: str, first: bool) -> str:
    """See `Store.note`."""
    session.run("keep_setting" if first else "put_setting", (SPACE + name, value))
    found = session.row("read_setting", (SPACE + name,))
    assert found is not None
    return str(found[0])


def notes(session: Session, prefix: str) -> dict[str, str]:
    """See `Store.notes`."""
    rows = session.rows("list_settings", (SPACE + prefix, SPACE + prefix + "\U0010ffff"))
    return {name[len(SPACE) :]: value for name, value in rows}
