"""Node affinity without semver operators, over the labels of a cluster."""

from collections.abc import Mapping, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.errors import TooManyTermsError
from extender.match import selectors
from extender.match.gates import FeatureGates
from extender.model.core_v1 import NodeAffinity
from extender.native.plain_affinity import has_semver, plain_affinity
from tests.builders import JSON

GATES = FeatureGates()
KERNEL = "kernel"
LABELS = {KERNEL: {"5.15.0", "6.1.0", "6.8.0", "el9_4"}, "zone": {"a", "b"}}


def newer(version: str, operator: str = "SemverGt") -> JSON:
    return {"key": KERNEL, "operator": operator, "values": [version]}


def one_of(key: str, *values: str) -> JSON:
    return {"key": key, "operator": "In", "values": [*values]}


def required(*terms: Sequence[JSON]) -> JSON:
    listed = [{"matchExpressions": [*term]} for term in terms]
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": listed}}


def preferred(*terms: tuple[int, Sequence[JSON]]) -> JSON:
    listed = [
        {"weight": weight, "preference": {"matchExpressions": [*term]}} for weight, term in terms
    ]
    return {"preferredDuringSchedulingIgnoredDuringExecution": listed}


def an_affinity(data: JSON | None) -> NodeAffinity | None:
    return None if data is None else msgspec.convert(data, NodeAffinity)


NEVER = [{"key": KERNEL, "operator": "Exists"}, {"key": KERNEL, "operator": "DoesNotExist"}]


@pytest.mark.parametrize(
    ("own", "annotated", "expected"),
    [
        pytest.param(None, None, None, id="no affinity: none"),
        pytest.param(
            None,
            required([newer("5.20")]),
            required([one_of(KERNEL, "6.1.0", "6.8.0")]),
            id="a comparison becomes the list of versions that match",
        ),
        pytest.param(
            None,
            required([newer("6.1", "SemverEq")], [newer("6", "SemverLt")]),
            required([one_of(KERNEL, "6.1.0")], [one_of(KERNEL, "5.15.0")]),
            id="each operator, each term",
        ),
        pytest.param(
            required([one_of("zone", "a")], [one_of("zone", "b")]),
            required([newer("6.5")], [newer("6", "SemverLt")]),
            required(
                [one_of("zone", "a"), one_of(KERNEL, "6.8.0")],
                [one_of("zone", "a"), one_of(KERNEL, "5.15.0")],
                [one_of("zone", "b"), one_of(KERNEL, "6.8.0")],
                [one_of("zone", "b"), one_of(KERNEL, "5.15.0")],
            ),
            id="terms of both carriers are joined each with each",
        ),
        pytest.param(
            required([newer("6.5")]),
            required([newer("6.5")]),
            required([one_of(KERNEL, "6.8.0")]),
            id="the same requirement twice stands once",
        ),
        pytest.param(
            None,
            required([newer("9")], [newer("6.5")]),
            required([one_of(KERNEL, "6.8.0")]),
            id="a term that no node matches is left out",
        ),
        pytest.param(
            None,
            required([newer("9")]),
            required(NEVER),
            id="no term is left: one that the API server takes and no node matches",
        ),
        pytest.param(
            required([]),
            None,
            required(
                [
                    {"key": "kubernetes.io/hostname", "operator": "Exists"},
                    {"key": "kubernetes.io/hostname", "operator": "DoesNotExist"},
                ]
            ),
            id="an empty term matches no node, and names no key",
        ),
        pytest.param(
            None,
            required([newer("x")], [newer("6.5"), {"key": "zone", "operator": "In"}]),
            required(NEVER),
            id="a malformed requirement: its term never matches",
        ),
        pytest.param(
            preferred((10, [one_of("zone", "a")])),
            preferred((5, [newer("6.5")]), (7, [newer("9")]), (0, [newer("6.5")])),
            preferred((10, [one_of("zone", "a")]), (5, [one_of(KERNEL, "6.8.0")])),
            id="preferred terms add up; those that add nothing are left out",
        ),
        pytest.param(
            None,
            {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3}]},
            None,
            id="a preferred term without a preference adds nothing",
        ),
    ],
)
def test_plain_affinity(own: JSON | None, annotated: JSON | None, expected: JSON | None) -> None:
    found = plain_affinity(an_affinity(own), an_affinity(annotated), LABELS, GATES)

    assert found == an_affinity(expected)


