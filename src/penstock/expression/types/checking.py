"""The static type of an expression, and what may or must go wrong with types when it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from penstock.expression.errors import Fault, nearest_name
from penstock.expression.functions import functions
from penstock.expression.functions.times import GETTERS
from penstock.expression.syntax.parser import next_token, parse
from penstock.expression.syntax.syntax import (
    Call,
    Chain,
    Choice,
    Constant,
    Entries,
    Index,
    Items,
    Logic,
    Loop,
    Name,
    Node,
    Relation,
    Select,
    Unary,
)
from penstock.expression.types.fitting import Verdict, fits
from penstock.expression.types.narrowing import Scope, assume, is_guard, path_of, type_named
from penstock.expression.types.problems import Code, Problem
from penstock.expression.types.signatures import (
    FUNCTIONS,
    INDEX,
    ITEMS,
    KEYS,
    NUMBERS,
    OPERATORS,
    Overloads,
    applied,
)
from penstock.expression.types.types import (
    BOOL,
    DYN,
    MAX_WEIGHT,
    NEVER,
    NULL,
    STRING,
    TYPE,
    Field,
    List,
    Map,
    Object,
    Scalar,
    Type,
    kind_of,
    known,
    list_of,
    members_of,
    name_of,
    type_of_value,
    union,
    weight_of,
)
from penstock.expression.values import Timestamp

_GUARDS, _AVAILABLE = 8, 50
_LAST_NAMES: Final = frozenset({"Timestamp", "Duration", "IP", "CIDR"})


class Checked(msgspec.Struct, frozen=True):
    """The type of an expression, and its problems in the order of the text."""

    type: Type
    problems: tuple[Problem, ...] = ()


def check(node: Node, scope: Scope, source: str) -> Checked:
    """The type of a parsed expression over variables of known types; never raises.

    The expression is one that compiles: unknown functions and wrong numbers of arguments are not looked for.
    """
    checker = _Checker(source)
    try:
        found = checker.typed(node, scope)
    except RecursionError:
        return Checked(DYN)
    return Checked(found, tuple(sorted(checker.problems, key=lambda problem: problem.offset)))


def check_expression(source: str, scope: Scope) -> Checked:
    """The same for a text; raises ExpressionError where it is no expression."""
    node, _ = parse(source)
    return check(node, scope, source)


class _Checker:
    def __init__(self, source: str) -> None:
        self.source, self.problems = source, list[Problem]()

    def typed(self, node: Node, scope: Scope) -> Type:
        """The type of a part; what is too large to be compared is dyn."""
        found = self.type_of(node, scope)
        return found if weight_of(found) <= MAX_WEIGHT else DYN

    def type_of(self, node: Node, scope: Scope) -> Type:
        match node:
            case Constant(value=value):
                return type_of_value(value)
            case Name():
                return self.name(node, scope)
            case Select():
                return self.select(node, scope)
            case Index(operand=operand, key=Constant(value=str() as field) as key):
                return self.read(operand, field, key.at, scope)
            case Index():
                return self.index(node, scope)
            case Relation():
                return self.relation(node, scope)
            case Logic():
                return self.logic(node, scope)
            case Call():
                return self.call(node, scope)
            case _:
                return self.made(node, scope)

    def made(self, node: Node, scope: Scope) -> Type:
        match node:
            case Chain(first=first, rest=rest):
                found = self.typed(first, scope)
                for sign, at, term in rest:
                    found = self.apply(
                        OPERATORS[sign], (found, self.typed(term, scope)), at, sign, "operator"
                    )
                return found
            case Unary(operator=sign, operand=operand):
                overloads = OPERATORS["negation" if sign == "-" else sign]
                return self.apply(overloads, (self.typed(operand, scope),), node.at, sign, "operator")
            case Choice():
                return self.choice(node, scope)
            case Items(items=items):
                return list_of(self.typed(item, scope) for item in items)
            case Entries():
                return self.entries(node, scope)
            case Loop():
                return self.loop(node, scope)
        raise AssertionError(node)

    # Names and fields

    def name(self, node: Name, scope: Scope) -> Type:
        found = scope.get(node.name)
        if found is None and type_named(node, scope):
            return TYPE
        if found is None:
            self.report("unknown-field", "unknown-name", "never", node.at, node.name, available=scope)
        return DYN if found is None else found

    def select(self, node: Select, scope: Scope) -> Type:
        if node.test:
            self.test(node.operand, node.field, node.at, scope)
            return BOOL
        if node.field in _LAST_NAMES and type_named(node, scope):
            return TYPE
        return self.read(node.operand, node.field, node.at, scope)

    def read(self, operand: Node, field: str, at: int, scope: Scope) -> Type:
        """A field that must exist."""
        found = self.typed(operand, scope)
        members = members_of(found)
        key = all(_is_key(each, field) for each in members if kind_of(each) == "map")
        types = [has.type for each in members if (has := _field(each, field)) is not None]
        whys = {_why_missing(each, field, key) for each in members} - {""}
        if whys:
            self.report_missing(found, whys, (operand, field, at), certain=not types)
        return union(types) if types or found is NEVER else DYN

    def test(self, operand: Node, field: str, at: int, scope: Scope) -> None:
        """`has`: the field may be missing, but what should have it is a map."""
        found = self.typed(operand, scope)
        maps = [kind_of(member) in ("map", "dyn") for member in members_of(found)]
        if all(maps):
            self.report_absent(found, operand, field, at)
        else:
            self.report_missing(found, {"no-fields"}, (operand, field, at), certain=not any(maps))

    def report_missing(
        self, found: Type, whys: set[str], place: tuple[Node, str, int], certain: bool
    ) -> None:
        operand, field, at = place
        if certain:
            variant = "no-field" if "no-field" in whys else "no-fields"
        else:
            variant = next(_UNCERTAIN[each] for each in _UNCERTAIN if each in whys)
        others = union(each for each in members_of(found) if kind_of(each) not in ("map", "dyn"))
        self.report(
            "unknown-field",
            variant,
            "never" if certain else "may not",
            at,
            field,
            owner=_spelled(operand),
            found=name_of(others if variant == "maybe-no-fields" else found),
            available=_names(found),
        )

    def report_absent(self, found: Type, operand: Node, field: str, at: int) -> None:
        """Warn of a condition about a field that no such object can have: it probably names another one."""
        closed = [isinstance(each, Object) and each.rest is None for each in members_of(found)]
        if found is not NEVER and all(closed) and field not in {*_declared(found)}:
            self.report(
                "unknown-field",
                "never-present",
                "may not",
                at,
                field,
                owner=_spelled(operand),
                available=_names(found),
            )

    def index(self, node: Index, scope: Scope) -> Type:
        container, key = self.typed(node.operand, scope), self.typed(node.key, scope)
        verdicts: set[Verdict] = set()
        types: list[Type] = []
        for member in members_of(container):
            found, verdict, _ = applied(INDEX, (member, key))
            verdicts.add(verdict)
            if verdict != "never":
                types.append(found)
            if kind_of(member) == "list" and any(kind_of(each) == "double" for each in members_of(key)):
                verdicts.add("may not")
        if verdicts - {"yes"}:
            worst: Verdict = "never" if verdicts == {"never"} else "may not"
            owner, variant = _spelled(node.operand), _variant("index", worst)
            self.report("wrong-type", variant, worst, node.at, name_of(key), owner, found=name_of(container))
        return union(types) if types or not verdicts else DYN

    # Operators and functions

    def apply(
        self, overloads: Overloads, arguments: Sequence[Type], at: int, subject: str, variant: str
    ) -> Type:
        """The result of an operator or a function."""
        found, verdict, failed = applied(overloads, arguments)
        if verdict != "yes":
            names = " and ".join(name_of(each) for each in failed)
            self.report("wrong-type", _variant(variant, verdict), verdict, at, subject, found=names)
        return found

    def call(self, node: Call, scope: Scope) -> Type:
        arguments = (*((node.target,) if node.target else ()), *node.arguments)
        types = [self.typed(argument, scope) for argument in arguments]
        overloads = FUNCTIONS.get(node.name, {})
        if not any(len(each) == len(types) for each in overloads):
            return DYN
        found = self.apply(overloads, types, node.at, node.name, "argument")
        if not _is_convertible(node.name, arguments):
            self.report("wrong-type", "argument", "never", node.at, node.name, found=name_of(types[-1]))
        if node.name in ITEMS:
            lists = union(each for each in members_of(types[0]) if isinstance(each, List))
            fit = fits(lists, List(ITEMS[node.name]))
            if fit.verdict != "yes":
                # An empty list has no wrong items.
                self.report(
                    "wrong-type", "maybe-argument", "may not", node.at, node.name, found=name_of(lists)
                )
        return found

    def relation(self, node: Relation, scope: Scope) -> Type:
        left, right = self.typed(node.left, scope), self.typed(node.right, scope)
        if node.operator in ("==", "!="):
            self.compare(node, left, right)
            return BOOL
        found = self.apply(OPERATORS[node.operator], (left, right), node.at, node.operator, "operator")
        if node.operator == "in":
            items = [each.item for each in members_of(right) if isinstance(each, List)]
            if items and len(items) == len(members_of(right)):
                self.compare(node, left, union(items))
            elif isinstance(node.left, Constant) and isinstance(node.left.value, str):
                self.report_absent(right, node.right, node.left.value, node.left.at)
        return found

    def compare(self, node: Relation, left: Type, right: Type) -> None:
        """Warn of values that are never equal, such as a text and a number, or a word that an enum does not have."""
        exact = (path_of(node.left) is None) is not (path_of(node.right) is None)
        pairs = [(one, other) for one in members_of(left) for other in members_of(right)]
        if not pairs or NULL in (left, right) or any(_may_equal(one, other, exact) for one, other in pairs):
            return
        one, other = (left, right) if path_of(node.right) is None else (right, left)  # the one that is read
        self.report(
            "wrong-type",
            "never-equal",
            "may not",
            node.at,
            node.operator,
            found=name_of(other),
            expected=name_of(one),
            near=next(iter(_words(other)), "") if exact else "",
            available=_words(one),
        )

    def logic(self, node: Logic, scope: Scope) -> Type:
        """Check each term where no other term decides: only there its failure counts."""
        truth = node.operator == "&&"
        guards = [index for index, term in enumerate(node.terms) if is_guard(term)][-_GUARDS:]
        for index, term in enumerate(node.terms):
            inner = scope
            for later in guards:
                if later > index and self.is_clean(node.terms[later], inner):
                    inner = assume(node.terms[later], truth, inner)
            self.condition(self.typed(term, inner), term.at, node.operator)
            scope = assume(term, truth, scope)
        return BOOL

    def is_clean(self, node: Node, scope: Scope) -> bool:
        """Whether a guard has no problem, so that it cannot fail."""
        before = len(self.problems)
        self.typed(node, scope)
        clean = len(self.problems) == before
        del self.problems[before:]
        return clean

    def condition(self, found: Type, at: int, sign: str) -> None:
        kinds = {kind_of(member) for member in members_of(found)}
        others = union(each for each in members_of(found) if kind_of(each) not in ("bool", "dyn"))
        if others is not NEVER:
            verdict: Verdict = "may not" if "bool" in kinds else "never"
            self.report(
                "wrong-type", _variant("condition", verdict), verdict, at, sign, found=name_of(others)
            )

    def choice(self, node: Choice, scope: Scope) -> Type:
        types = []
        for test, value in node.cases:
            self.condition(self.typed(test, scope), test.at, "? :")
            types.append(self.typed(value, assume(test, True, scope)))
            scope = assume(test, False, scope)
        return union((*types, self.typed(node.default, scope)))

    # Literals and loops

    def entries(self, node: Entries, scope: Scope) -> Type:
        fields: dict[str, Field] = {}
        keys: list[Type] = []
        others: list[Type] = []
        for key, value in node.entries:
            if isinstance(key, Constant) and isinstance(key.value, str):
                if key.value in fields:
                    self.report("wrong-type", "duplicate-key", "never", key.at, key.value)
                fields[key.value] = Field(self.typed(value, scope))
                continue
            keys.append(self.typed(key, scope))
            self.key(keys[-1], key.at)
            others.append(self.typed(value, scope))
        if all(kind_of(member) == "string" for key_type in keys for member in members_of(key_type)):
            return Object(fields, union(others) if others else None)
        values = (*others, *(field.type for field in fields.values()))
        return Map(union((*keys, *([STRING] if fields else []))), union(values))

    def key(self, found: Type, at: int) -> None:
        wrong = union(each for each in members_of(found) if kind_of(each) not in (*KEYS, "dyn"))
        if wrong is not NEVER:
            verdict: Verdict = "never" if wrong == found else "may not"
            self.report("wrong-type", _variant("key", verdict), verdict, at, found=name_of(wrong))

    def loop(self, node: Loop, scope: Scope) -> Type:
        over = self.typed(node.over, scope)
        items = [items_of(member) for member in members_of(over)]
        others = [each for each, item in zip(members_of(over), items, strict=True) if item is None]
        if others:
            verdict: Verdict = "never" if len(others) == len(items) else "may not"
            names = name_of(union(others))
            self.report("wrong-type", _variant("loop", verdict), verdict, node.at, node.kind, found=names)
        item = DYN if others and len(others) == len(items) else union(each for each in items if each)
        if isinstance(node.over, Items | Entries):
            item = union(map(_plain, members_of(item)))
        inner: Scope = {**scope, node.variable: item}
        if node.condition is not None:
            self.condition(self.typed(node.condition, inner), node.condition.at, node.kind)
            inner = assume(node.condition, True, inner)
        if node.transform is not None:
            return List(self.typed(node.transform, inner))
        return List(inner[node.variable]) if node.kind == "filter" else BOOL

    # Problems

    def report(
        self,
        code: Code,
        variant: str,
        verdict: Verdict,
        at: int,
        subject: str = "",
        owner: str = "",
        found: str = "",
        expected: str = "",
        available: Iterable[str] = (),
        near: str = "",
    ) -> None:
        token = next_token(self.source, at)
        names = tuple(available)[:_AVAILABLE]
        self.problems.append(
            Problem(
                code=code,
                severity="error" if verdict == "never" else "warning",
                variant=variant,
                offset=at,
                length=max(1, token.end - at),
                subject=subject,
                owner=owner,
                found=found,
                expected=expected,
                available=names,
                nearest=None if subject in names else nearest_name(near or subject, names),
            )
        )


_CONVERSIONS: Final = frozenset(("int", "uint", "double", "bool", "duration", "timestamp", "ip", "cidr"))


def _is_convertible(name: str, arguments: Sequence[Node]) -> bool:
    """Whether a constant text is one that a conversion takes, or a time zone."""
    given = arguments[-1]
    zone = name in GETTERS and len(arguments) == 2
    if (
        not (zone or name in _CONVERSIONS)
        or not isinstance(given, Constant)
        or not isinstance(given.value, str)
    ):
        return True
    try:
        functions.FUNCTIONS[name].run([None, 0], *((Timestamp(0),) if zone else ()), given.value)
    except Fault:
        return False
    return True


def _variant(name: str, verdict: Verdict) -> str:
    return name if verdict == "never" else f"maybe-{name}"


def _field(member: Type, name: str) -> Field | None:
    """The field of one alternative; None where it has none."""
    match member:
        case Object():
            return member.field(name)
        case Map(key=key, value=value):
            return (
                Field(value, False)
                if any(kind_of(each) in ("string", "dyn") for each in members_of(key))
                else None
            )
    return Field(DYN) if member is DYN else None


_UNCERTAIN: Final = {
    "no-fields": "maybe-no-fields",
    "no-field": "optional-field",
    "optional-field": "optional-field",
    "undeclared-field": "undeclared-field",
}
"""Why an alternative may lack a field, and what is reported where another one has it; the first one counts."""


def _why_missing(member: Type, name: str, key: bool) -> str:
    """Why one alternative may lack a field; nothing where it has it, or where keys are data."""
    if kind_of(member) not in ("map", "dyn"):
        return "no-fields"
    has = _field(member, name)
    if has is None:
        return "no-field"
    if has.required or key:
        return ""
    return "optional-field" if isinstance(member, Object) and name in member.fields else "undeclared-field"


def _is_key(member: Type, name: str) -> bool:
    """Whether a name is data, which no type promises, as the items of a list are not promised either."""
    return isinstance(member, Map) or (
        isinstance(member, Object) and member.is_map and name not in member.fields
    )


def _names(found: Type) -> Iterator[str]:
    """The fields that exist in some alternative."""
    objects = (each for each in members_of(found) if isinstance(each, Object))
    return iter(dict.fromkeys(name for each in objects for name in each.names))


def _declared(found: Type) -> Iterator[str]:
    """Those, and the fields that a condition before has ruled out."""
    return (name for each in members_of(found) if isinstance(each, Object) for name in each.fields)


def _words(found: Type) -> list[str]:
    """The texts that a type is known to have."""
    values = (each.values or () for each in members_of(found) if isinstance(each, Scalar))
    return sorted(each for known in values for each in known if isinstance(each, str))


def items_of(member: Type) -> Type | None:
    """What a loop over one alternative goes over."""
    match member:
        case List(item=item):
            return item
        case Map(key=key):
            return key
        case Object(rest=rest):
            return STRING if rest is not None else known("string", member.names)
    return DYN if member is DYN else None


def _plain(member: Type) -> Type:
    """One alternative without its known values: what a literal lists is no promise."""
    return Scalar(member.kind) if isinstance(member, Scalar) else member


def _may_equal(one: Type, other: Type, exact: bool) -> bool:
    kind, other_kind = kind_of(one), kind_of(other)
    if "dyn" in (kind, other_kind) or (kind in NUMBERS and other_kind in NUMBERS and kind != other_kind):
        return True
    if kind != other_kind or not (exact and isinstance(one, Scalar) and isinstance(other, Scalar)):
        return kind == other_kind
    return one.values is None or other.values is None or bool(one.values & other.values)


def _spelled(node: Node) -> str:
    name, *steps = path_of(node) or ("",)
    return (name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps))[:80]
