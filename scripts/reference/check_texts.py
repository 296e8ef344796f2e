"""What findings say, for the web pages: the table of the checks as messages of theirs."""

from __future__ import annotations

import json
import re

from penstock.flow.checks.wording import TEXTS

QUOTED = re.compile(r"'(\{\w+\})'|`([^`]+)`")


def page_texts() -> str:
    """The file `web/src/messages/en/findings.json`: in print, names and code have the same marks."""
    texts = {f"finding.{key}": QUOTED.sub(_in_print, text) for key, text in TEXTS.items()}
    return json.dumps(texts, ensure_ascii=False, indent=2) + "\n"


def _in_print(quoted: re.Match[str]) -> str:
    return f"“{quoted[1] or quoted[2]}”"
