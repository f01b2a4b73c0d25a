import json

import msgspec
import pytest

from extender.errors import AnnotationError
from extender.match import annotations
from extender.model.core_v1 import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
    Toleration,
)
from extender.model.storage_v1 import VolumeNodeAffinity
from tests.builders import PREFIX

LIMIT = 262_144
TOLERATIONS = PREFIX + "tolerations"
NODE_AFFINITY = PREFIX + "node-affinity"


def tolerations_of(text: str, limit: int = LIMIT) -> tuple[Toleration, ...]:
    """What the annotation carries, as the native tolerations that it must equal."""
    carried = annotations.tolerations({TOLERATIONS: text}, PREFIX, limit)
    return msgspec.convert(msgspec.to_builtins(carried), tuple[Toleration, ...])


def error_of(text: str, limit: int = LIMIT) -> str:
    with pytest.raises(AnnotationError) as caught:
        annotations.tolerations({TOLERATIONS: text}, PREFIX, limit)
    start = f"pod annotation {TOLERATIONS} is invalid: "
    assert str(caught.value).startswith(start)
    return str(caught.value).removeprefix(start)


def affinity_error_of(text: str) -> str:
    with pytest.raises(AnnotationError) as caught:
        annotations.node_affinity({NODE_AFFINITY: text}, PREFIX, LIMIT)
    start = f"pod annotation {NODE_AFFINITY} is invalid: "
    assert str(caught.value).startswith(start)
    return str(caught.value).removeprefix(start)


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(None, id="null"),
        pytest.param({}, id="none"),
        pytest.param({"tolerations": "[", "other/tolerations": "["}, id="of other prefixes"),
    ],
)
def test_without_the_annotation_nothing_is_carried(written: dict[str, str] | None) -> None:
    assert annotations.tolerations(written, PREFIX, LIMIT) == ()
    assert annotations.node_affinity(written, PREFIX, LIMIT) is None
    assert annotations.volume_affinity("data", written, PREFIX, LIMIT) is None


def test_the_prefix_is_a_parameter() -> None:
    written = {"a.b/tolerations": '[{"operator": "Exists"}]', "a.b/node-affinity": "{}"}

    assert len(annotations.tolerations(written, "a.b/", LIMIT)) == 1
    assert annotations.node_affinity(written, "a.b/", LIMIT) is not None
    assert annotations.tolerations(written, PREFIX, LIMIT) == ()
    with pytest.raises(AnnotationError, match=r"^pod annotation a\.b/tolerations is invalid: "):
        annotations.tolerations({"a.b/tolerations": "["}, "a.b/", LIMIT)


