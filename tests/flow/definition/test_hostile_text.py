"""Whatever the text, reading ends with a definition or with DefinitionError, never with anything else."""

from __future__ import annotations

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.flow.format.definition_parser import from_plain, read_definition
from penstock.flow.format.yaml_writer import write_json, write_yaml
from penstock.flow.model.problems import DefinitionError

VALID = """\
penstock: 1
name: n
source: {kind: object, store: s, events: [created]}
external: [e, {name: f, many: true, schema: {}, from: {kind: webhook, verify: sns, key: {k: body.k}}}]
params: {type: object}
defaults: {retries: 2, backoff: {jitter: 0.5}, timeouts: {heartbeat: 60s}, timeout_retries: [1, 2]}
timeout: 2d
steps:
  a: {task: t, after: [e | f, {need: 1, of: [x, y], rest: keep}], emits: {done: [g], then: OK}, fails: FAIL}
  b: &b {task: t, with: {k: "v\\n", l: [1, 2.5, null, true]}, cancels: [a], disabled: done}
  c:
    task: t
    title: |
      two
      lines
"""
VALID_JSON = write_json(read_definition(VALID))
PIECES = (
    *"{}[]:,-?|>&*!%@`'\"#\\\n\t \0\u2028\ud800é~<=",
    *(
        "\n  ",
        ": ",
        "- ",
        "<<: *b",
        "*b",
        "!!int ",
        "---\n",
        "...\n",
        "\\u0000",
        "1e999",
        ".nan",
        "9" * 30,
        "null",
    ),
    *(
        "steps",
        "after",
        "emits",
        "OK",
        "START",
        "a.done",
        "[" * 70,
        "{" * 70,
        "NaN",
        '"a": ',
        "\r",
        "\ufeff",
        "404: ",
    ),
)
bounded = settings(max_examples=300, deadline=None, derandomize=True)


def reads_or_refuses(text: str) -> None:
    """Read it; what reads must also round-trip, what does not must say where."""
    try:
        definition = read_definition(text)
    except DefinitionError as error:
        assert error.problems
        assert all(problem.message.endswith((".", "?")) for problem in error.problems)
        assert all(problem.line is not None or problem.code == "too_large" for problem in error.problems)
    else:
        assert read_definition(write_yaml(definition)) == definition


@bounded
@given(st.text(st.characters() | st.sampled_from(string.punctuation + "\n "), max_size=60))
def test_any_text(text: str) -> None:
    reads_or_refuses(text)


@bounded
@given(
    st.sampled_from([VALID, VALID_JSON]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(PIECES)), min_size=1, max_size=4),
)
def test_a_valid_definition_with_pieces_cut_out_and_put_in(
    text: str, edits: list[tuple[float, int, str]]
) -> None:
    for share, cut, piece in edits:
        at = int(share * len(text))
        text = text[:at] + piece + text[at + cut :]
    reads_or_refuses(text)


any_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["OK", "a | b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["need", "of", "kind", "task", "done", "name", "type", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
KEYS = ("title", "source", "external", "params", "result", "defaults", "timeout", "labels", "view", "x-a")
STEP_KEYS = (
    "after",
    "emits",
    "fails",
    "with",
    "each",
    "backoff",
    "timeouts",
    "cancels",
    "disabled",
    "retries",
)


@bounded
@given(
    st.dictionaries(st.sampled_from(KEYS), any_json, max_size=4),
    st.dictionaries(st.sampled_from(STEP_KEYS), any_json, max_size=4),
)
def test_any_json_in_any_key(keys: dict[str, object], step: dict[str, object]) -> None:
    try:
        definition = from_plain({"penstock": 1, "name": "n", **keys, "steps": {"s": {"task": "t", **step}}})
    except DefinitionError as error:
        assert error.problems
    else:
        assert read_definition(write_json(definition)) == definition
