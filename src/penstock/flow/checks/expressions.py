"""`unknown-field` and `wrong-type` of expressions: what they read, what they compute, and what their settings take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from penstock.expression import Expression, Template
from penstock.expression.template import is_open, path_below
from penstock.expression.types import Problem, Scope, check_expression, check_template, fits, read_schema
from penstock.expression.types.types import BOOL, DYN, LIST, Object, Type, name_of
from penstock.flow.checks.findings import DataCount, Finding, error, warning
from penstock.flow.checks.scopes import Scopes
from penstock.flow.checks.wording import Argument
from penstock.flow.compile.compile import Flow, FlowStep

MAX_NAMES = 10
"""Names in a hint."""


class ExpressionCheck:
    """Types every expression of a flow; `findings` first, then `count`."""

    def __init__(self, flow: Flow) -> None:
        self.flow, self.offers = flow, flow.offers
        self.scopes = Scopes(flow.definition, flow.net, flow.offers)
        self._types: list[Type] = []

    @property
    def count(self) -> DataCount:
        typed = sum(each is not DYN for each in self._types)
        return DataCount(len(self._types), typed, len(self._types) - typed)

    def findings(self) -> Iterator[Finding]:
        for name, step in self.flow.steps.items():
            if step.disabled is None:
                yield from self._of_step(name, step)
        if self.flow.result is not None:
            yield from self._typed(None, "result", self.flow.result.source, self.scopes.of_result(), None)

    def _of_step(self, name: str, step: FlowStep) -> Iterator[Finding]:
        path = f"steps.{name}"
        readers = [
            each for each in (step.each, step.serialize, *step.box.readers.values()) if each is not None
        ]
        outputs = _outputs_read(readers)
        outer = self.scopes.of_step(name, outputs=outputs)
        if step.each is not None:
            yield from self._typed(name, f"{path}.each", step.each.source, outer, LIST)
        if step.match is not None:
            yield from self._typed(name, f"{path}.match", step.match.source, self.scopes.of_match(name), None)
        scope = self.scopes.of_step(name, items=True, outputs=outputs) if step.each is not None else outer
        if step.serialize is not None:
            yield from self._typed(name, f"{path}.serialize", step.serialize.source, scope, None)
        for below, reader in step.box.readers.items():
            place = f"{path}.with.{below}" if below else f"{path}.with"
            if isinstance(reader, Expression):
                yield from self._typed(name, place, reader.source, scope, BOOL)
            else:
                yield from self._template(name, place, reader, scope)

    def _wanted(self, step: str, setting: str) -> Type:
        """The type of a setting, by the parameters of the task."""
        schema = self.offers[step].parameters if step in self.offers else {}
        part = schema.get("properties", {}).get(setting, {})
        return (
            read_schema({"$defs": schema.get("$defs", {}), **part}).type if isinstance(part, Mapping) else DYN
        )

    def _typed(
        self, step: str | None, path: str, source: str, scope: Scope, wanted: Type | None
    ) -> Iterator[Finding]:
        checked = check_expression(source, scope)
        self._types.append(checked.type)
        yield from (self._problem(step, path, each) for each in checked.problems)
        if wanted is not None and not checked.problems:
            yield from _unfitting(step, path, checked.type, wanted)

    def _template(self, step: str, path: str, template: Template, scope: Scope) -> Iterator[Finding]:
        if template.constant:
            return
        checked = check_template(template.value, scope)
        self._types += [part.checked.type for part in checked.parts]
        yield from (self._problem(step, _below(path, below), each) for below, each in checked.problems)
        wrong = tuple(below for below, _ in checked.problems)
        if path != f"steps.{step}.with":
            setting = path.removeprefix(f"steps.{step}.with.")
            yield from _unfitting(step, path, checked.type, self._wanted(step, setting)) if not wrong else ()
        elif isinstance(checked.type, Object):
            for key, field in checked.type.fields.items():
                if is_open(template.value[key]) and not any(_lies_in(each, key) for each in wrong):
                    place = _below(path, path_below("", key))
                    yield from _unfitting(step, place, field.type, self._wanted(step, key))

    def _problem(self, step: str | None, path: str, problem: Problem) -> Finding:
        grave = problem.severity == "error"
        args: dict[str, Argument | None] = {
            "step": step,
            "setting": _setting(step, path),
            "expression": problem.subject,
            "name": problem.subject,
            "near": problem.nearest,
            "owner": problem.owner or "…",
            "found": problem.found,
        }
        if problem.code == "unknown-field":
            args |= self._words(step, problem)
            return (error if grave else warning)("unknown-field", (), path, **args)
        args |= {"expected": problem.expected, "variant": problem.variant, "remedy": "expression"}
        return (error if grave else warning)("wrong-type", (), path, **args)

    def _words(self, step: str | None, problem: Problem) -> dict[str, Argument | None]:
        """Which sentence says that a field is unknown: of steps, events and data in the words of workflows."""
        name, names = problem.subject, list(problem.available[:MAX_NAMES])
        if problem.owner == "steps":
            return {"variant": self._absence(step, name)}
        if problem.owner == "events":
            return {"variant": "event", "names": names}
        if problem.owner == "data" and problem.variant != "never-present":
            return {"variant": "maybe-data" if problem.variant == "optional-field" else "data"}
        if problem.variant == "unknown-name":  # of `item` and `index`: it would not compile with any other
            return {"variant": "each"}
        if names and problem.variant == "no-field":
            return {"variant": problem.variant, "remedy": "has", "names": names}
        return {"variant": problem.variant}

    def _absence(self, step: str | None, name: str) -> str:
        """Why the output of a step is not there for sure."""
        known = self.scopes.precedence.index
        if name not in known:
            return "no-step"
        may = step is None or self.scopes.precedence.may_precede(known[name], known[step])
        return "later" if may else "never"


def _outputs_read(readers: Iterable[Expression | Template]) -> frozenset[str] | None:
    """The steps whose outputs are read; None where an expression does not name them."""
    paths = {path for each in readers for path in (*each.reads, *each.guards) if path[0] == "steps"}
    return None if any(len(path) == 1 for path in paths) else frozenset(path[1] for path in paths)


def _unfitting(step: str | None, path: str, found: Type, wanted: Type) -> Iterator[Finding]:
    fit = fits(found, wanted)
    if fit.verdict == "yes":
        return
    gives = "gives" if fit.verdict == "never" else "may-give"
    yield (error if fit.verdict == "never" else warning)(
        "wrong-type",
        (),
        path,
        step=step,
        setting=_setting(step, path),
        expression=fit.path,
        variant=fit.why if fit.why != "type" else f"{gives}-inside" if fit.path else gives,
        remedy="expression",
        name=fit.path or None,
        found=name_of(fit.found),
        expected=name_of(fit.expected),
    )


def _setting(step: str | None, path: str) -> str:
    """A setting as people call it: `to`, `cases.big`, `each`, `result`."""
    return path if step is None else path.removeprefix(f"steps.{step}.").removeprefix("with.")


def _lies_in(path: str, key: str) -> bool:
    below = path_below("", key)
    return path == below or path.startswith((f"{below}.", f"{below}["))


def _below(path: str, below: str) -> str:
    return path if not below else f"{path}{below}" if below.startswith("[") else f"{path}.{below}"
