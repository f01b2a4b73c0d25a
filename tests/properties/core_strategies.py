"""Pods, nodes and settings that meet each other: few keys and values, so that much matches."""

from typing import Any

from hypothesis import strategies as st

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from tests.builders import JSON, a_pod, node_json

KEYS = st.sampled_from(["", "a", "sla", "kernel", "node.kubernetes.io/unschedulable"])
TAINT_KEYS = st.sampled_from(["a", "sla", "kernel", "node.kubernetes.io/unschedulable"])
VALUES = st.sampled_from(
    ["", "x", "0", "5", "900", "950", "0950", "-5", "1.2", "v1.2.3", "1.2.3-rc.1", "6.1_2", "é"]
)
HARD = ["NoSchedule", "NoExecute"]
EFFECTS = st.sampled_from(["", *HARD, "PreferNoSchedule", "Unknown"])
OPERATORS = st.sampled_from(
    ["", "Equal", "Exists", "Gt", "Lt", "SemverGt", "SemverLt", "SemverEq", "Bogus"]
)
NAMES = ["n0", "n1", "n2", "n3", "n4", "n5"]

JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


def tolerations(effects: st.SearchStrategy[str] = EFFECTS) -> st.SearchStrategy[JSON]:
    plain = st.fixed_dictionaries(
        {"key": KEYS, "operator": OPERATORS, "value": VALUES, "effect": effects}
    )
    expression = st.fixed_dictionaries({"expression": st.sampled_from(["", "true", "taint.key"])})
    return st.one_of(plain, plain, plain, expression)


def taints(effects: st.SearchStrategy[str] = EFFECTS) -> st.SearchStrategy[JSON]:
    return st.fixed_dictionaries({"key": TAINT_KEYS, "value": VALUES, "effect": effects})


@st.composite
def nodes(draw: st.DrawFn, effects: st.SearchStrategy[str] = EFFECTS) -> list[JSON]:
    """A cluster of up to six nodes, many of them alike."""
    kinds = draw(
        st.lists(
            st.tuples(
                st.lists(taints(effects), max_size=3),
                st.dictionaries(st.sampled_from(["a", "sla", "kernel"]), VALUES, max_size=3),
                st.booleans(),
            ),
            min_size=1,
            max_size=4,
        )
    )
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=len(NAMES)))
    return [
        node_json(name, *its_taints, labels=labels, unschedulable=cordoned)
        for name, (its_taints, labels, cordoned) in zip(NAMES, chosen, strict=False)
    ]


REQUIREMENTS = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["a", "sla", "kernel", "-bad-"]),
        "operator": st.sampled_from(
            ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "SemverGt", "SemverEq", "Bogus"]
        ),
        "values": st.none() | st.lists(VALUES, max_size=2),
    }
)
FIELDS = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["metadata.name", "spec.other"]),
        "operator": st.sampled_from(["In", "NotIn", "Exists"]),
        "values": st.lists(st.sampled_from(NAMES[:3]), max_size=2),
    }
)
TERMS = st.fixed_dictionaries(
    {},
    optional={
        "matchExpressions": st.none() | st.lists(REQUIREMENTS, max_size=2),
        "matchFields": st.none() | st.lists(FIELDS, max_size=1),
    },
)
AFFINITIES = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "requiredDuringSchedulingIgnoredDuringExecution": st.fixed_dictionaries(
            {"nodeSelectorTerms": st.none() | st.lists(TERMS, max_size=3)}
        ),
        "preferredDuringSchedulingIgnoredDuringExecution": st.lists(
            st.fixed_dictionaries({"weight": st.integers(-5, 100), "preference": TERMS}),
            max_size=3,
        ),
    },
)


def pod_parts() -> st.SearchStrategy[JSON]:
    """The arguments of a pod builder, so that a test can change one of them."""
    return st.fixed_dictionaries(
        {
            "tolerations": st.lists(tolerations(), max_size=4),
            "annotated_tolerations": st.none()
            | st.lists(tolerations(), max_size=3)
            | st.sampled_from(["", "[", "- {keey: 1}"]),
            "affinity": AFFINITIES,
            "annotated_affinity": AFFINITIES | st.just("nonsense"),
            "node_selector": st.none()
            | st.dictionaries(st.sampled_from(["a", "sla"]), VALUES, max_size=1),
        }
    )


def pod_of(parts: JSON) -> Any:
    rest = {name: part for name, part in parts.items() if name != "tolerations"}
    return a_pod(*parts["tolerations"], **rest)


SETTINGS = st.builds(
    Settings,
    gates=st.builds(
        FeatureGates,
        comparison_operators=st.booleans(),
        semver_operators=st.booleans(),
        cel=st.booleans(),
    ),
    reasons=st.sampled_from(["detailed", "redacted"]),
    no_execute=st.sampled_from(["narrow", "join"]),
)
