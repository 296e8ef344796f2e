"""Definitions that can be read but say something wrong: code, place and sentence of each problem."""

from __future__ import annotations

import pytest

from penstock.flow.format.definition_parser import read_definition
from penstock.flow.model.problems import UNREADABLE, DefinitionError, Problem

NAMES = "letters, digits, spaces and _ . - / ( ) are allowed."
FORMS = "write it like 500ms, 0.5s, 90s, 15m, 10h or 2d, or as a number of seconds."


def refused(text: str) -> list[Problem]:
    with pytest.raises(DefinitionError) as caught:
        read_definition(text)
    return list(caught.value.problems)


# Lines after `penstock: 1`, `name: n` and one step `s`, so they begin on line 4.
TOP = [
    ("titel: a", "unknown_key", "titel", 1, "Unknown key 'titel' in the workflow; did you mean `title`?"),
    ("Timeout: 1s", "unknown_key", "Timeout", 1,
     "Unknown key 'Timeout' in the workflow; did you mean `timeout`?"),
    ("retries: 1", "unknown_key", "retries", 1, "`retries` is a key of a step, not of the workflow."),
    ("heartbeat: 1s", "unknown_key", "heartbeat", 1,
     "`heartbeat` is a key of `timeouts`, not of the workflow."),
    ("zzz: 1", "unknown_key", "zzz", 1,
     "Unknown key 'zzz' in the workflow; known are: penstock, name, title, description, source, external, "
     "params, result, defaults, timeout, cleanup_timeout, on_failure, endless, max_running, retention, "
     "labels, notify, steps, view."),
    ("title: 5", "wrong_type", "title", 8, "`title` must be text; put it in quotes: '5'."),
    ("title: [a]", "wrong_type", "title", 8, "`title` must be text, not a list."),
    ("title:", "wrong_type", "title", 7, "`title` has no value; write text, or leave the key out."),
    ("timeout: 2 days", "bad_duration", "timeout", 10,
     f"`timeout`: the text '2 days' is no duration; {FORMS}"),
    ("timeout: 0", "bad_duration", "timeout", 10,
     "`timeout` must be longer than 0; leave the key out for no limit."),
    ("timeout: [1]", "wrong_type", "timeout", 10,
     "`timeout` must be a duration such as 90s or 15m, not a list."),
    ("retention: true", "bad_duration", "retention", 12, f"`retention`: true is no duration; {FORMS}"),
    ("timeout: true", "bad_duration", "timeout", 10, f"`timeout`: true is no duration; {FORMS}"),
    ("on_failure: stop", "wrong_value", "on_failure", 13,
     "`on_failure` must be `fail` or `continue`, not the text 'stop'."),
    ("endless: yes", "wrong_type", "endless", 10, "`endless` must be true or false, not the text 'yes'."),
    ("max_running: 0", "wrong_type", "max_running", 14,
     "`max_running` must be a whole number of 1 or more, not the number 0."),
    ("labels: {a: 1}", "wrong_type", "labels.a", 13, "`a` must be text; put it in quotes: '1'."),
    ("labels: a", "wrong_type", "labels", 9, "`labels` must be a map, not the text 'a'."),
    ("view: []", "wrong_type", "view", 7, "`view` must be a map, not a list."),
    ("result: ' '", "wrong_value", "result", 9, "`result` is empty; write something, or leave the key out."),
    ("params: []", "wrong_type", "params", 9, "`params` must be a JSON Schema, which is a map, not a list."),
    ("params: {required: 1}", "bad_schema", "params", 9,
     "`params` is no valid JSON Schema at `/required`: 1 is not of type \"array\"."),
    ("params: {$ref: 'http://127.0.0.1:9/a'}", "bad_schema", "params", 9,
     "`params` is no valid JSON Schema: 'http://127.0.0.1:9/a' is outside this file."),
    ("params: {$schema: 'http://127.0.0.1:9/a'}", "bad_schema", "params.$schema", 19,
     "`$schema` names no known draft of JSON Schema; leave it out for draft 2020-12."),
    ("defaults: {task: t}", "unknown_key", "defaults.task", 12,
     "`task` is a key of a step, not of `defaults`."),
    ("defaults: {retrys: 1}", "unknown_key", "defaults.retrys", 12,
     "Unknown key 'retrys' in `defaults`; did you mean `retries`?"),
    ("source: api", "wrong_type", "source", 9,
     "`source` must be a map such as {kind: api}, not the text 'api'."),
    ("source: [{kind: api}]", "wrong_type", "source", 9,
     "A workflow has exactly one source: write a map such as {kind: api}, not a list."),
    ("source: {}", "missing_key", "source", 1,
     "A source needs the key `kind`: one of api, object, search, schedule, webhook, topic."),
    ("source: {kind: cron}", "wrong_value", "source.kind", 16,
     "A source has no kind 'cron'; it is one of api, object, search, schedule, webhook, topic."),
    ("source: {kind: webhok}", "wrong_value", "source.kind", 16,
     "A source has no kind 'webhok'; did you mean `webhook`?"),
    ("source: {kind: object}", "missing_key", "source", 1,
     "A source of kind `object` needs the key `store`."),
    ("source: {kind: api, cron: x}", "unknown_key", "source.cron", 21,
     "`cron` is a key of a source of kind `search`, not of a source of kind `api`."),
    ("source: {kind: search, store: s}", "missing_key", "source", 1,
     "A source of kind `search` needs the key `cron`."),
    ("source: {kind: search, store: a b, cron: '@daily'}", "bad_name", "source.store", 31,
     "The name of a store has the character U+0020; only A-Z a-z 0-9 _ . - are allowed."),
    ("source: {kind: schedule}", "wrong_value", "source", 1,
     "A source of kind `schedule` needs either `cron` or `every`."),
    ("source: {kind: schedule, cron: '@daily', every: 1s}", "wrong_value", "source", 1,
     "A source of kind `schedule` needs either `cron` or `every`."),
    ("source: {kind: schedule, cron: '@daily', overrun: skp}", "wrong_value", "source.overrun", 51,
     "`overrun` must be `skip` or `start` or `abort` or `delay` or `delay_until_success`, "
     "not the text 'skp'; did you mean `skip`?"),
    ("source: {kind: schedule, cron: 0 0 30 2 *}", "wrong_value", "source.cron", 32,
     "`0 0 30 2 *` never comes: no such day in these months."),
    ("source: {kind: schedule, cron: 60 25 * * *}", "wrong_value", "source.cron", 32,
     "`60` is no minute (0 to 59)."),
    ("source: {kind: schedule, cron: 0 25 * * *}", "wrong_value", "source.cron", 32,
     "`25` is no hour (0 to 23)."),
    ("source: {kind: schedule, cron: 0 0 * * * *}", "wrong_value", "source.cron", 32,
     "A cron line has five fields (minute, hour, day, month, day of the week), this one has 6; "
     "for seconds write `every: 10s`."),
    ("source: {kind: schedule, cron: '@reboot'}", "wrong_value", "source.cron", 32,
     "`@reboot` is no cron line; of that kind there are @hourly, @daily, @midnight, @weekly, @monthly, @yearly, "
     "@annually."),
    ("source: {kind: schedule, every: 1h, tz: Mars/X}", "wrong_value", "source.tz", 41,
     "There is no time zone `Mars/X`; write one like Europe/Berlin or UTC."),
    ("source: {kind: schedule, every: 1h, tz: europe/berlin}", "wrong_value", "source.tz", 41,
     "There is no time zone `europe/berlin`; did you mean `Europe/Berlin`?"),
    ("source: {kind: schedule, every: 500ms}", "bad_duration", "source.every", 33,
     "`every` must be 1s or longer."),
    ("source: {kind: webhook}", "missing_key", "source", 1,
     "A source of kind `webhook` needs the key `verify`."),
    ("source: {kind: webhook, verify: snss}", "wrong_value", "source.verify", 33,
     "`verify` has no method 'snss'; did you mean `sns`?"),
    ("source: {kind: webhook, verify: github}", "missing_key", "source.verify", 33,
     "The method `github` needs a secret: write {method: github, secret: NAME}."),
    ("source: {kind: webhook, verify: 5}", "wrong_type", "source.verify", 33,
     "`verify` must be a map such as {method: github, secret: NAME}, or sns, not the number 5."),
    ("source: {kind: webhook, verify: {secret: A}}", "missing_key", "source.verify", 25,
     "`verify` needs the key `method`: one of standard, github, hmac, token, sns."),
    ("source: {kind: webhook, verify: {method: md5}}", "wrong_value", "source.verify.method", 42,
     "`verify` has no method 'md5'; it is one of standard, github, hmac, token, sns."),
    ("source: {kind: webhook, verify: {method: hmac}}", "missing_key", "source.verify", 25,
     "`verify` of method `hmac` needs the key `secret`."),
    ("source: {kind: webhook, verify: {method: github, secret: A, headr: X}}", "unknown_key",
     "source.verify.headr", 61,
     "Unknown key 'headr' in `verify` of method `github`; known are: method, secret, origins."),
    ("source: {kind: webhook, verify: {method: hmac, secret: A, encoding: b64}}", "wrong_value",
     "source.verify.encoding", 69, "`encoding` must be `hex` or `base64`, not the text 'b64'."),
    ("source: {kind: webhook, verify: {method: standard, secret: whsec_MfKQ9r8GKYqrTwjUPD8I}}",
     "wrong_value", "source.verify.secret", 60,
     "`secret` is the name of a secret, not the secret itself; keep that with `penstock secret set NAME`."),
    ("source: {kind: webhook, verify: {method: sns, topics: [jobs]}}", "wrong_value",
     "source.verify.topics[0]", 56,
     "`topics` lists topics of Amazon SNS, such as arn:aws:sns:eu-west-1:123456789012:jobs."),
    ("source: {kind: topic, bus: b}", "missing_key", "source", 1,
     "A source of kind `topic` needs the key `topic`."),
    ("source: {kind: object, store: s, events: [made]}", "wrong_value", "source.events[0]", 43,
     "`events[0]` must be `created` or `deleted`, not the text 'made'."),
    ("source: {kind: object, store: s, events: []}", "wrong_value", "source.events", 42,
     "`events` must list `created`, `deleted` or both, each once."),
    ("external: a", "wrong_type", "external", 11, "`external` must be a list of events, not the text 'a'."),
    ("external: [1]", "wrong_type", "external[0]", 12,
     "`external[0]` must be a name or a map, not the number 1."),
    ("external: [OK]", "reserved_name", "external[0]", 12,
     "`OK` is fired by Penstock itself and cannot name an external event."),
    ("external: [{many: true}]", "missing_key", "external[0]", 12, "An external event needs the key `name`."),
    ("external: [a, {name: a}]", "duplicate", "external[1]", 15,
     "The external event `a` is declared twice, first on line 4; keep one."),
    ("external: [{name: a, form: {}}]", "unknown_key", "external[0].form", 22,
     "Unknown key 'form' in an external event; did you mean `from`?"),
    ("external: [{name: a, from: {kind: topic, bus: b}}]", "missing_key", "external[0].from", 22,
     "`from` of kind `topic` needs the key `topic`."),
    ("external: [{name: a, from: {kind: webhook, bus: b}}]", "unknown_key", "external[0].from.bus", 44,
     "`bus` is a key of a source of kind `topic`, not of `from` of kind `webhook`."),
    ("external: [{name: a, schema: {type: txt}}]", "bad_schema", "external[0].schema", 30,
     "`schema` is no valid JSON Schema at `/type`: \"txt\" is not valid under any of the schemas listed "
     "in the 'anyOf' keyword."),
]  # fmt: skip


