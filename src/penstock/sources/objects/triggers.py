"""Which trigger a source of kind `object` needs: a folder watch, a topic, or none because a hook serves it."""

from __future__ import annotations

from penstock.objects.folder import FolderStore
from penstock.objects.object_filter import Matching
from penstock.sources.objects.folder import FolderReader
from penstock.sources.objects.topic import ObjectTopicReader
from penstock.sources.triggers.trigger import Means, SourceReader, TriggerTarget
from penstock.topics.buses import Buses


def reader_of(target: TriggerTarget, means: Means) -> SourceReader | None:
    """The reader of a source; None where its store tells a hook. Raises UnknownStore."""
    assert target.source is not None, "only sources are of kind `object`"
    matching, stores = Matching(target.source.options), means.stores
    address = stores.address(matching.store)
    if address.kind == "dir":
        return FolderReader(
            FolderStore(address.name, address.path), matching, stores.store_counts[address.name]
        )
    if "bus" in address.options:
        return ObjectTopicReader(address, matching, stores, Buses(means.buses))
    return None
