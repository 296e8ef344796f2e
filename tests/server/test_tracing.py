"""Traces of a server: told to a real receiver, to the console, or refused in a sentence."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from penstock.server.tracing import NoTracing, tracing_wanted
from tests.cli.command import penstock, process, write
from tests.cli.serving import GREETER, HELLO, LONGEST, Serving, serving
from tests.cli.test_front import base_of


class Collector(HTTPServer):
    """Takes OTLP over HTTP on loopback."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Taking)
        self.taken: list[tuple[str, ExportTraceServiceRequest]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Taking(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.taken.append((self.path, ExportTraceServiceRequest.FromString(body)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Tests are quiet."""


@contextmanager
def a_collector() -> Iterator[Collector]:
    with Collector() as collector:
        thread = threading.Thread(target=collector.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            collector.shutdown()
            thread.join()


@contextmanager
def one_run(folder: Path, **variables: str) -> Iterator[Serving]:
    """A server that has done one run."""
    (folder / "flows").mkdir()
    write(folder, "flows/hello.yaml", HELLO)
    write(folder, "flows/hello.py", GREETER)
    with serving(
        "up", "--workflows", "flows", cwd=folder, ready=True, longest=LONGEST, program=None, **variables
    ) as up:
        said = penstock("start", "hello", "--wait", "--server", base_of(up))
        assert said.code == 0, said.err
        yield up


def test_a_server_tells_runs_to_the_collector_that_the_standard_variable_names(tmp_path: Path) -> None:
    with a_collector() as collector:
        with one_run(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_SERVICE_NAME="shop") as up:
            code = up.stop().code

        [(path, request)] = collector.taken
    [resource] = request.resource_spans
    named = {each.key: each.value.string_value for each in resource.resource.attributes}
    spans = [span.name for scope in resource.scope_spans for span in scope.spans]
    assert (code, path, named["service.name"]) == (0, "/v1/traces", "shop")
    assert sorted(spans) == ["again", "again attempt 1", "greet", "greet attempt 1", "hello"]


def test_a_collector_that_is_away_costs_no_run(tmp_path: Path) -> None:
    with one_run(
        tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9", OTEL_EXPORTER_OTLP_TIMEOUT="1"
    ) as up:
        ended = up.stop()

    assert ended.code == 0


def test_the_console_gets_one_line_a_span(tmp_path: Path) -> None:
    with one_run(tmp_path, PENSTOCK_TRACING="console") as up:
        ended = up.stop()

    spans = [json.loads(line)["name"] for line in ended.err.splitlines() if line.startswith("{")]
    assert sorted(spans) == ["again", "again attempt 1", "greet", "greet attempt 1", "hello"]


def test_where_traces_go() -> None:
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}

    assert tracing_wanted(None, {}) == "off"
    assert tracing_wanted(None, endpoint) == "otlp"
    assert tracing_wanted("off", endpoint) == "off"
    assert tracing_wanted("console", endpoint) == "console"
    assert tracing_wanted(None, {**endpoint, "OTEL_SDK_DISABLED": "true"}) == "off"


def test_a_protocol_that_is_not_spoken_is_refused_where_traces_were_asked_for() -> None:
    grpc = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}

    assert tracing_wanted(None, grpc) == "off"
    with pytest.raises(NoTracing) as refused:
        tracing_wanted("otlp", grpc)
    assert str(refused.value) == (
        "the protocol 'grpc' is not spoken: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"
    )


def test_an_unknown_place_for_traces_is_told(tmp_path: Path) -> None:
    said = process("up", cwd=tmp_path, PENSTOCK_TRACING="jaeger")

    assert (said.code, said.err) == (
        2,
        "error: PENSTOCK_TRACING 'jaeger' must be one of off, console, otlp.\n",
    )