@pytest.mark.parametrize(("line", "code", "path", "column", "message"), TOP)
def test_a_wrong_key_of_the_workflow_is_told_at_its_place(
    line: str, code: str, path: str, column: int, message: str
) -> None:
    text = f"penstock: 1\nname: n\nsteps: {{s: {{task: t}}}}\n{line}\n"
    assert refused(text) == [Problem(code, path, message, 4, column)]
    assert code not in UNREADABLE


# The keys of step `s`, after its task; they begin at column 17 of line 4.
STEP = [
    ("retrys: 2", "unknown_key", ".retrys", 17, "Unknown key 'retrys' in a step; did you mean `retries`?"),
    ("timeout: 2s", "unknown_key", ".timeout", 17, "`timeout` is a key of the workflow, not of a step."),
    ("x-mine: 2", "unknown_key", ".x-mine", 17,
     "`x-mine` cannot stand in a step: keys that begin with `x-` belong to the top level."),
    ("retries: two", "wrong_type", ".retries", 26,
     "`retries` must be a whole number of 0 or more, not the text 'two'."),
    ("retries: 1.5", "wrong_type", ".retries", 26,
     "`retries` must be a whole number of 0 or more, not the number 1.5."),
    ("retries: true", "wrong_type", ".retries", 26,
     "`retries` must be a whole number of 0 or more, not true."),
    ("retries: -1", "wrong_type", ".retries", 26,
     "`retries` must be a whole number of 0 or more, not the number -1."),
    ("parallel: 0", "wrong_type", ".parallel", 27,
     "`parallel` must be a whole number of 1 or more, not the number 0."),
    ("priority: high", "wrong_type", ".priority", 27,
     "`priority` must be a whole number, not the text 'high'."),
    ("task_list: a/b", "bad_name", ".task_list", 28,
     "The name of a task list has the character `/`; only A-Z a-z 0-9 _ . - are allowed."),
    ("backoff: 5s", "wrong_type", ".backoff", 26, "`backoff` must be a map, not the text '5s'."),
    ("backoff: {jitter: 3}", "wrong_type", ".backoff.jitter", 35,
     "`jitter` must be a number from 0 to 1, not the number 3."),
    ("backoff: {factor: 0}", "wrong_type", ".backoff.factor", 35,
     "`factor` must be a number from 1 to 1000, not the number 0."),
    ("backoff: {factor: 1001}", "wrong_type", ".backoff.factor", 35,
     "`factor` must be a number from 1 to 1000, not the number 1001."),
    ("backoff: {start: 1s}", "unknown_key", ".backoff.start", 27,
     "Unknown key 'start' in `backoff`; known are: initial, factor, max, jitter."),
    ("timeout_retries: 3", "wrong_type", ".timeout_retries", 34,
     "`timeout_retries` must be a list of numbers such as [1, 2, 4], not the number 3."),
    ("timeout_retries: [1, 0]", "wrong_type", ".timeout_retries[1]", 38,
     "`timeout_retries[1]` must be a number greater than 0, not the number 0."),
    ("timeouts: {hartbeat: 1s}", "unknown_key", ".timeouts.hartbeat", 28,
     "Unknown key 'hartbeat' in `timeouts`; did you mean `heartbeat`?"),
    ("timeouts: {heartbeat: 0s}", "bad_duration", ".timeouts.heartbeat", 39,
     "`heartbeat` must be longer than 0; leave the key out for no limit."),
    ("with: [1]", "wrong_type", ".with", 23, "`with` must be a map, not a list."),
    ("with: ", "wrong_type", ".with", 23, "`with` has no value; write a map, or leave the key out."),
    ("each: []", "wrong_type", ".each", 23, "`each` must be an expression, not a list."),
    ("each_failure: skip", "wrong_value", ".each_failure", 31,
     "`each_failure` must be `fail` or `collect`, not the text 'skip'."),
    ("disabled: 1", "wrong_type", ".disabled", 27,
     "`disabled` must be true, false or the name of a port, not the number 1."),
    ("cancels: x", "unknown_step", ".cancels", 26,
     "`cancels` names the unknown step `x`; there is no step of that name."),
    ("cancels: [s, othr]", "unknown_step", ".cancels[1]", 30,
     "`cancels` names the unknown step `othr`; did you mean `other`?"),
    ("emits: [a, START]", "reserved_name", ".emits[1]", 28,
     "A step cannot list `START`; only OK, FAIL and CANCEL of the reserved events."),
    ("fails: TIMEOUT", "reserved_name", ".fails", 24,
     "A step cannot list `TIMEOUT`; only OK, FAIL and CANCEL of the reserved events."),
    ("emits: a | b", "bad_name", ".emits", 24, "`emits`: `|` is for `after` only; list the events: [a, b]."),
    ("emits: [[a]]", "wrong_type", ".emits[0]", 25,
     "`emits[0]` must be an event or a list of events, not a list."),
    ("emits: ", "wrong_type", ".emits", 24,
     "`emits` has no value; write an event or a list of events, or leave the key out."),
    ("emits: {OK: a}", "reserved_name", ".emits.OK", 25,
     "`OK` is fired by Penstock itself and cannot name a port."),
    ("emits: {failed: a}, fails: b", "duplicate", ".fails", 37,
     "`fails` is short for the port `failed` of `emits`; name the events in one of them only."),
    ("emits: s", "clash", ".emits", 24,
     "`s` is listed here, but step `s` (line 4) fires that event when it is done; "
     "leave it out or rename it."),
    ("fails: other.failed", "clash", ".fails", 24,
     "`other.failed` is listed here, but step `other` (line 5) fires that event by itself; "
     "leave it out or rename it."),
    ("emits: {then: a, else: [s.then]}", "clash", ".emits.else[0]", 41,
     "`s.then` is listed here, but step `s` (line 4) fires that event by itself; leave it out or rename it."),
    ("after: [a, [b]]", "wrong_type", ".after[1]", 28,
     "`after[1]` must be an event, `a | b`, or {need: n, of: [...]}, not a list."),
    ("after: 5", "wrong_type", ".after", 24, "`after` must be text; put it in quotes: '5'."),
    ("after: a | a", "duplicate", ".after", 24, "The event `a` is listed twice in one slot; list it once."),
    ("after: a |", "bad_name", ".after", 24, "The name of an event is empty."),
    ("after: {need: 3, of: [a, b]}", "wrong_value", ".after.need", 31,
     "`need: 3` can never be met: `of` lists only 2 events."),
    ("after: [{need: 0, of: [a]}]", "wrong_type", ".after[0].need", 32,
     "`need` must be a whole number of 1 or more, not the number 0."),
    ("after: [{need: 1, of: []}]", "wrong_value", ".after[0].of", 39,
     "`of` is empty; list the events to choose from."),
    ("after: [{need: 1, of: [a, a]}]", "duplicate", ".after[0].of", 39,
     "The event `a` is listed twice in one slot; list it once."),
    ("after: [{of: [a]}]", "missing_key", ".after[0]", 25, "A slot of `after` needs the key `need`."),
    ("after: [{need: 1, of: [a], rest: drop}]", "wrong_value", ".after[0].rest", 50,
     "`rest` must be `keep`, not the text 'drop'."),
    ("after: a+b", "bad_name", ".after", 24, f"The name of an event has the character `+`; {NAMES}"),
    ("after: '  '", "bad_name", ".after", 24, "The name of an event has only spaces."),
    ("after: ' a'", "bad_name", ".after", 24, "The name of an event begins or ends with a space."),
    ('after: "a\\u202eb"', "bad_name", ".after", 24,
     f"The name of an event has the character U+202E; {NAMES}"),
    (f"after: {'a' * 129}", "bad_name", ".after", 24,
     "The name of an event has 129 characters; 128 at most."),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "code", "path", "column", "message"), STEP)
