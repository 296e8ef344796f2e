"""What Celery's result backend reports of tasks, many at a time, as outcomes of attempts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Failed, Outcome, TimedOut
from penstock.workers.execute.task_call import read_answer
from penstock.workers.task import Fatal

Meta = Mapping[str, Any]

CHUNK = 500
"""Results asked for in one call."""

QUIET = ("PENDING", "RECEIVED", "STARTED", "RETRY", "REJECTED", "IGNORED")
"""States of Celery itself that say nothing of how far a task is."""

UNREADABLE = "UNREADABLE"
"""No state of Celery: what the backend holds is no result."""

ENDED = ("SUCCESS", "FAILURE", "REVOKED", UNREADABLE)

LOST = ("WorkerLostError",)
"""Errors by which a Celery worker says that the process of the task died."""


def read_many(app: Any, ids: Sequence[str]) -> dict[str, Meta]:
    """What the backend knows of these tasks; those that it does not know are left out."""
    found: dict[str, Meta] = {}
    for start in range(0, len(ids), CHUNK):
        found.update(_read(app.backend, ids[start : start + CHUNK]))
    return found


def _read(backend: Any, ids: Sequence[str]) -> dict[str, Meta]:
    from celery.backends.base import BaseKeyValueStoreBackend

    if isinstance(backend, BaseKeyValueStoreBackend):
        keys = [backend.get_key_for_task(id) for id in ids]
        try:
            values = backend.mget(keys)
        except NotImplementedError:
            values = [backend.get(key) for key in keys]  # this one cannot answer many at a time
        raws = [values.get(key) for key in keys] if isinstance(values, Mapping) else values
        return {id: _decoded(backend, raw) for id, raw in zip(ids, raws, strict=True) if raw}
    metas = ((id, backend.get_task_meta(id, cache=False)) for id in ids)
    return {id: meta for id, meta in metas if meta["status"] != "PENDING"}


def _decoded(backend: Any, raw: Any) -> Meta:
    """One result that cannot be read must not keep us from the others."""
    try:
        meta = backend.decode(raw)
        is_result = isinstance(meta, Mapping) and "status" in meta
        return meta if is_result else {"status": UNREADABLE, "result": meta}
    except Exception as error:
        return {"status": UNREADABLE, "result": error}


def outcome_of(meta: Meta, limit: int) -> Outcome | None:
    """How the task ended; None: it has not."""
    status = meta["status"]
    if status == UNREADABLE:
        message = f"the result of the Celery task cannot be read: {meta['result']}"
        return Failed(error=Failure("error", message[:2000]), retry=False)
    if status == "SUCCESS":
        return read_answer(meta.get("result"), limit)
    if status == "FAILURE":
        return _failed(meta)
    return _revoked(meta) if status == "REVOKED" else None


def progress_of(meta: Meta) -> Any:
    """What the task said of itself with `update_state`; None: nothing."""
    return None if meta["status"] in QUIET else meta.get("result")


def _failed(meta: Meta) -> Outcome:
    kind, module, message = _error(meta.get("result"))
    if kind in LOST:
        return TimedOut("lost", f"the process of the task died: {message}")
    detail = {"type": kind, "traceback": str(meta.get("traceback") or "")[-8000:]}
    if kind == Fatal.__name__ and module.startswith("penstock"):
        text = message or "the task raised Fatal without a message"
        return Failed(error=Failure("fatal", text[:2000], detail), retry=False)
    return Failed(error=Failure("error", f"{kind}: {message}".rstrip(": ")[:2000], detail))


def _revoked(meta: Meta) -> Failed:
    """By somebody else: what Penstock revokes is not watched any more."""
    _, _, why = _error(meta.get("result"))
    if "expired" in why:
        return Failed(error=Failure("error", "the Celery task expired before a worker began it"))
    message = (
        "the Celery task was revoked, and not by the engine: retry the run if it should be done after all"
    )
    return Failed(error=Failure("error", message, {"type": "TaskRevokedError"}), retry=False)


def _error(result: Any) -> tuple[str, str, str]:
    """Type, module and message of an exception, as JSON or pickled."""
    if isinstance(result, BaseException):
        return type(result).__name__, type(result).__module__, str(result)
    if not isinstance(result, Mapping):
        return "error", "", str(result)
    said = result.get("exc_message")
    parts = said if isinstance(said, list | tuple) else [said]
    message = ", ".join(str(part) for part in parts if part is not None)
    return str(result.get("exc_type")), str(result.get("exc_module")), message
