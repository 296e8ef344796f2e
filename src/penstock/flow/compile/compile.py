"""Definition → flow: the net, and every step with its box, expressions and policies compiled once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import asdict, replace

from penstock.expression import Expression, ExpressionError, Template, compile_expression, compile_template
from penstock.flow.compile.promise import Promise, promise_of
from penstock.flow.compile.source_scopes import HOOK_SCOPE, OBJECT_SCOPE, glob_over_key
from penstock.flow.model import retry_policy
from penstock.flow.model.box import SETTING_CODES, BadParameter, Box, BoxError, Kind, Queue, Reaction, View
from penstock.flow.model.definition import Definition, Notice, Policy, Slot, Step
from penstock.flow.model.names import Hints
from penstock.flow.model.offer import Offer
from penstock.flow.model.problems import DefinitionError, Problem
from penstock.flow.model.retry_policy import RetryPolicy, Timeouts
from penstock.flow.model.secret_references import References, references
from penstock.flow.values.defaults import has_defaults, with_defaults
from penstock.flow.values.payload import copied
from penstock.flow.values.schema_validation import ValidationErrors, validator_of
from penstock.kernel import net as kernel
from penstock.kernel.net import CANCEL, FAIL, OK, RESERVED, START, Exit, Net, WiredStep, Wiring

CLEANUP_TIMEOUT = timedelta(minutes=10)
APPROVAL, WORKFLOW = "approval", "workflow"
LONE = frozenset({APPROVAL, WORKFLOW})
"""Tasks that the engine does by itself: a person, or another run, ends them."""
PARKING = frozenset({APPROVAL, "http", "service"})
"""Tasks that may wait for somebody outside without a worker."""
SERVED = frozenset({"http", "mail", "service", "update"})
"""Tasks that the server does with a worker of its own, unless a step names another task list."""
BOXES = "penstock"
"""The task list of the built-in tasks that the server's own worker does."""
Places = Mapping[str, tuple[int, int]]
T = TypeVar("T")


class Way(Struct, frozen=True):
    """One exit, compiled: the events to fire, and whether it reaches the goal or ends the run."""

    port: str | None
    names: tuple[str, ...]
    ok: bool = False
    ending: str | None = None
    failure: bool = False
    put_off: bool = False


class FlowStep(Struct, frozen=True):
    """One step, ready to run."""

    wired: WiredStep
    name: str
    task: str
    box: Box
    ways: dict[str | None, Way]
    ports: tuple[str, ...]
    each: Expression | None
    collect: bool
    match: Expression | None
    serialize: Expression | None
    serialize_limit: int
    serialize_scope: str
    retry: RetryPolicy
    timeouts: Timeouts
    task_list: str
    priority: int
    parallel: int | None  # firings at once; of an `each` step: elements at once, None is all
    disabled: str | None
    fixed: Queue | None  # what a worker gets, where nothing has to be evaluated
    under_way: Literal["running", "parked"]  # what an attempt is from the beginning
    promise: Promise | None = None  # what its task gives
    secrets: References = {}  # what its parameters name


