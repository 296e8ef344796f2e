"""JSON Schemas of Python types: dataclasses, Structs, TypedDicts, pydantic models, and what is made of them.

Pydantic is recognised by what its models can do: Penstock does not need it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec.inspect import DataclassType, Field, StructType, Type

Schema = dict[str, Any]


def is_model(hint: Any) -> bool:
    """Whether a type is a pydantic model."""
    return isinstance(hint, type) and hasattr(hint, "model_validate_json") and hasattr(hint, "model_dump")


def schema_taken(hint: Any) -> Schema:
    """The schema of what can be read as this type: a field with a default may be missing. Raises TypeError."""
    return _Schemas("validation").whole(hint)


def schema_given(hint: Any) -> Schema:
    """The schema of what this type becomes: an object has all its fields and no others. Raises TypeError."""
    return _Schemas("serialization").whole(hint)


def read_model(model: Any, value: Any) -> Any:
    """JSON as an instance of a pydantic model. Raises ValueError with a sentence for each field."""
    if not is_model(model):
        raise NotImplementedError
    try:
        return model.model_validate_json(msgspec.json.encode(value))
    except ValueError as error:
        raise ValueError(_sentence(error)) from None


def _sentence(error: ValueError) -> str:
    said = [(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]  # type: ignore[attr-defined]
    return "; ".join(f"{place}: {message}" if place else message for place, message in said)


class _Schemas:
    """The schema of one type, with the definitions that its parts refer to."""

    def __init__(self, mode: Literal["validation", "serialization"]) -> None:
        self._mode, self._definitions = mode, dict[str, Any]()

    def whole(self, hint: Any) -> Schema:
        schema = self._of(hint)
        return {**schema, "$defs": self._definitions} if self._definitions else schema

    def _of(self, hint: Any) -> Schema:
        try:
            (schema,), parts = msgspec.json.schema_components([hint], schema_hook=self._of_model)
        except (TypeError, NotImplementedError):
            # It reads no union of two objects, for it could not tell them apart.
            if get_origin(hint) not in (Union, UnionType):
                raise TypeError(f"{hint!r} has no form in JSON") from None
            return {"anyOf": [self._of(each) for each in get_args(hint)]}
        if self._mode == "serialization":
            _complete(hint, parts)
        for name, part in parts.items():
            self._define(name, part)
        return schema

    def _of_model(self, model: Any) -> Schema:
        if not is_model(model):
            raise NotImplementedError
        prefix = re.sub(r"\W", "_", f"{model.__module__}.{model.__qualname__}") + "."
        try:
            schema: Schema = model.model_json_schema(
                mode=self._mode, ref_template=f"#/$defs/{prefix}{{model}}", schema_generator=_generator()
            )
        except Exception as error:
            raise TypeError(str(error).partition("\n")[0]) from None
        parts: Schema = schema.pop("$defs", {})
        if self._mode == "serialization":
            for part in (schema, *parts.values()):
                if "properties" in part:
                    part.setdefault("additionalProperties", False)
        for name, part in parts.items():
            self._define(prefix + name, part)
        return schema

    def _define(self, name: str, part: Any) -> None:
        if self._definitions.setdefault(name, part) != part:
            raise TypeError(f"two types are called {name}")


@cache
def _generator() -> type[Any]:
    """Writes schemas of pydantic models. The package is installed, for a model exists."""
    from pydantic.json_schema import GenerateJsonSchema

    class Generator(GenerateJsonSchema):
        def field_is_required(self, field: Any, total: bool) -> bool:
            """A field with a default may be missing where it is read; what is written has it."""
            is_written = self.mode == "serialization" and field["type"] != "typed-dict-field"
            left_out = field.get("serialization_exclude") or field.get("serialization_exclude_if")
            return super().field_is_required(field, total) or (is_written and not left_out)

    return Generator


def _complete(hint: Any, parts: Schema) -> None:
    """Make the fields of classes that are always written required, and the classes closed."""
    for record in _records(msgspec.inspect.type_info(hint)):
        names = {field.encode_name for field in record.fields}
        tag = getattr(record, "tag_field", None)
        for part in parts.values():
            if (
                part.get("title") == record.cls.__name__
                and part.get("properties", {}).keys() - {tag} == names
            ):
                always = [field.encode_name for field in record.fields if _is_written(record, field)]
                part |= {"required": [*([tag] if tag else ()), *always], "additionalProperties": False}


def _is_written(record: StructType | DataclassType, field: Field) -> bool:
    if field.required:
        return True
    if isinstance(record, StructType) and record.cls.__struct_config__.omit_defaults:
        return False
    return msgspec.NODEFAULT is not (
        field.default_factory if field.default is msgspec.NODEFAULT else field.default
    )  # one without either is UNSET


def _records(info: Type) -> Iterator[StructType | DataclassType]:
    """The classes of a type that are written field by field, each once."""
    todo: list[Any] = [info]
    seen: set[int] = set()
    while todo:
        each = todo.pop()
        if isinstance(each, tuple | list):
            todo += each
        elif isinstance(each, Field):
            todo.append(each.type)
        elif isinstance(each, Type) and id(each) not in seen:
            seen.add(id(each))
            if isinstance(each, StructType | DataclassType):
                yield each
            todo += [getattr(each, name) for name in each.__struct_fields__]
