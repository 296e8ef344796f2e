"""The palette entries of the tasks that act on the world: titles, words and schemas good enough for a form."""

from __future__ import annotations

from typing import Any

from penstock.flow.compile.compile import BOXES
from penstock.flow.model.offer import Offer
from penstock.flow.model.shapes import ANY, TEXT, TEXT_OR_NULL, TEXTS_BY_NAME, closed
from penstock.steps.io_steps import NO_SECRETS, SECRETS
from penstock.steps.outputs import NO_DATA, decided
from penstock.steps.parameters import choice, flag, mapping, one_or_several, schema, span, text, texts

_SECRET = schema(
    ("secret",), secret=text("Secret", description="the name of a secret: `penstock secret set NAME`")
)
_VALUE = {"anyOf": [{"type": ["string", "number", "boolean"]}, _SECRET]}
_TEXTS = {"type": "array", "items": TEXT}
_STATUS = {"type": "integer", "minimum": 100, "maximum": 599}


def _values(title: str) -> dict[str, Any]:
    """A map whose values may be secrets."""
    return mapping(title, additionalProperties=_VALUE) | {SECRETS: "each"}


def _address(description: str) -> dict[str, Any]:
    return text("Address", format="uri", minLength=1, description=description)


HTTP = Offer(
    name="http",
    task_list=BOXES,
    title="HTTP function",
    doc="Call a function over HTTP: send it the run's context, take tags and data back.",
    parameters=schema(
        url=_address("where the function is, such as https://f.example/scale"),
        kind=choice(
            "Kind", "plain", "cloudevents", "knative", "fission", "lambda", "lambda-invoke", "azure", "google",
            description="how that kind of function is called",
        ),
        method={"enum": ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"], "title": "Method", "default": "POST"},
        headers=_values("Headers"),
        query=_values("Query"),
        params={"title": "Parameters", "description": "sent beside the context, as `params`", NO_SECRETS: True},
        body={
            "title": "Body", "description": "sent instead of the context; the answer is then the output alone",
            NO_SECRETS: True,
        },
        mode=choice(
            "Mode", "sync", "async",
            description="async: the function gets a callback URL, and the step waits for the call",
        ),
        poll=schema(
            url=text("Address", format="uri", description="the `Location` of the answer, where none is said"),
            every=span("Every", default="5s"),
            until=one_or_several("Until", default=["done"], description="states that end it well"),
            failed=one_or_several("Failed", default=["failed"], description="states that fail it"),
        ) | {
            "title": "Poll",
            "description": "instead of a callback: ask this address until its `state` is one of `until`",
        },
        timeout=span("Time-out", default="30s", description="of one call"),
        expect={
            "type": "array", "items": _STATUS, "title": "Expected status",
            "description": "status codes that are answers; 200 to 299 where none are said",
        },
        answer=choice("Answer", "json", "text", "nothing", description="what is read of the answer"),
        tags_mode=choice("Tags", "merge", "replace"),
        structured=flag("Structured", description="CloudEvents: all in one JSON"),
        function=text("Function", description="lambda-invoke: the name or ARN of the function"),
        region=text("Region", description="Lambda: the region, such as eu-central-1"),
        key={
            **_VALUE, "title": "Key", SECRETS: "value",
            "description": "azure: the function key; google: the ID token; use a secret",
        },
        credentials=schema(("id", "secret"), id=_VALUE, secret=_VALUE, token=_VALUE) | {
            "title": "Credentials", SECRETS: "each",
            "description": "Lambda: the access key; from the server's environment where none is said",
        },
        presign={"enum": ["read", "write"], "title": "Presign", "description": "send a URL of the run's object"},
    ) | {
        "if": {"properties": {"kind": {"const": "lambda-invoke"}}, "required": ["kind"]},
        "then": {"required": ["function"]},
        "else": {"required": ["url"]},
    },
)  # fmt: skip

UPDATE = Offer(
    name="update",
    task_list=BOXES,
    title="Update",
    doc="Write tags and metadata back to the object of the run.",
    parameters=schema(
        store=text("Store", description="the object store; that of the run's object where none is said"),
        key=text("Key", description="the object; the run's own where none is said"),
        version=text("Version", description="of the object; that of the run where none is said"),
        tags=mapping("Tags", description="in place of the run's tags; null takes one away"),
        metadata=mapping(
            "Metadata", description="what is null is taken away",
            additionalProperties={"type": ["string", "number", "boolean", "null"]},
        ),
        mode=choice("Mode", "merge", "replace"),
    ),
    output=closed({
        "bucket": TEXT, "key": TEXT, "version": TEXT_OR_NULL, "etag": TEXT,
        "tags": TEXTS_BY_NAME, "metadata": TEXTS_BY_NAME,
    }),
    sets=closed({}, {"version": TEXT_OR_NULL, "etag": TEXT}),
)  # fmt: skip

APPROVAL = Offer(
    name="approval",
    title="Approval",
    doc="Wait for a person to approve or reject.",
    ports=("approved", "rejected", "failed"),
    parameters=schema(
        text=text("Question", description="what is to be decided", format="textarea"),
        role=choice(
            "Role", "operator", "author", "admin", description="who may decide: this role, or one above it"
        ),
        fields=mapping("Fields", format="json-schema", description="what the person fills in before deciding"),
        due={**span("Due"), "format": "moment", "description": "after this time, or at this moment, the step fails"},
        remind={**span("Remind"), "format": "moment", "description": "after this time a reminder is sent"},
        to=one_or_several("Mail to", description="who is told by mail, and reminded"),
        separate=flag(
            "Four eyes", default=False,
            description="nobody who started the run, or decided in it before, may decide",
        ),
    ),
    outputs={port: decided(port) for port in ("approved", "rejected")},
    sets=NO_DATA,
)  # fmt: skip

WORKFLOW = Offer(
    name="workflow",
    title="Workflow",
    doc="Start another workflow and wait for it.",
    parameters=schema(
        ("name",),
        name=text("Workflow", format="workflow", minLength=1, description="the name of a published workflow"),
        subject=text("Subject"),
        input={"title": "Input"},
        wait=flag("Wait", default=True, description="wait for the end of the run"),
    ),
    output=closed({"run": TEXT}, {"result": ANY}),
    sets=NO_DATA,
)

SERVICE = Offer(
    name="service",
    task_list=BOXES,
    resumes=True,
    title="Service",
    doc="Drive a remote task service: ask it for an action, then wait until it says that it is done.",
    ports=("done", "failed", "canceled"),
    parameters=schema(
        ("url",),
        url=_address("where its tasks are, such as https://s.example/tasks"),
        service=text(
            "Service", description="the id of a registered task service: it is called where that is now, not at `url`"
        ),
        action=text("Action", default="start", description="what is asked for"),
        body=mapping("Body", description="sent with the action, such as task_id") | {NO_SECRETS: True},
        args=mapping("Arguments", description="sent with the action, but not with `get_status`") | {NO_SECRETS: True},
        headers=_values("Headers"),
        accept={
            "type": "array", "items": {"anyOf": [_STATUS, {"type": "string"}]}, "title": "Accepted",
            "description": "status codes, and states, with which the action is accepted; 200 to 299 if none are said",
        },
        until=one_or_several(
            "Until", default=["staged", "published", "done", "complete"],
            description="states that end it well; `*`: any answer",
        ),
        known=texts(
            "Known", description="after a lost attempt: states in which it is not asked again; any if none are said"
        ),
        ask_first=flag("Ask first", default=False, description="ask for its state before the first attempt too"),
        refusal=text("Refusal", description="what 400 to 499 and 503 to the action mean, such as rejected"),
        set=mapping("Set", description="set on the run's data when it is done"),
        failed=one_or_several("Failed", default=["failed", "rejected"], description="states that fail it"),
        canceled=one_or_several(
            "Canceled", default=["canceled"], description="states that end it on the port `canceled`"
        ),
        goes_on=texts(
            "Goes on", description="states in which it is still at work: any other is a miss; any if none are said"
        ),
        ask_again=texts(
            "Ask again",
            description="states that show that it has forgotten the action: told three times, it is asked again",
        ),
        poll={**span("Poll", default="5s"), "description": "how often its state is asked for, or never"},
        misses={
            "type": "integer", "minimum": 0, "default": 0, "title": "Misses",
            "description": "how often in a row its state may not be had, or be one that cannot be",
        },
        patient=flag(
            "Patient", default=False,
            description="no answer, and one that may pass such as 5xx, is no miss: it is waited for",
        ),
        request_timeout=span("Request time-out", default="30s"),
        key={"type": ["string", "integer"], "title": "Key", "description": "by which its own reports find the run"},
        turn={
            "type": ["string", "integer"], "title": "Turn",
            "description": "the key of other steps: it is called only when their calls are over",
        },
    ),
)  # fmt: skip

MAIL = Offer(
    name="mail",
    task_list=BOXES,
    title="Mail",
    doc="Send a mail through the mail server of the installation.",
    parameters=schema(
        ("to",),
        to=one_or_several("To", 1, description="one address or several"),
        subject=text("Subject"),
        text=text("Text", format="textarea"),
        cc=one_or_several("Copy to"),
        reply_to=text("Reply to"),
        from_=text("From", description="the sender, where it is not that of `smtp_url`"),
    ),
    output=closed({"to": _TEXTS, "refused": _TEXTS, "message_id": TEXT}),
    sets=NO_DATA,
)  # fmt: skip

SHELL = Offer(
    name="shell",
    title="Shell",
    doc="Run a command on a worker that was started with --shell DIR.",
    parameters=schema(
        ("command",),
        command=one_or_several("Command", 1, description="a program with its arguments, as a list or in one line"),
        cwd=text("Folder", description="where it runs, inside the worker's folder"),
        env=mapping("Environment", additionalProperties={"type": ["string", "number"]}),
    ),
    sets=NO_DATA,
)  # fmt: skip

IO_TASKS = (HTTP, UPDATE, APPROVAL, WORKFLOW, SERVICE, MAIL, SHELL)
