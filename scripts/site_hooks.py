"""What the documentation does beside what mkdocs does: `404.html` finds its parts in its own folder."""

from __future__ import annotations

import re
from typing import Any


def on_post_template(output: str, template_name: str, config: Any) -> str:
    """Without an address of the site mkdocs lets this page ask at the root, where a folder has nothing."""
    if template_name != "404.html":
        return output
    return re.sub(r'((?:href=|src=|"(?:base|search)": ?)")/', r"\1./", output)
