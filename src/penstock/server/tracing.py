"""Traces of a server: enabled by the setting `tracing`, or by the standard variables of OpenTelemetry."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.engine.services import EngineServices
from penstock.flow.errors import PenstockError
from penstock.server.values import TRACING

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

OFF, CONSOLE, OTLP = TRACING
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
SPOKEN = "http/protobuf"

log = logging.getLogger("penstock.tracing")


class NoTracing(PenstockError):
    """Traces were asked for, and cannot be told."""

    code = "no_tracing"


def tracing_wanted(said: str | None, variables: Mapping[str, str]) -> str:
    """Where traces go. Raises NoTracing, before anything is opened, where somebody asked and they cannot be told."""
    asked = any(variables.get(name) for name in ENDPOINTS)
    disabled = variables.get("OTEL_SDK_DISABLED", "").lower() == "true"
    kind = said or (OTLP if asked and not disabled else OFF)
    if kind == OFF:
        return OFF
    try:
        _raise_missing(kind, variables)
    except NoTracing as error:
        if said is not None:
            raise
        # The variable may be there for everything on this machine: it must not keep a server from starting.
        log.warning("no traces are exported: %s", error)
        return OFF
    return kind


def begin_tracing(running: EngineServices, kind: str, service: str | None = None) -> None:
    """Tell the runs that end here from now on; the last of them when the engine closes."""
    if kind == OFF:
        return
    from penstock.metrics.tracing import Tracing

    tracing = Tracing(running.node, _processor(kind), service or "penstock")
    running.at_end.append(tracing.close)


def _raise_missing(kind: str, variables: Mapping[str, str]) -> None:
    protocol = next((variables[name] for name in PROTOCOLS if variables.get(name)), SPOKEN)
    if kind == OTLP and protocol != SPOKEN:
        raise NoTracing(f"the protocol '{protocol}' is not spoken: set {PROTOCOLS[1]}={SPOKEN}")
    try:
        _processor(kind).shutdown()
    except ImportError:
        raise NoTracing("traces need an extra: install penstock[tracing]") from None


def _processor(kind: str) -> SpanProcessor:
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SimpleSpanProcessor

    if kind == CONSOLE:
        # On stderr: stdout is for answers. One line a span.
        return SimpleSpanProcessor(
            ConsoleSpanExporter(out=sys.stderr, formatter=lambda span: f"{span.to_json(indent=None)}\n")
        )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return BatchSpanProcessor(OTLPSpanExporter())
