"""A function that tells of an object. Here it keeps what it told in a list; put your own chat or mail into `tell`.

functions-framework --source notify.py --target notify
"""

from __future__ import annotations

from typing import Any

TOLD: dict[str, str] = {}
"""What was told, by the key of the call: a call that comes again tells nobody twice."""


def tell(context: dict[str, Any]) -> dict[str, Any]:
    """What Penstock takes back: the output of the step."""
    data = context["data"]
    text = f"{data['bucket']}/{data['key']} is new"
    TOLD.setdefault(str(context["idempotency_key"]), text)
    return {"output": {"told": text, "calls": len(TOLD)}}


def notify(request: Any) -> dict[str, Any]:
    """As functions-framework calls it."""
    return tell(request.get_json())


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """As AWS Lambda calls it."""
    return tell(event)