class Flow:
    """A workflow version compiled. Shared by all its runs; nothing in it changes."""

    def __init__(
        self,
        definition: Definition,
        net: Net,
        steps: Mapping[str, FlowStep],
        wiring: Wiring,
        result: Expression | None,
        version: int,
        bad_settings: Mapping[str, Problem],
        offers: Mapping[str, Offer],
    ) -> None:
        self.definition, self.name = definition, definition.name
        self.bad_settings = bad_settings  # by step: it fails when it fires
        self.offers = offers  # by step, as its settings make them
        self.net = net
        self.wiring = wiring
        self.steps = steps
        self.result, self.version = result, version
        self.by_index = tuple(steps[step.name] for step in wiring.steps)
        self.outside = {event.name: event for event in net.outside}
        self.fans = any(step.each is not None for step in steps.values())
        self.asks = any(step.task == APPROVAL for step in steps.values())
        self.parks = any(step.task in PARKING for step in steps.values())
        # No decision writes for others.
        self.is_plain = not (self.fans or definition.notify or {step.task for step in steps.values()} & LONE)
        self.routes: dict[Any, Any] = {}  # what `fast_path` has worked out
        self.timeout, given = definition.timeout, definition.cleanup_timeout
        self.cleanup_timeout = CLEANUP_TIMEOUT if given is None else given

    @cached_property
    def _input_errors(self) -> ValidationErrors:
        return validator_of(self.definition.params)

    @cached_property
    def _has_defaults(self) -> bool:
        return has_defaults(self.definition.params)

    def filled(self, value: Any) -> Any:
        """An input with the defaults of `params` for what it does not say. Raises TooManyDefaults."""
        params = self.definition.params
        if not self._has_defaults:
            return value
        given = copied(params.get("default", {})) if value is None and isinstance(params, Mapping) else value
        return with_defaults(params, given) or value

    def input_problems(self, value: Any) -> list[str]:
        """What is wrong with an input, by `params`; the check is made once for all runs."""
        return [] if self.definition.params is None else self._input_errors({} if value is None else value)

    def readers(self) -> Iterator[tuple[str, Expression | Template]]:
        """Every expression of the workflow with its path in the definition."""
        for name, step in self.steps.items():
            for key in ("each", "match", "serialize"):
                expression: Expression | None = getattr(step, key)
                if expression is not None:
                    yield f"steps.{name}.{key}", expression
            for path, reader in step.box.readers.items():
                yield f"steps.{name}.with.{path}" if path else f"steps.{name}.with", reader
        if self.result is not None:
            yield "result", self.result


SCOPE = ("run", "data", "tags", "events", "event", "steps", "item", "index", "now")


def compile_flow(
    definition: Definition,
    kinds: Mapping[str, Kind],
    offers: Mapping[str, Offer] | None = None,
    *,
    version: int = 1,
    places: Places | None = None,
    file: str | None = None,
    suffix: str = "",
) -> Flow:
    """The flow of a definition. Raises DefinitionError with every problem that only compiling can find.

    `suffix` is appended to the names of its task lists.
    """
    return _Compiler(definition, kinds, offers or {}, places or {}, suffix).flow(version, file)


