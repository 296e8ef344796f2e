"""Tasks of untagged.yaml: those of auto_tag.yaml beside it."""

from __future__ import annotations

from auto_tag import file_type, update

__all__ = ["file_type", "update"]
