"""Definitions of other engines as their documents tell them, and what plays the result in memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from penstock import Engine
from penstock.engine.authoring.loader import load
from penstock.flow.checks.checks import check_flow
from penstock.flow.checks.findings import Report
from penstock.flow.compile.compile import BOXES
from penstock.importing.imported import Imported
from penstock.steps.kinds import OFFERS
from penstock.workers.task import make_task, missing_tasks

PORTS = {
    "data": ("output",),
    "search": ("output",),
    "tag": ("input", "output"),
    "function": ("input", "output"),
    "decision": ("input", "output", "output2"),
    "update": ("input",),
    "stopper": ("input",),
}
FIELDS: dict[str, dict[str, Any]] = {
    "data": {"subType": "basic", "key": "pictures", "value": "*.jpg"},
    "search": {"subType": "basic", "key": "pictures", "cronRule": "0 3 * * *"},
    "tag": {"subType": "basic", "key": "colour", "value": "red"},
    "function": {"subType": "fission", "func": "file-type", "param": "", "asynchronous": False},
    "decision": {"subType": "basic", "key": "mime", "operator": "==", "value": "image/jpeg"},
    "update": {},
    "stopper": {},
}


class Diagram:
    """A diagram of Zenko, with all that its editor writes. A link is `a>b`, or `a!>b` from the port False."""

    def __init__(self, links: str, **nodes: Any) -> None:
        self.nodes: list[dict[str, Any]] = []
        for number, (name, said) in enumerate(nodes.items()):
            kind, fields = (said, {}) if isinstance(said, str) else said
            self.nodes.append(_node(name, kind, number, fields))
        self.links = [_link(number, each) for number, each in enumerate(links.split())]
        for link in self.links:
            for end in ("source", "target"):
                port = next(
                    each for each in self.node(link[end])["ports"] if each["id"] == link[f"{end}Port"]
                )
                port["links"].append(link["id"])

    def node(self, name: str) -> dict[str, Any]:
        return next(node for node in self.nodes if node["id"] == name)

    def text(self) -> str:
        head = {"offsetX": 0, "offsetY": 0, "nameCounter": len(self.nodes), "zoom": 100}
        return json.dumps({**head, "links": self.links, "nodes": self.nodes}, indent=1)


def _node(name: str, kind: str, number: int, fields: dict[str, Any]) -> dict[str, Any]:
    ports = [
        {
            "id": f"{name}.{port}",
            "_class": "DefaultPortModel",
            "selected": False,
            "name": port,
            "parentNode": name,
            "links": [],
            "in": port == "input",
            "label": port,
        }
        for port in PORTS[kind]
    ]
    return {
        "id": name,
        "_class": f"{kind.capitalize()}NodeModel",
        "selected": False,
        "type": kind,
        "x": 100 * number,
        "y": 40,
        "extras": {},
        "ports": ports,
        "name": name,
        "color": "rgb(0, 0, 0)",
        **FIELDS[kind],
        **fields,
    }


def _link(number: int, words: str) -> dict[str, Any]:
    start, end = words.split(">")
    port = "output2" if start.endswith("!") else "output"
    start = start.rstrip("!")
    return {
        "id": f"link{number}",
        "_class": "LinkModel",
        "selected": False,
        "type": "default",
        "source": start,
        "sourcePort": f"{start}.{port}",
        "target": end,
        "targetPort": f"{end}.input",
        "points": [],
        "extras": {},
    }


VPW = """
domain  = 'Viblio'
version = '1.0.7'