class _Compiler(Struct, dict=True):
    """Gathers problems while it compiles, so that all are told at once."""

    definition: Definition
    kinds: Mapping[str, Kind]
    offers: Mapping[str, Offer]
    places: Places
    suffix: str
    problems: list[Problem] = []
    bad_settings: dict[str, Problem] = {}
    unmade: set[str] = set()  # steps whose box cannot be made: nobody knows its ports

    @cached_property
    def awaited(self) -> set[str]:
        steps = self.definition.steps.values()
        return {name for step in steps for slot in slots_of(step) for name in slot.events}

    @cached_property
    def notified(self) -> set[str]:
        return {name for notice in self.definition.notify or () for name in notice.events or ()}

    def flow(self, version: int, file: str | None) -> Flow:
        boxes = {name: self.box(name, step) for name, step in self.definition.steps.items()}
        ports = {name: self.ports_of(name, step, boxes[name]) for name, step in self.definition.steps.items()}
        net = self.net(ports)
        wiring = Wiring(net)
        steps = {
            name: self.step(name, step, boxes[name], wiring.by_name[name], ports[name])
            for name, step in self.definition.steps.items()
        }
        result = self.expression("result", self.definition.result, ("run", "data", "tags", "steps", "now"))
        self.check_hooks()
        self.check_notify(net)
        if self.problems:
            raise DefinitionError(
                sorted(self.problems, key=lambda problem: (problem.line or 0, problem.column or 0)), file
            )
        return Flow(
            self.definition, net, steps, wiring, result, version, self.bad_settings, self.step_offers()
        )

    def step_offers(self) -> dict[str, Offer]:
        """What the tasks of the steps offer; those of built-in ones as the settings of the step make them."""
        found = {name: self.offers.get(step.task) for name, step in self.definition.steps.items()}
        for name, step in self.definition.steps.items():
            if step.task in self.kinds and name not in self.unmade:
                found[name] = self.kinds[step.task].offer_for(step.params or {})
        return {name: offer for name, offer in found.items() if offer is not None}

    # -- the net -------------------------------------------------------------------------------------------

    def net(self, ports: Mapping[str, tuple[str | None, ...]]) -> Net:
        steps = tuple(
            kernel.Step(
                name,
                tuple(kernel.Slot(slot.events, slot.need or 0, slot.keep) for slot in slots_of(step)),
                tuple(self.exit(name, step, port) for port in self.live_ports(name, step, ports[name])),
                step.cancels or (),
                step.match is not None,
            )
            for name, step in self.definition.steps.items()
        )
        outside = tuple(
            kernel.Outside(event.name, bool(event.many), bool(event.optional))
            for event in self.definition.external or ()
        )
        return Net(steps, outside, bool(self.definition.endless), self.definition.timeout is not None)

    def live_ports(self, name: str, step: Step, ports: tuple[str | None, ...]) -> tuple[str | None, ...]:
        if not step.disabled:
            return ports
        port = "done" if step.disabled is True else step.disabled
        if port not in ports:
            offered = ", ".join(str(other) for other in ports if other) or "none"
            message = f"step '{name}' cannot be disabled to port '{port}': its ports are {offered}; "
            message += "write `disabled: PORT` with one of them"
            self.problem("unknown_port", f"steps.{name}.disabled", message)
        return (port,)

    def exit(self, name: str, step: Step, port: str | None) -> Exit:
        """R3: the events listed for the port, `<step>.<port>`, and on `done` the step's own name, each once."""
        if port is None:
            return Exit(None, (FAIL,) if step.task == "fail" else ())
        listed = (step.emits or {}).get(port, ())
        implied = (f"{name}.{port}", name) if port == "done" else (f"{name}.{port}",)
        fires = tuple(dict.fromkeys((*listed, *implied)))
        if port != "failed":
            return Exit(port, fires)
        if not self.awaited.isdisjoint(fires) or not {OK, FAIL, CANCEL}.isdisjoint(listed):
            return Exit(port, fires, failure=True)
        if self.definition.on_failure == "continue":
            return Exit(port, fires, failure=True, put_off=True)
        return Exit(port, (*fires, FAIL), failure=True)

    # -- steps ---------------------------------------------------------------------------------------------

    def box(self, name: str, step: Step) -> Box:
        kind = self.kinds.get(step.task)
        params = step.params or {}
        try:
            return kind.box(params) if kind else TaskBox.of(params, SCOPE)
        except (BadParameter, ExpressionError) as error:
            code = error.code if isinstance(error, BadParameter) else "bad_expression"
            problem = self.problem_at(f"steps.{name}.with.{error.path}".rstrip("."), code, str(error))
        self.unmade.add(name)
        if code in SETTING_CODES:
            self.bad_settings[name] = problem
        else:
            self.problems.append(replace(problem, message=f"step '{name}': {problem.message}"))
        return BrokenBox(problem.message)

    def ports_of(self, name: str, step: Step, box: Box) -> tuple[str | None, ...]:
        if name in self.unmade:
            said = said_ports(name, step, self.awaited | self.notified)
            if step.task not in self.kinds:
                return said
            own = self.kinds[step.task].offer.ports or (None,)
            return tuple(dict.fromkeys((*own, *(port for port in said if port not in ("done", "failed")))))
        offered = self.offered_ports(step, box)
        for port in step.emits or {}:
            if port not in offered:
                known = ", ".join(str(other) for other in offered if other) or "none"
                message = f"step '{name}' has no port '{port}': task '{step.task}' ends on {known}"
                self.problem("unknown_port", f"steps.{name}.emits.{port}", message)
        if step.each is not None and "done" not in offered:
            message = f"step '{name}' cannot have `each`: task '{step.task}' has no port `done` to end on"
            self.problem("bad_each", f"steps.{name}.each", message)
        return offered

    def offered_ports(self, step: Step, box: Box) -> tuple[str | None, ...]:
        if step.task in self.kinds:
            return box.ports
        if step.task in self.offers:
            return tuple(dict.fromkeys((*self.offers[step.task].ports, "failed")))
        listed = [port for port in step.emits or {} if port != "failed"]
        return (*(listed or ["done"]), "failed")

    def step(
        self, name: str, step: Step, box: Box, wired: WiredStep, ports: tuple[str | None, ...]
    ) -> FlowStep:
        defaults = self.definition.defaults or Policy()
        own, offer = step.policy, self.offers.get(step.task)
        path = f"steps.{name}"
        return FlowStep(
            wired=wired,
            name=name,
            task=step.task,
            box=box,
            ways={port: self.way(step, self.exit(name, step, port)) for port in ports},
            ports=tuple(port for port in ports if port is not None),
            each=self.expression(f"{path}.each", step.each, (*SCOPE[:6], "now")),
            collect=step.each_failure == "collect",
            match=self.expression(f"{path}.match", step.match, ("event", "data")),
            serialize=self.expression(f"{path}.serialize", step.serialize, SCOPE),
            serialize_limit=step.serialize_limit or 1,
            serialize_scope=step.serialize_scope or name,
            retry=RetryPolicy(
                pick(own.retries, defaults.retries, 0),
                pick(own.timeout_retries, defaults.timeout_retries, (1, 1, 1)),
                retry_policy.Backoff(**written(own.backoff, defaults.backoff)),
                offer is not None and offer.resumes,
            ),
            timeouts=Timeouts(**written(own.timeouts, defaults.timeouts)),
            task_list=self.task_list(step, defaults),
            priority=pick(own.priority, defaults.priority, 0),
            parallel=pick(own.parallel, defaults.parallel, None if step.each else 1),
            disabled=None if not step.disabled else "done" if step.disabled is True else step.disabled,
            fixed=box.constant if isinstance(box, TaskBox) and step.serialize is None else None,
            promise=None if step.task in self.kinds else promise_of(offer),
            under_way="parked" if step.task == APPROVAL else "running",
            secrets=references(step.params or {}),
        )

    def task_list(self, step: Step, defaults: Policy) -> str:
        """Where its attempts wait; what the server itself does goes to its own list, unless the step names another."""
        offer = self.offers.get(step.task)
        fallback = (offer.task_list if offer else None) or "default"
        if fallback == BOXES and step.policy.task_list is None:
            return BOXES
        return pick(step.policy.task_list, defaults.task_list, fallback) + self.suffix

    def way(self, step: Step, exit: Exit) -> Way:
        listed = (step.emits or {}).get(exit.port or "", ())
        names = tuple(
            name
            for name in exit.fires
            if name in self.awaited - {FAIL, CANCEL}
            or (name in {*listed, *self.notified} and name not in RESERVED)
        )
        ending = next((name for name in (FAIL, CANCEL) if name in exit.fires), None)
        return Way(exit.port, names, OK in exit.fires, ending, exit.failure, exit.put_off)

    def check_hooks(self) -> None:
        """What is said about calls and messages can be worked out, as far as its text shows."""
        source = self.definition.source
        if source is not None and source.kind in ("webhook", "topic"):
            for key in ("where", "subject", "input", "id"):
                self.expression(f"source.{key}", source.options.get(key), HOOK_SCOPE)
        if source is not None and source.kind in ("object", "search"):
            self.expression("source.where", source.options.get("where"), OBJECT_SCOPE)
            glob = source.options.get("glob")
            self.expression("source.glob", None if glob is None else glob_over_key(glob), OBJECT_SCOPE)
        for number, event in enumerate(self.definition.external or ()):
            if (says := event.from_) is None:
                continue
            keys = {f"key.{name}": text for name, text in (says.key or {}).items()}
            parts = {"where": says.where, "data": says.data, "set": says.set, "id": says.id, **keys}
            for key, text in parts.items():
                self.expression(f"external[{number}].from.{key}", text, HOOK_SCOPE)

    def check_notify(self, net: Net) -> None:
        """Of what somebody is told can happen, and what is told can be worked out, as far as its text shows."""
        notices = self.definition.notify or ()
        for number, notice in enumerate(notices):
            self.expression(f"notify[{number}].data", notice.data, NOTICE_SCOPE)
        for number, external in enumerate(self.definition.external or ()):
            if external.from_ is not None and external.from_.kind == "topic" and not external.from_.key:
                needs = "needs `key`: what finds its run, such as {order: body.order}"
                self.problem("missing_key", f"external[{number}].from", f"event '{external.name}' {needs}")
        known = net.fired.union(net.outside_names(), RESERVED)
        hints = Hints()
        for number, notice in enumerate(notices):
            for name in (name for name in notice.events or () if name not in known):
                near = hints.nearest(name, known)
                hint = f"; did you mean '{near}'?" if near else ""
                message = f"`notify` names the event '{name}', which nothing in the workflow fires{hint}"
                self.problem("unknown_event", f"notify[{number}].events", message)

    def expression(self, path: str, source: str | None, names: tuple[str, ...]) -> Expression | None:
        if source is None:
            return None
        try:
            return compile_expression(source, names)
        except ExpressionError as error:
            self.problem("bad_expression", path, f"`{path}`: {error}")
            return None

    def problem(self, code: str, path: str, message: str) -> None:
        self.problems.append(self.problem_at(path, code, message))

    def problem_at(self, path: str, code: str, message: str) -> Problem:
        return Problem(code, path, message, *position_of(path, self.places))


