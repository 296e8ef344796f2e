"""What a condition says about types where it is known to be true, or to be false."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, Final

from penstock.expression.syntax.syntax import (
    Call,
    Constant,
    Index,
    Items,
    Logic,
    Name,
    Node,
    Relation,
    Select,
    Unary,
)
from penstock.expression.types.types import (
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    IP,
    LIST,
    MAP,
    NEVER,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    Field,
    List,
    Map,
    Object,
    Scalar,
    Type,
    kind_of,
    known,
    members_of,
    union,
)
from penstock.expression.values import NUMBERS

Scope = Mapping[str, Type]
Step = str | int
Path = tuple[str, *tuple[Step, ...]]
Change = Callable[[Type], Type]
TYPE_NAMES: Final[Mapping[str, Type]] = {
    **{"int": INT, "uint": UINT, "double": DOUBLE, "bool": BOOL, "string": STRING, "bytes": BYTES},
    **{"list": LIST, "map": MAP, "null_type": NULL, "type": TYPE, "net.IP": IP, "net.CIDR": CIDR},
    **{"google.protobuf.Timestamp": TIMESTAMP, "google.protobuf.Duration": DURATION},
}
"""What the names of types in expressions stand for."""


def path_of(node: Node) -> Path | None:
    """The name and the steps of a literal path such as `data.users[0]["name"]`; None for anything else."""
    fields: list[Step] = []
    while not isinstance(node, Name):
        match node:
            case Select(operand=operand, field=field, test=False):
                fields.append(field)
            case Index(operand=operand, key=Constant(value=value)) if value.__class__ in (str, int):
                fields.append(value)
            case _:
                return None
        node = operand
    return (node.name, *reversed(fields))


def type_named(node: Node, scope: Scope) -> Type | None:
    """The type that a name such as `string` or `net.IP` means, unless a variable hides it."""
    path = path_of(node)
    if path is None or (len(path) == 1 and path[0] in scope):
        return None
    return TYPE_NAMES.get(".".join(map(str, path)))


def assume(node: Node, truth: bool, scope: Scope) -> Scope:
    """The scope where a condition was evaluated and is `truth`."""
    match node:
        case Unary(operator="!", operand=operand):
            return assume(operand, not truth, scope)
        case Logic(operator=sign, terms=terms):
            if (sign == "&&") is truth:
                return reduce(lambda known, term: assume(term, truth, known), terms, scope)
            # One of the terms decided; the others may even have failed.
            return _any_of(scope, (assume(term, truth, scope) for term in terms))
    path, change = _fact(node, truth, scope)
    if path is None or path[0] not in scope:
        return scope
    return {**scope, path[0]: refine(scope[path[0]], path[1:], change)}


def is_guard(node: Node) -> bool:
    """Whether a condition only asks if something exists, is null or has a type, so that it rarely fails itself."""
    match node:
        case Unary(operator="!", operand=operand):
            return is_guard(operand)
        case Select(operand=operand, test=True):
            return path_of(operand) is not None
        case Relation(operator="in", left=Constant(value=str()), right=operand):
            return path_of(operand) is not None
        case Relation(operator="==" | "!=", left=operand, right=Constant(value=None)):
            return path_of(operand) is not None
        case Relation(operator="==" | "!=", left=Call(name="type", arguments=(operand,)), right=Name()):
            return path_of(operand) is not None
    return False


def _any_of(scope: Scope, scopes: Iterable[Scope]) -> Scope:
    found = list(scopes)
    if any(each is scope for each in found):
        return scope
    return {
        name: old if all(each[name] is old for each in found) else union(each[name] for each in found)
        for name, old in scope.items()
    }


def _fact(node: Node, truth: bool, scope: Scope) -> tuple[Path | None, Change]:
    """The path that a condition speaks about, and what becomes of its type."""
    match node:
        case Select(operand=operand, field=field, test=True):
            return path_of(operand), _having(field, truth)
        case Relation(operator="in", left=Constant(value=str() as field), right=operand):
            return path_of(operand), _having(field, truth, "list")
        case Relation(operator="in", left=operand, right=Items(items=items)) if truth:
            values = [each.value for each in items if isinstance(each, Constant)]
            return (path_of(operand), _equal_to(values)) if len(values) == len(items) else (None, _same)
        case Relation(operator="==" | "!=" as sign, left=left, right=right):
            return _comparison(left, right, (sign == "==") is truth, scope)
        case Name() | Select() | Index():
            return path_of(node), _equal_to([truth])
    return None, _same


def _comparison(left: Node, right: Node, equal: bool, scope: Scope) -> tuple[Path | None, Change]:
    if isinstance(left, Constant):
        left, right = right, left
    match left, right:
        case Call(name="type", target=None, arguments=(operand,)), Name() | Select():
            named = type_named(right, scope)
            return (path_of(operand), _of_kind(named, equal)) if named else (None, _same)
        case _, Constant(value=value):
            return path_of(left), _equal_to([value]) if equal else _unequal_to(value)
    return None, _same


# -- changes of a type ----------------------------------------------------------------------------------------


def refine(found: Type, path: Sequence[Step], change: Change) -> Type:
    """A type after a read of `path` below it succeeded and gave a value of the changed type."""
    if not path:
        return change(found)
    return union(_refined(member, path, change) for member in members_of(found))


def _refined(member: Type, path: Sequence[Step], change: Change) -> Type:
    step, rest = path[0], path[1:]
    match member:
        case List() if isinstance(step, int):
            item = refine(member.at(step), rest, change)
            return NEVER if item is NEVER else member.replace(step, item)
        case Object() if isinstance(step, str):
            return _refined_field(member, step, rest, change)
    return member if isinstance(member, Map) or member is DYN else NEVER


def _refined_field(member: Object, name: str, rest: Sequence[Step], change: Change) -> Type:
    field = member.field(name)
    inner = NEVER if field is None else refine(field.type, rest, change)
    if field is None or inner is NEVER:
        return NEVER
    return (
        member
        if field.required and inner is field.type
        else member.replace(name, Field(inner, True, field.doc))
    )


def _same(found: Type) -> Type:
    return found


def _having(field: str, truth: bool, *others: str) -> Change:
    """Where a map has a key, or lacks it; what is of one of the other kinds stays, and the rest failed."""

    def change(member: Type) -> Type:
        kind = kind_of(member)
        if kind != "map" or isinstance(member, Map):
            return member if kind in ("map", "dyn", *others) else NEVER
        return _refined(member, (field,), _same) if truth else _without(member, field)

    return lambda found: union(map(change, members_of(found)))


def _without(member: Type, field: str) -> Type:
    has = member.field(field) if isinstance(member, Object) else None
    if has is None or not isinstance(member, Object):
        return member
    return NEVER if has.required else member.replace(field, Field(NEVER, False))


def _of_kind(wanted: Type, equal: bool) -> Change:
    def change(found: Type) -> Type:
        if found is DYN:
            return wanted if equal else DYN
        kind = kind_of(wanted)
        return union(each for each in members_of(found) if (kind_of(each) == kind) is equal)

    return change


def _equal_to(values: Sequence[Any]) -> Change:
    def change(found: Type) -> Type:
        return union(_equals(each, values) for each in members_of(found))

    return change


def _equals(member: Type, values: Sequence[Any]) -> Type:
    """What is left of one alternative where it equals one of some constants; numbers equal across their types."""
    if not isinstance(member, Scalar):
        return DYN if member is DYN else NEVER
    if member.kind in ("int", "uint", "double"):
        numbers = [each for each in values if each.__class__ in NUMBERS]
        if member.kind == "int" and all(each.__class__ is int for each in numbers):
            return _limited(member, numbers)
        return member if numbers else NEVER
    if member.kind == "null":
        return member if None in values else NEVER
    if member.kind == "bytes":
        return member if any(each.__class__ is bytes for each in values) else NEVER
    python = {"string": str, "bool": bool}.get(member.kind)
    return _limited(member, [each for each in values if each.__class__ is python]) if python else NEVER


def _limited(member: Scalar, values: Sequence[Any]) -> Type:
    return known(member.kind, values if member.values is None else member.values & frozenset(values))


_KINDS_OF_VALUES: Final = {str: "string", int: "int", bool: "bool"}


def _unequal_to(value: Any) -> Change:
    kind = _KINDS_OF_VALUES.get(value.__class__)

    def without(member: Type) -> Type:
        if value is None:
            return NEVER if member == NULL else member
        if not isinstance(member, Scalar) or member.kind != kind:
            return member
        values = frozenset((True, False)) if kind == "bool" and member.values is None else member.values
        return member if values is None else known(kind, values - {value})

    return lambda found: union(map(without, members_of(found)))
