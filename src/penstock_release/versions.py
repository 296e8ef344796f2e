"""Versions of releases: 0.0.0, then the next patch for each new one, the next minor or major when one is published.

Every version is greater than all before it, so that no two releases ever have the same.
"""

from __future__ import annotations

FIRST = "0.0.0"


def next_patch(latest: str | None) -> str:
    """The version of a new release; `latest` is the greatest that was ever given."""
    if latest is None:
        return FIRST
    major, minor, patch = _parts(latest)
    return f"{major}.{minor}.{patch + 1}"


def published(latest: str, is_major: bool) -> str:
    """The version that a release has once it is published."""
    major, minor, _ = _parts(latest)
    return f"{major + 1}.0.0" if is_major else f"{major}.{minor + 1}.0"


def _parts(version: str) -> tuple[int, int, int]:
    major, minor, patch = (int(part) for part in version.split("."))
    return major, minor, patch