def position_of(path: str, places: Places) -> tuple[int | None, int | None]:
    """The line and column of a path, or of the nearest thing around it."""
    while path:
        if path in places:
            return places[path]
        path = path.rpartition(".")[0]
    return None, None


def slots_of(step: Step) -> tuple[Slot, ...]:
    """R6: a step without `after`, or with an empty one, waits for START."""
    return step.after or (Slot((START,)),)


def said_ports(name: str, step: Step, events: set[str]) -> tuple[str, ...]:
    """The ports that a definition speaks of, where its parameters hide which there are."""
    told = (each.partition(".") for each in sorted(events))
    meant = [port for of, _, port in told if of == name and port]
    disabled = (step.disabled,) if isinstance(step.disabled, str) else ()
    return tuple(dict.fromkeys((*(step.emits or {}), *meant, *disabled, "done", "failed")))


# -- boxes of tasks that a worker runs -------------------------------------------------------------------------


class TemplateBox(Struct, frozen=True):
    """A box whose parameters are one template."""

    params: Template

    @property
    def readers(self) -> Mapping[str, Expression | Template]:
        return {"": self.params}

    def filled(self, view: View) -> Any:
        """The parameters of a firing that begins."""
        return self.params(view.scope(self.params))


class TaskBox(TemplateBox, frozen=True):
    """Hands its parameters to a worker."""

    constant: Queue | None

    @classmethod
    def of(cls, params: Mapping[str, Any], names: Collection[str]) -> TaskBox:
        template = compile_template(dict(params), names)
        return cls(template, Queue(dict(params)) if template.constant else None)

    @property
    def ports(self) -> tuple[str | None, ...]:
        return ("done", "failed")

    def enter(self, view: View) -> Reaction:
        return self.constant or Queue(self.filled(view))


