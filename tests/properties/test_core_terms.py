"""Terms that are found by looking up are those that asking each would have found."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.match import selectors
from extender.match.findings import Noticed
from extender.match.gates import FeatureGates
from extender.model.core_v1 import NodeAffinity
from tests.builders import JSON
from tests.properties.core_strategies import AFFINITIES, NAMES, VALUES

GATES = FeatureGates()
LABELS = st.dictionaries(
    st.sampled_from(["a", "sla", "kernel"]), st.sampled_from(["x", "950"]) | VALUES, min_size=1
)
# Whether the number is looked at, and noticed as none, hangs on what stands before it.
NUMBER = st.just({"key": "a", "operator": "Gt", "values": ["5"]})
CHOICE = st.builds(
    lambda key, values: {"key": key, "operator": "In", "values": values},
    st.sampled_from(["a", "sla"]),
    st.lists(st.sampled_from(["x", "950"]), min_size=1, max_size=2),
)
MIXED = st.lists(NUMBER | CHOICE, min_size=1, max_size=3)
CHOICES = st.lists(st.fixed_dictionaries({"matchExpressions": MIXED}), max_size=4).map(
    lambda terms: {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": place + 1, "preference": term} for place, term in enumerate(terms)
        ],
    }
)


@settings(max_examples=500)
@given(affinity=CHOICES | AFFINITIES, name=st.sampled_from(["", *NAMES]), labels=LABELS)
def test_looking_up_and_asking_each_agree(affinity: JSON, name: str, labels: JSON) -> None:
    rules = msgspec.convert(affinity or {}, NodeAffinity)
    required = selectors.compile_required(None, [rules], GATES, set())
    preferred = selectors.compile_preferred([rules], GATES, set())
    found: Noticed = set()
    noticed: Noticed = set()

    if required is not None:
        (terms,) = required.selectors
        asked = any(term.matches(name, labels, noticed) for term in terms)
        assert required.matches(name, labels, found) is asked
        assert len(list(terms.matching(name, labels, set()))) <= required.most
    if preferred is not None:
        pairs = zip(preferred.weights, preferred.terms, strict=True)
        asked_score = sum(w for w, term in pairs if term.matches(name, labels, noticed))
        assert preferred.score(name, labels, found) == asked_score
    assert found == noticed