def test_fields_stay() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
    term = {"matchExpressions": [newer("6.5")], "matchFields": fields}
    own = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    term = {"matchExpressions": [one_of(KERNEL, "6.8.0")], "matchFields": fields}
    expected = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}

    assert plain_affinity(an_affinity(own), None, LABELS, GATES) == an_affinity(expected)


def test_with_the_gate_off_a_comparison_never_matches() -> None:
    gates = FeatureGates(semver_operators=False)

    found = plain_affinity(None, an_affinity(required([newer("5")])), LABELS, gates)

    assert found == an_affinity(required(NEVER))


def test_too_many_terms_are_refused() -> None:
    own = required(*([one_of("zone", str(n))] for n in range(9)))
    annotated = required(*([one_of("rack", str(n))] for n in range(8)))

    with pytest.raises(TooManyTermsError, match=r"come to 72 .* the limit is 64"):
        plain_affinity(an_affinity(own), an_affinity(annotated), LABELS, GATES)


@pytest.mark.parametrize(
    ("affinity", "expected"),
    [
        (None, False),
        (required([one_of("zone", "a")]), False),
        (required([one_of("zone", "a")], [newer("1")]), True),
        (preferred((1, [newer("1")])), True),
        ({"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3}]}, False),
    ],
)
def test_has_semver(affinity: JSON | None, expected: bool) -> None:
    assert has_semver(an_affinity(affinity)) is expected


VERSIONS = st.sampled_from(["5.15.0", "6.1.0", "6.1.0-rc.1", "v6.8", "el9_4", "6.8.0", ""])
REQUIREMENTS = st.one_of(
    st.builds(newer, VERSIONS, st.sampled_from(["SemverGt", "SemverLt", "SemverEq"])),
    st.builds(one_of, st.sampled_from(["zone", KERNEL]), st.sampled_from(["a", "b", "6.1.0"])),
    st.sampled_from([{"key": KERNEL, "operator": "DoesNotExist"}, {"key": "", "operator": "In"}]),
)
TERMS = st.lists(st.lists(REQUIREMENTS, max_size=3), max_size=3)
WEIGHED = st.lists(st.tuples(st.integers(0, 100), st.lists(REQUIREMENTS, max_size=3)), max_size=3)
AFFINITIES = st.one_of(
    st.none(),
    st.builds(lambda terms: required(*terms), TERMS),
    st.builds(lambda terms: preferred(*terms), WEIGHED),
    st.builds(lambda a, b: {**required(*a), **preferred(*b)}, TERMS, WEIGHED),
)
NODES = st.lists(
    st.dictionaries(st.sampled_from(["zone", KERNEL]), st.one_of(VERSIONS, st.sampled_from("ab"))),
    max_size=5,
)


@given(own=AFFINITIES, annotated=AFFINITIES, nodes=NODES)
def test_it_selects_and_prefers_the_same_nodes(
    own: JSON | None, annotated: JSON | None, nodes: Sequence[Mapping[str, str]]
) -> None:
    labels: dict[str, set[str]] = {}
    for node in nodes:
        for key, value in node.items():
            labels.setdefault(key, set()).add(value)
    both = an_affinity(own), an_affinity(annotated)

    plain = plain_affinity(*both, labels, GATES)

    assert not has_semver(plain)
    before = selectors.compile_required(None, both, GATES, set())
    after = selectors.compile_required(None, [plain], GATES, set())
    liked = selectors.compile_preferred(both, GATES, set())
    likes = selectors.compile_preferred([plain], GATES, set())
    for node in nodes:
        matched = before is None or before.matches("n", node, set())
        assert (after is None or after.matches("n", node, set())) is matched
        score = liked.score("n", node, set()) if liked else 0
        assert (likes.score("n", node, set()) if likes else 0) == score