SLA = Toleration("sla", "Gt", "900", "NoSchedule")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("[]", (), id="an empty list"),
        pytest.param("[{}]", (Toleration(),), id="an empty toleration"),
        pytest.param(
            '[{"key":"sla","operator":"Gt","value":"900","effect":"NoSchedule"}]',
            (SLA,),
            id="JSON",
        ),
        pytest.param(
            "- key: sla\n  operator: Gt\n  value: '900'\n  effect: NoSchedule\n",
            (SLA,),
            id="YAML blocks",
        ),
        pytest.param(
            "[{key: sla, operator: Gt, value: '900', effect: NoSchedule}]", (SLA,), id="YAML flow"
        ),
        pytest.param(
            "- {key: kernel, operator: SemverGt, value: 6.1}",
            (Toleration("kernel", "SemverGt", "6.1"),),
            id="a YAML version needs no quotes",
        ),
        pytest.param(
            '[{"key":"a","operator":null,"value":null,"effect":null,"tolerationSeconds":null,'
            '"expression":null}]',
            (Toleration("a"),),
            id="a null is an absent field",
        ),
        pytest.param("- key: a\n  value:\n  effect: ~", (Toleration("a"),), id="in YAML too"),
        pytest.param(
            '[{"expression":"taint.key == \\"a\\"","tolerationSeconds":60}]',
            (Toleration(expression='taint.key == "a"', toleration_seconds=60),),
            id="an expression",
        ),
        pytest.param('[{"expression":""}]', (Toleration(),), id="an empty expression is absent"),
        pytest.param(
            '[{"operator":"Bogus","value":"not a number"}]',
            (Toleration(operator="Bogus", value="not a number"),),
            id="a bad value inside a well-formed toleration",
        ),
    ],
)
def test_tolerations(text: str, expected: tuple[Toleration, ...]) -> None:
    assert tolerations_of(text) == expected


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param("", "must be a list, but there is nothing", id="no text"),
        pytest.param("null", "must be a list, but there is nothing", id="null"),
        pytest.param(
            "{}", "must be a list, not a mapping: begin each entry with a dash", id="an object"
        ),
        pytest.param('"[]"', "must be a list, not text", id="a quoted list"),
        pytest.param("sla > 900", "must be a list, not text", id="a sentence"),
        pytest.param("[null]", "[0] must be a toleration, not null", id="a null in a list"),
        pytest.param("[[]]", "[0] must be a toleration, not a list", id="a list in a list"),
        pytest.param(
            '[{"key":"a"},{"keey":"b"}]',
            "[1].keey is not a field of a toleration: did you mean key?",
            id="an unknown field",
        ),
        pytest.param(
            '[{"Key":"a"}]',
            "[0].Key is not a field of a toleration: did you mean key?",
            id="letter case",
        ),
        pytest.param(
            '[{"key":"sla","operator":"Gt","value":900}]',
            '[0].value must be text: write "900"',
            id="a number that needs quotes",
        ),
        pytest.param(
            "- {key: sla, operator: Gt, value: 900}",
            '[0].value must be text: write "900"',
            id="a YAML number that needs quotes",
        ),
        pytest.param(
            "- {key: gpu, operator: Equal, value: true}",
            '[0].value must be text: write "true"',
            id="a YAML truth that needs quotes",
        ),
        pytest.param(
            '[{"tolerationSeconds":"60"}]',
            "[0].tolerationSeconds must be a number: write 60 without quotes",
            id="seconds as text",
        ),
        pytest.param(
            '[{"expression":["a"]}]',
            "[0].expression must be text, not a list",
            id="an expression as a list",
        ),
        pytest.param(
            '[{"key":"a"}', "line 2: did not find expected ',' or ']'", id="neither JSON nor YAML"
        ),
        pytest.param("[" * 25_000, "nested deeper than 32", id="25,000 brackets"),
        pytest.param("- " * 25_000, "nested deeper than 32", id="25,000 dashes"),
        pytest.param(
            "? " * 25_000, "line 1: a mapping key must be text, not dict", id="25,000 questions"
        ),
        pytest.param("- &a {}\n- *a", "line 1: anchors are not supported", id="an anchor"),
        pytest.param("- {key: a, key: b}", "line 1: key 'key' appears twice", id="a key twice"),
        pytest.param("--- []\n--- []", "more than one YAML document", id="two documents"),
        pytest.param(
            "- key: a\x01",
            "unacceptable character #x0001: control characters are not allowed",
            id="a control character",
        ),
        pytest.param(
            "- key: \ud800",
            "'utf-8' codec can't encode character '\\ud800' in position 7: surrogates not allowed",
            id="half a surrogate pair",
        ),
    ],
)
def test_tolerations_that_cannot_be_read_say_why(text: str, error: str) -> None:
    assert error_of(text) == error


def test_deep_json_cannot_be_read_either() -> None:
    """Too deep for any rule, not too deep for a JSON parser: still an ordinary refusal."""
    for depth in (40, 300, 700):
        assert error_of("[" * depth + "]" * depth) == "nested deeper than 32"
        assert error_of('[{"key":' * depth + "1" + "}]" * depth) == "nested deeper than 32"


def test_the_text_of_a_refusal_does_not_depend_on_the_stack() -> None:
    """kube-scheduler wakes a refused pod whenever the text changes: same state, same text."""

    def asked_under(frames: int, text: str) -> str:
        return asked_under(frames - 1, text) if frames else error_of(text)

    for depth in (100, 450, 700, 950):
        text = "[" * depth + "]" * depth
        # White space of its own makes each a text that is not remembered.
        told = {asked_under(frames, text + " " * frames) for frames in (0, 100, 300)}
        assert len(told) == 1, (depth, told)


def test_the_limit_is_in_bytes() -> None:
    text = '[{"key":"é"}]'

    assert tolerations_of(text, 14) == (Toleration("é"),)
    assert error_of(text, 13) == "14 bytes are more than the limit of 13"


def test_values_are_counted() -> None:
    assert error_of("- {key: a}\n" * 23_000).endswith("more than 20000 values")
    assert len(tolerations_of("- {key: a}\n" * 4_000)) == 4_000
    # JSON takes a fraction of that work, so only its bytes are counted.
    assert len(tolerations_of(json.dumps([{"key": "a"}] * 18_000))) == 18_000


