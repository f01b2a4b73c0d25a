"""What passes admission without a word can be read when it is matched."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from extender.framework.interface import Settings
from extender.match import selectors, taints
from extender.match.findings import Noticed
from extender.model.core_v1 import NodeAffinity, Toleration
from extender.review import validation
from tests.builders import JSON
from tests.properties import core_strategies as core
from tests.review import objects

EXPRESSIONS = st.sampled_from(
    ["true", "taint.key", "taint.", "int(taint.value) > 5", "[1].all(i, i > 0)", "x" * 10_241]
)
REQUIREMENTS = st.fixed_dictionaries(
    {
        "key": core.KEYS,
        "operator": st.sampled_from(
            ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "SemverGt", "SemverEq", "Bogus"]
        ),
        "values": st.lists(core.VALUES, max_size=2),
    }
)
TERMS = st.fixed_dictionaries(
    {
        "matchExpressions": st.lists(REQUIREMENTS, max_size=2),
        "matchFields": st.lists(
            st.fixed_dictionaries(
                {
                    "key": st.sampled_from(["metadata.name", "metadata.labels"]),
                    "operator": st.sampled_from(["In", "Gt"]),
                    "values": st.lists(st.sampled_from(["n1", "N 1"]), max_size=2),
                }
            ),
            max_size=1,
        ),
    }
)


@given(
    st.lists(core.tolerations() | st.builds(dict, expression=EXPRESSIONS), max_size=2),
    st.booleans(),
)
def test_tolerations_that_pass_can_be_compiled(rules: list[JSON], annotated: bool) -> None:
    pod = objects.ruled(objects.with_tolerations(*rules, annotated=annotated))
    report = validation.check(pod, None, Settings())
    noticed: Noticed = set()
    settings = Settings()
    taints.compile_tolerations(
        msgspec.convert(rules, tuple[Toleration, ...]), settings.gates, settings.programs, noticed
    )

    assert report.errors or not noticed


@given(st.lists(TERMS, min_size=1, max_size=2), st.booleans(), st.booleans())
def test_terms_that_pass_can_be_compiled(terms: list[Any], lenient: bool, annotated: bool) -> None:
    affinity = objects.preferred(*terms) if lenient else objects.required(*terms)
    pod = objects.ruled(objects.with_affinity(affinity, annotated=annotated))
    report = validation.check(pod, None, Settings())
    read = msgspec.convert(affinity, NodeAffinity)
    noticed: Noticed = set()
    given_terms = (
        [each.preference for each in read.preferred or ()]
        if lenient
        else list(read.required.node_selector_terms or () if read.required else ())
    )
    compiled = [
        selectors.compile_term(each, Settings().gates, noticed) for each in given_terms if each
    ]

    assert report.errors or report.warnings or (all(compiled) and not noticed)