class BrokenBox(Struct, frozen=True):
    """The box of a task whose settings are wrong: it fails when the step fires."""

    message: str

    ports: ClassVar[tuple[str | None, ...]] = ("done", "failed")
    readers: ClassVar[Mapping[str, Expression | Template]] = {}

    def enter(self, view: View) -> Reaction:
        raise BoxError(self.message)


# -- defaults: what holds where a step says nothing ------------------------------------------------------------


def pick(own: T | None, default: T | None, otherwise: T) -> T:
    """The step's own word, else that of the workflow, else the standard."""
    if own is not None:
        return own
    return otherwise if default is None else default


def written(own: Struct | None, default: Struct | None) -> dict[str, Any]:
    """The fields that a step or the workflow's `defaults` gives; the step's own value counts."""
    found = {}
    for each in (default, own):
        pairs = asdict(each).items() if each is not None else ()
        found.update({name: value for name, value in pairs if value is not None})
    return found


# -- topics: the messages of `notify` ------------------------------------------------------------------------

NOTICE_SCOPE = ("run", "data", "tags", "event", "status", "result", "error")
"""What `data` of `notify` may read: `event` is null where a run ended."""

WEBHOOKS = "(webhooks)"
"""What stands for the bus of a webhook where messages wait; no bus of the settings can be called so."""


def place_of(notice: Notice) -> tuple[str, str]:
    """The bus and the topic that a message waits for; that of a webhook is its address and the name of its secret."""
    if notice.url is not None:
        return WEBHOOKS, f"{notice.url}#{notice.secret}"
    return notice.bus or "", notice.topic or ""


def webhook_of(topic: str) -> tuple[str, str]:
    """The address, and the name of the secret, of such a topic."""
    url, _, secret = topic.rpartition("#")
    return url, secret
