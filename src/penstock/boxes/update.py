"""`update`: writes the run's tags, or those of the step, back to the object that the run is about."""

from __future__ import annotations

from typing import Any

from penstock.boxes.failures import Failing, wrong
from penstock.boxes.task_environment import TaskEnvironment
from penstock.flow.errors import PenstockError
from penstock.flow.model.run_input import Done, Outcome
from penstock.objects.context import MARK
from penstock.objects.errors import ObjectStoreAway
from penstock.objects.protocol import Object
from penstock.objects.write_back import Target, UpdateRequest, target_of, write_back
from penstock.secrets.errors import SecretKeyError
from penstock.store.errors import StoreError
from penstock.workers.context import Context


async def update_object(environment: TaskEnvironment, ctx: Context, **params: Any) -> Outcome:
    """One attempt of an `update` step. Raises Failing."""
    try:
        target = target_of(environment.stores, ctx.data, params)
        written = await write_back(environment.stores, _update_request(ctx, target, params))
    except (ObjectStoreAway, StoreError, SecretKeyError) as error:  # another node may have the key
        raise Failing(str(error)) from None
    except PenstockError as error:
        raise wrong(str(error)) from None
    return Done(output=_output(written), set=_changed(ctx.data, target, written))


def _update_request(ctx: Context, target: Target, params: dict[str, Any]) -> UpdateRequest:
    """Raises Failing."""
    tags, metadata, mode = params.get("tags"), params.get("metadata"), params.get("mode", "merge")
    for name, value in (("tags", tags), ("metadata", metadata)):
        if value is not None and not isinstance(value, dict):
            raise wrong(f"`{name}` of an update must be a map from names to values")
    if mode not in ("merge", "replace"):
        raise wrong(f"`mode` of an update is `merge` or `replace`, not {mode!r}")
    if tags is None and metadata is None:
        gone = {name: None for name in ctx.removed_tags} if mode == "merge" else {}
        tags = {**gone, **ctx.tags}  # a removal is a change too
    return UpdateRequest(
        target=target,
        tags=tags,
        metadata=metadata,
        mode=mode,
        workflow=ctx.run["workflow"],
        by=ctx.idempotency_key,
    )


def _output(written: Object) -> dict[str, Any]:
    return {
        "bucket": written.bucket,
        "key": written.key,
        "version": written.version,
        "etag": written.etag,
        "tags": dict(written.tags),
        "metadata": {name: value for name, value in written.metadata.items() if name != MARK},
    }


def _changed(data: Any, target: Target, written: Object) -> dict[str, Any] | None:
    """The run's new view of its object: later steps use the version that was written."""
    if not isinstance(data, dict) or data.get("key") != target.key:
        return None
    known = {"version": written.version, "etag": written.etag}
    return None if all(data.get(name) == value for name, value in known.items()) else known