VPW = {
    'Transcode' : {
        'name'            : 'Transcode',
        'domain'          : domain,
        'version'         : version,
        'task_list'       : 'TranscodeTask',
        'prerequisites'   : [],
        'failure_retries' : 1,
        'timeout_retries' : [1, 2, 4],
        'default_task_schedule_to_close_timeout' : str( 15*60*60 ),
        'default_task_schedule_to_start_timeout' : str( 15*60*60),
        'default_task_start_to_close_timeout' : str( 10*60*60 ),
        'default_task_heartbeat_timeout' : str( 300 ),
        'lock_retries'    : 2,
        'lock_heartbeat_secs' : 90,
        'lock_wait_secs'  : 330,
        },
    'ActivityDetect' : {
        'name'            : 'ActivityDetect',
        'task_list'       : 'ActivityDetectTask',
        'prerequisites'   : [ 'Transcode' ],
        'failure_retries' : 1,
        'timeout_retries' : [1, 2, 4],
        'default_task_schedule_to_close_timeout' : str( 15*60*60 ),
        'default_task_start_to_close_timeout' : str( 10*60*60 ),
        'default_task_heartbeat_timeout' : str( 300 ),
        },
    'FaceDetect' : {
        'name'            : 'FaceDetect',
        'domain'          : domain,
        'version'         : version,
        'task_list'       : 'FaceDetectTask',
        'prerequisites'   : [ 'Transcode' ],
        'failure_retries' : 2,
        'timeout_retries' : [1, 2, 4],
        'default_task_schedule_to_close_timeout' : str( 15*60*60 ),
        'default_task_schedule_to_start_timeout' : str( 15*60*60),
        'default_task_start_to_close_timeout' : str( 10*60*60 ),
        'default_task_heartbeat_timeout' : 'NONE',
        },
    'FaceRecognize' : {
        'name'            : 'FaceRecognize',
        'task_list'       : 'FaceRecognizeTask',
        'prerequisites'   : [ 'FaceDetect' ],
        'failure_retries' : 1,
        'timeout_retries' : [1, 2, 4],
        'default_task_schedule_to_close_timeout' : str( 36*60*60 ),
        'default_task_start_to_close_timeout' : str( 36*60*60 ),
        'default_task_heartbeat_timeout' : str( 300 ),
        },
    'NotifyComplete' : {
        'name'            : 'NotifyComplete',
        'task_list'       : 'NotifyCompleteTask',
        'prerequisites'   : [ 'FaceRecognize', 'ActivityDetect' ],
        'failure_retries' : 2,
        'timeout_retries' : [1, 2, 4],
        'default_task_schedule_to_close_timeout' : str( 15*60 ),
        'default_task_start_to_close_timeout' : str( 5*60 ),
        'default_task_heartbeat_timeout' : 'NONE',
        },
}
"""
PINBALL = """
from datetime import datetime, timedelta

FINAL_JOB = CommandJobTemplate('final', 'echo success')

WORKFLOWS = {
    'nightly': WorkflowConfig(
        jobs={
            'fetch': JobConfig(JobTemplate('FetchLogs', max_attempts=3, retry_delay_sec=5), []),
            'count': JobConfig(CommandJobTemplate('count', 'wc -l %(path)s', abort_timeout_sec=600), ['fetch']),
            'rank': JobConfig(JobTemplate('RankPins', priority=7, warn_timeout_sec=60), ['fetch']),
        },
        final_job_config=JobConfig(FINAL_JOB),
        schedule=ScheduleConfig(recurrence=timedelta(days=1),
                                reference_timestamp=datetime(year=2015, month=2, day=1, hour=4, second=1),
                                overrun_policy=OverrunPolicy.DELAY_UNTIL_SUCCESS),
        notify_emails='a@example.org, b@example.org'),
    'hourly': WorkflowConfig(
        jobs={'only': JobConfig(CommandJobTemplate('only', 'true'), ['nightly.rank'])},
        final_job_config=JobConfig(FINAL_JOB),
        schedule=ScheduleConfig(recurrence=timedelta(hours=2))),
}
"""


def checked(made: Imported) -> Report:
    """What the checks say of it, as it is written."""
    loaded = load(made.yaml())
    return check_flow(loaded.flow, {**OFFERS, **loaded.offers}, clock=lambda: 0.0)


def errors(made: Imported) -> list[str]:
    return [each.code for each in checked(made).findings if each.severity == "error"]


def played(
    made: Imported, input: Any = None, tags: dict[str, Any] | None = None, events: Sequence[str] = ()
) -> dict[str, Any]:
    """A run of it in memory, its tasks stubs that tell what they were given."""
    flow = load(made.yaml()).flow
    names = {*missing_tasks(flow, {}), "http", "shell", "update", "mail"}

    def stub(name: str) -> Any:
        def do(ctx: Any, **given: Any) -> Any:
            return {"task": name, "given": given, "input": sorted(ctx.input)}

        return do

    # A stub in place of a built-in task is one of another list than that of Penstock itself.
    lists = {step.task: step.task_list for step in flow.steps.values() if step.task_list != BOXES}
    tasks = {name: make_task(stub(name), name, task_list=lists.get(name)) for name in names}
    with Engine.sync("memory:", tasks=tasks) as engine:
        engine.publish(made.yaml())
        run = engine.start(flow.name, input=input, tags=tags)
        for event in events:
            engine.emit(event, run=run)
        found: dict[str, Any] = engine.wait(run, 10, rest=True)
        return found