def test_a_wrong_key_of_a_step_is_told_at_its_place(
    keys: str, code: str, path: str, column: int, message: str
) -> None:
    text = f"penstock: 1\nname: n\nsteps:\n  s: {{task: tt, {keys}}}\n  other: {{task: t}}\n"
    assert refused(text) == [Problem(code, f"steps.s{path}", message, 4, column)]
    assert code not in UNREADABLE


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ("a: {}", Problem("missing_key", "steps.a", "A step needs the key `task`.", 4, 3)),
        (
            "a: b",
            Problem(
                "wrong_type", "steps.a", "`a` must be a map such as {task: mail}, not the text 'b'.", 4, 6
            ),
        ),
        (
            "OK: {task: t}",
            Problem(
                *(
                    "reserved_name",
                    "steps.OK",
                    "`OK` is an event that Penstock itself fires and cannot name a step.",
                ),
                *(4, 3),
            ),
        ),
        (
            "a: {task: t}\n  a.done: {task: t}",
            Problem(
                "clash",
                "steps.a.done",
                "A step is named `a.done` here, but step `a` (line 4) fires that event by itself; "
                "rename one of the two.",
                *(5, 3),
            ),
        ),
        (
            "a: {task: t}\nexternal: [a]",
            Problem(
                "clash",
                "external[0]",
                "`a` is declared external here, but step `a` (line 4) fires that event when it is done; "
                "give the outside event another name.",
                *(5, 12),
            ),
        ),
        (
            "a: {task: t}\nexternal: [b, {name: a.failed}]",
            Problem(
                "clash",
                "external[1].name",
                "`a.failed` is declared external here, but step `a` (line 4) fires that event by itself; "
                "give the outside event another name.",
                *(5, 22),
            ),
        ),
        (
            "".join(f"s{n}: {{task: t}}\n  " for n in range(501)),
            Problem("too_many", "steps", "`steps` has 501 steps; 500 at most: split the workflow.", 3, 1),
        ),
        (
            "".join(f"s{n}: {{task: t, after: [{', '.join('abcde')}]}}\n  " for n in range(401)),
            Problem(
                *("too_many", "steps"),
                "The steps wait for 2005 events in all; 2000 at most: split the workflow.",
                *(3, 1),
            ),
        ),
        (
            f"a: {{task: t, emits: [{', '.join(f'e{n}' for n in range(2001))}]}}",
            Problem(
                *("too_many", "steps"),
                "The steps fire 2001 events in all; 2000 at most: split the workflow.",
                *(3, 1),
            ),
        ),
        (
            f"a: {{task: t}}\nexternal: [{', '.join(f'e{n}' for n in range(2001))}]",
            Problem(
                *("too_many", "external"),
                "There are 2001 external events; 2000 at most: split the workflow.",
                *(5, 1),
            ),
        ),
    ],
)
def test_a_wrong_step_is_told_at_its_name(steps: str, problem: Problem) -> None:
    assert refused(f"penstock: 1\nname: n\nsteps:\n  {steps}\n") == [problem]


