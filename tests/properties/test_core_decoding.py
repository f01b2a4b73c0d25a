import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extender import plugins
from extender.errors import AnnotationError, BadRequestError, DocumentError
from extender.framework.columns.node_table import NodeTable
from extender.framework.interface import Profile, Settings, shortened
from extender.framework.runner import Runner
from extender.framework.snapshot import Interner, Snapshot
from extender.match import annotations
from extender.match.lru import CacheBudget
from extender.model import documents
from extender.wire import answers, requests
from extender.wire import extender_v1 as wire
from extender.wire.known_nodes import KnownNodes
from tests import builders
from tests.builders import PREFIX, a_node, a_pod
from tests.properties.core_strategies import AFFINITIES, JSON_VALUES, tolerations

EXAMPLES = settings(max_examples=100)
LIMIT = 2_000

YAML_TEXTS = st.text("[]{}:-,?&*!|>'\"%@# \n\tab10~<\\.\x85\ufeff", max_size=60)
ANY_TEXTS = st.text(max_size=40) | st.text(
    st.characters(codec=None, categories=["L", "N", "C", "Z", "P"]), max_size=20
)


@EXAMPLES
@given(text=YAML_TEXTS | ANY_TEXTS)
def test_any_text_is_a_document_or_a_document_error(text: str) -> None:
    with contextlib.suppress(DocumentError):
        json.dumps(documents.parse_all(text, LIMIT, max_values=50))  # plain data, nothing else


@EXAMPLES
@given(data=JSON_VALUES)
def test_json_reads_back_as_what_was_written(data: Any) -> None:
    for text in (json.dumps(data), json.dumps(data, indent=2, ensure_ascii=False)):
        assert documents.parse_one(text, 1_000_000) == data


@EXAMPLES
@given(data=JSON_VALUES)
def test_without_nulls_leaves_no_null_field(data: Any) -> None:
    def clean(value: Any) -> bool:
        if isinstance(value, dict):
            return all(part is not None and clean(part) for part in value.values())
        return not isinstance(value, list) or all(map(clean, value))

    stripped = documents.without_nulls(data)
    assert clean(stripped)
    assert documents.without_nulls(stripped) == stripped


@EXAMPLES
@given(
    text=YAML_TEXTS
    | ANY_TEXTS
    | JSON_VALUES.map(json.dumps)
    | st.lists(tolerations()).map(json.dumps)
    | AFFINITIES.map(json.dumps)
)
def test_any_annotation_is_rules_or_an_annotation_error(text: str) -> None:
    names = {PREFIX + "tolerations": text, PREFIX + "node-affinity": text}
    for read in (annotations.tolerations, annotations.node_affinity):
        with contextlib.suppress(AnnotationError):
            read(names, PREFIX, LIMIT)

    profile = plugins.profile("test", plugins.DEFAULT_WEIGHTS, Settings())
    pod = a_pod(annotations=names)
    result = builders.filtered(profile, pod, [a_node()])
    assert result.stats.faults == []
    assert all(len(reason.encode()) < 500 for reason in result.statuses()[0].reasons)
    scores = builders.scored(profile, pod, [a_node()])
    assert (scores.scores(), scores.stats.faults) == ([0], [])


@EXAMPLES
@given(text=st.text(min_size=1, max_size=12), times=st.integers(1, 200))
def test_a_cut_text_is_short_and_a_beginning_of_the_whole(text: str, times: int) -> None:
    long = text * times
    short = shortened(long)

    assert len(short.encode()) < 500
    if short != long:
        assert short.endswith("...")
        assert long.startswith(short.removesuffix("..."))
        assert len(short.encode()) > 490


# --- bodies

PARTS: st.SearchStrategy[Any] = JSON_VALUES | st.sampled_from(
    [{}, [], {"items": None}, {"items": [{}]}, ["a"], None]
)
BODIES = st.dictionaries(
    st.sampled_from(
        [
            *("Pod", "pod", "Nodes", "nodes", "NodeNames", "nodenames", "X"),
            *("NodeNameToVictims", "NodeNameToMetaVictims", "nodenametometavictims"),
        ]
    ),
    PARTS
    | st.fixed_dictionaries({"a": PARTS})
    | st.fixed_dictionaries({"a": st.fixed_dictionaries({"Pods": st.lists(PARTS, max_size=2)})}),
    max_size=4,
)


@EXAMPLES
@given(
    body=st.binary(max_size=60)
    | JSON_VALUES.map(lambda data: json.dumps(data).encode())
    | BODIES.map(lambda data: json.dumps(data).encode())
)
def test_any_bytes_are_arguments_or_a_bad_request(body: bytes) -> None:
    with contextlib.suppress(BadRequestError):
        known = KnownNodes(CacheBudget())
        args = requests.read_filter_args(body, known)
        batch = requests.nodes_of(args, NodeTable(), known, Interner())
        runner, nobody = Runner(clock=lambda: 0.0), Profile("nobody", (), ())
        result = runner.filter(nobody, args.pod, Snapshot(), batch.table, batch.candidates)
        answer = json.loads(b"".join(answers.encode_filter(batch, result, args.mode, "always")))
        assert set(answer) > {"Nodes", "NodeNames", "Error"}
    with contextlib.suppress(BadRequestError):
        json.loads(wire.encode_preemption(wire.decode_preemption_args(body).victims))


GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.mark.parametrize("name", ["filter-names", "filter-nodes", "preempt-victims"])
@settings(max_examples=60)
@given(data=st.data())
def test_a_damaged_body_is_arguments_or_a_bad_request(name: str, data: st.DataObject) -> None:
    body = (GOLDEN / f"{name}.request.json").read_bytes()
    at = data.draw(st.integers(0, len(body)), label="at")
    drop = data.draw(st.integers(0, 3), label="drop")
    junk = data.draw(st.sampled_from([b"", b'"', b"{", b"]", b"\xff", b"null", b"\\", b"1"]))
    damaged = body[:at] + junk + body[at + drop :]
    decode = wire.decode_preemption_args if name.startswith("preempt") else wire.decode_filter_args

    with contextlib.suppress(BadRequestError):
        decode(damaged)


@EXAMPLES
@given(rules=st.lists(tolerations(), max_size=4))
def test_json_and_yaml_carry_the_same_rules(rules: list[Any]) -> None:
    """The YAML is a JSON text with a remark before it, which only YAML can have."""
    text = json.dumps(rules)

    def read(annotation: str) -> object:
        return annotations.tolerations({PREFIX + "tolerations": annotation}, PREFIX, 10_000)

    assert read("# rules\n" + text) == read(text)
