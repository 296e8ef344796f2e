"""`tag`: sets and removes tags that flow on with the events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import Struct

from penstock.expression import Expression, Template
from penstock.flow.model.box import BadParameter, Finish, Reaction, View
from penstock.flow.model.offer import Offer
from penstock.flow.model.shapes import NULL
from penstock.flow.model.tags import TagChange
from penstock.steps.outputs import NO_DATA
from penstock.steps.parameters import PureKind, choice, mapping, one_or_several, schema, template

MODES = ("merge", "replace")


class TagBox(Struct, frozen=True):
    """Changes the tags and is done."""

    set: Template
    remove: tuple[str, ...]
    replace: bool

    ports: ClassVar[tuple[str | None, ...]] = ("done", "failed")

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {"set": self.set}

    def enter(self, view: View) -> Reaction:
        return Finish(tags=TagChange(self.set(view.scope(self.set)), self.remove, self.replace))


def _tag(params: Mapping[str, Any]) -> TagBox:
    wanted, remove = params.get("set", {}), params.get("remove", [])
    if not isinstance(wanted, dict):
        raise BadParameter("set", "`set` must be a map of tags, such as {mime: video/mp4}")
    if isinstance(remove, str):
        remove = [remove]
    if not isinstance(remove, list) or not all(isinstance(name, str) for name in remove):
        raise BadParameter("remove", "`remove` must be a list of tag names")
    mode = params.get("tags_mode", MODES[0])
    if mode not in MODES:
        raise BadParameter("tags_mode", f"`tags_mode` must be one of {', '.join(MODES)}, not {mode!r}")
    return TagBox(template(wanted, "set"), tuple(remove), mode == "replace")


TAG = PureKind(
    Offer(
        name="tag",
        title="Tag",
        doc="Set or remove tags.",
        parameters=schema(
            set=mapping("Set"), remove=one_or_several("Remove"), tags_mode=choice("Other tags", *MODES)
        ),
        output=NULL,
        sets=NO_DATA,
    ),
    _tag,
)