TERM = NodeSelectorTerm((NodeSelectorRequirement("cni", "SemverGt", ("1.4",)),))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{}", NodeAffinity(), id="nothing"),
        pytest.param(
            '{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":'
            '[{"matchExpressions":[{"key":"cni","operator":"SemverGt","values":["1.4"]}]}]}}',
            NodeAffinity(required=NodeSelector((TERM,))),
            id="JSON",
        ),
        pytest.param(
            "requiredDuringSchedulingIgnoredDuringExecution:\n"
            "  nodeSelectorTerms:\n"
            "  - matchExpressions:\n"
            "    - {key: cni, operator: SemverGt, values: [1.4]}\n"
            "preferredDuringSchedulingIgnoredDuringExecution:\n"
            "- weight: 7\n"
            "  preference:\n"
            "    matchFields: [{key: metadata.name, operator: In, values: [n]}]\n",
            NodeAffinity(
                NodeSelector((TERM,)),
                (
                    PreferredSchedulingTerm(
                        7,
                        NodeSelectorTerm(
                            match_fields=(NodeSelectorRequirement("metadata.name", "In", ("n",)),)
                        ),
                    ),
                ),
            ),
            id="YAML",
        ),
        pytest.param(
            '{"requiredDuringSchedulingIgnoredDuringExecution":null,'
            '"preferredDuringSchedulingIgnoredDuringExecution":null}',
            NodeAffinity(),
            id="a null is an absent field",
        ),
    ],
)
def test_node_affinity(text: str, expected: NodeAffinity) -> None:
    carried = annotations.node_affinity({NODE_AFFINITY: text}, PREFIX, LIMIT)

    # The strict kinds differ from the native ones in what they refuse, not in what they hold.
    assert msgspec.to_builtins(carried) == msgspec.to_builtins(expected)


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param("", "must be a node affinity, but there is nothing", id="no text"),
        pytest.param("[]", "must be a node affinity, not a list", id="a list"),
        pytest.param(
            '{"nodeAffinity":{}}',
            f"nodeAffinity is not a field of a node affinity: it has {REQUIRED}, {PREFERRED}",
            id="one level too many",
        ),
        pytest.param(
            '{"required":{}}',
            f"required is not a field of a node affinity: it has {REQUIRED}, {PREFERRED}",
            id="a volume's shape",
        ),
        pytest.param(
            f'{{"{REQUIRED}":[]}}',
            f"{REQUIRED} must be a node selector, not a list",
            id="terms without a selector",
        ),
        pytest.param(
            f'{{"{REQUIRED}":{{"terms":[]}}}}',
            f"{REQUIRED}.terms is not a field of a node selector: it has nodeSelectorTerms",
            id="an unknown field of a selector",
        ),
        pytest.param(
            f'{{"{REQUIRED}":{{"nodeSelectorTerms":[{{"matchLabels":{{}}}}]}}}}',
            f"{REQUIRED}.nodeSelectorTerms[0].matchLabels is not a field of a term:"
            " it has matchExpressions, matchFields",
            id="an unknown field of a term",
        ),
        pytest.param(
            f'{{"{REQUIRED}":{{"nodeSelectorTerms":[{{"matchExpressions":[{{"value":"1"}}]}}]}}}}',
            f"{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].value is not a field of a"
            " requirement: did you mean values?",
            id="an unknown field of a requirement",
        ),
        pytest.param(
            f'{{"{REQUIRED}":{{"nodeSelectorTerms":[{{"matchFields":[{{"values":"1"}}]}}]}}}}',
            f"{REQUIRED}.nodeSelectorTerms[0].matchFields[0].values must be a list, not text",
            id="a value without a list",
        ),
        pytest.param(
            f'{{"{PREFERRED}":[{{"weight":1,"term":{{}}}}]}}',
            f"{PREFERRED}[0].term is not a field of a preferred term: it has weight, preference",
            id="an unknown field of a preference",
        ),
        pytest.param(
            f'{{"{PREFERRED}":[{{"weight":"1"}}]}}',
            f"{PREFERRED}[0].weight must be a number: write 1 without quotes",
            id="a weight as text",
        ),
    ],
)
def test_an_affinity_that_cannot_be_read_says_why(text: str, error: str) -> None:
    assert affinity_error_of(text) == error


def test_the_affinity_of_a_volume() -> None:
    text = (
        '{"required":{"nodeSelectorTerms":'
        '[{"matchExpressions":[{"key":"cni","operator":"SemverGt","values":["1.4"]}]}]}}'
    )
    carried = annotations.volume_affinity("data", {NODE_AFFINITY: text}, PREFIX, LIMIT)

    expected = VolumeNodeAffinity(required=NodeSelector((TERM,)))
    assert msgspec.to_builtins(carried) == msgspec.to_builtins(expected)


def test_the_affinity_of_a_volume_that_cannot_be_read_says_whose_it_is() -> None:
    written = {NODE_AFFINITY: f'{{"{REQUIRED}":{{}}}}'}
    with pytest.raises(AnnotationError) as caught:
        annotations.volume_affinity("data", written, PREFIX, LIMIT)

    assert str(caught.value) == (
        f'persistentvolume "data" annotation {NODE_AFFINITY} is invalid:'
        f" {REQUIRED} is not a field of the node affinity of a volume: it has required"
    )
