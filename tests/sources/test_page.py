"""The page about hooks shows workflows that can be published."""

from __future__ import annotations

import re
from pathlib import Path

from penstock.engine.authoring.loader import load
from penstock.sources.hooks.verification import Sns, Standard, rule_of

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "hooks.md"


def test_every_workflow_of_the_page_can_be_read() -> None:
    orders, transcode = [
        load(text, {}).definition for text in re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.S)
    ]

    assert orders.source is not None
    assert rule_of(orders.source.options["verify"]) == Standard(secret="SHOP")
    [event] = transcode.external or ()
    assert event.from_ is not None
    assert rule_of(event.from_.verify) == Sns(topics=("arn:aws:sns:eu-west-1:123456789012:transcoded",))