FORMAT = "This Penstock reads format 1: write `penstock: 1`, not"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            "title: t\n",
            [
                Problem("missing_key", "", "The workflow needs the key `name`.", 1, 1),
                Problem("missing_key", "", "The workflow needs the key `steps`.", 1, 1),
                Problem("missing_key", "", "Say `penstock: 1` at the top: the format this file is in.", 1, 1),
            ],
        ),
        (
            "penstock: 2\nname: n\nsteps: {s: {task: t}}",
            [Problem("unknown_format", "penstock", f"{FORMAT} the number 2.", 1, 11)],
        ),
        (
            "penstock: true\nname: n\nsteps: {s: {task: t}}",
            [Problem("unknown_format", "penstock", f"{FORMAT} true.", 1, 11)],
        ),
        (
            "- a\n",
            [
                Problem(
                    *(
                        "wrong_type",
                        "",
                        "A definition is a map of keys such as `name` and `steps`, not a list.",
                    ),
                    *(1, 1),
                )
            ],
        ),
        (
            "penstock: 1\nname: n\nsteps: [a]\n",
            [Problem("wrong_type", "steps", "`steps` must be a map of steps, not a list.", 3, 8)],
        ),
        (
            "penstock: 1\nname: n\nsteps: {}\n",
            [Problem("wrong_value", "steps", "`steps` is empty; a workflow has at least one step.", 3, 1)],
        ),
    ],
)
def test_a_wrong_beginning_is_told(text: str, problems: list[Problem]) -> None:
    assert refused(text) == problems


def test_all_problems_are_told_at_once_in_the_order_of_their_lines() -> None:
    steps = "  s: {task: t, emits: [s], retrys: 1}\n  s2: {}\n"
    text = f"penstock: 1\nname: a b\nsteps:\n{steps}timeout: x\nname: b\n"
    assert [(problem.line, problem.code) for problem in refused(text)] == [
        (2, "bad_name"),
        (4, "clash"),
        (4, "unknown_key"),
        (5, "missing_key"),
        (6, "bad_duration"),
        (7, "duplicate_key"),
    ]


def test_json_problems_have_places_too() -> None:
    text = '{"penstock": 1, "name": "n",\n  "steps": {"s": {"task": "t",\n    "retries": "two"}}}'
    message = "`retries` must be a whole number of 0 or more, not the text 'two'."
    assert refused(text) == [Problem("wrong_type", "steps.s.retries", message, 3, 16)]
