"""Log lines for machines or for people, each with the run, step and attempt or request that it is about."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

import msgspec

from penstock.runtime.node.log_context import ATTEMPT, REQUEST

Format = Literal["text", "json"]
FORMATS: tuple[Format, ...] = ("text", "json")

Redaction = Callable[[str], str]

redactions: list[Redaction] = []
"""Each is given every line before it is written, and gives back what may be written: secrets are taken out here."""

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_encode = msgspec.json.Encoder(enc_hook=str).encode


def about() -> dict[str, Any]:
    """What the code that runs now is about."""
    found: dict[str, Any] = {}
    attempt, request = ATTEMPT.get(), REQUEST.get()
    if attempt is not None:
        found = {
            "run": attempt.run.id,
            "workflow": attempt.run.workflow,
            "step": attempt.step,
            "attempt": attempt.attempt,
        }
        if attempt.index is not None:
            found["index"] = attempt.index
    if request is not None:
        found["request"] = request
    return found


@contextmanager
def redact_logs(redact: Redaction) -> Iterator[None]:
    """What is logged meanwhile goes without secrets."""
    redactions.append(redact)
    try:
        yield
    finally:
        redactions.remove(redact)


def redacted(text: str) -> str:
    """The text without what must not be written."""
    for redact in redactions:
        text = redact(text)
    return text


def one_line(text: str) -> str:
    """What strangers wrote must not look like another line, nor steer the terminal of who reads it."""
    if text.isprintable():
        return text
    return "".join(
        mark if mark.isprintable() or mark == "\t" else mark.encode("unicode_escape").decode()
        for mark in text
    )


class _Redacted(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redacted(self.line(record))

    def line(self, record: logging.LogRecord) -> str:
        return super().format(record)


class TextLines(_Redacted):
    """Time, level, words, and what they are about in brackets."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        # Before a secret of several lines looks otherwise.
        return one_line(redacted(super().formatMessage(record)))

    def line(self, record: logging.LogRecord) -> str:
        head, newline, rest = super().line(record).partition("\n")
        said = " ".join(f"{name}={value}" for name, value in {**about(), **_extra(record)}.items())
        said = one_line(redacted(said))
        return f"{head} [{said}]{newline}{rest}" if said else f"{head}{newline}{rest}"


class JsonLines(_Redacted):
    """One JSON object a line: time, level, logger, message, what it is about, error; then what the caller added."""

    def line(self, record: logging.LogRecord) -> str:
        said: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **about(),
        }
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        for name, value in _extra(record).items():
            said.setdefault(name, value)
        # Before it is encoded: a secret with a quote in it would not be found again.
        said = {name: redacted(value) if isinstance(value, str) else value for name, value in said.items()}
        try:
            return _encode(said).decode()
        except Exception:  # what a caller adds must not cost the line
            return _encode({name: str(value) for name, value in said.items()}).decode("utf-8", "replace")


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    """What the caller gave by `extra={…}`; what begins with `_` is some library's own."""
    return {
        name: value for name, value in vars(record).items() if name not in _OWN and not name.startswith("_")
    }


@contextmanager
def logging_to(level: str, format: Format = "text", stream: TextIO | None = None) -> Iterator[None]:
    """Write what is logged to a stream, as long as this lasts; standard error where none is given."""
    root, handler = logging.getLogger(), logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines() if format == "json" else TextLines())
    before = root.level
    root.addHandler(handler)
    root.setLevel(level.upper())
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
