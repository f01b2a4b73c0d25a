"""The cures keep the contract, and a case can be followed by another."""

import pytest

from extender.review.explain.affinity.cure import AffinityCure
from extender.review.explain.annotation_cure import AnnotationCure
from extender.review.explain.cordon import CordonCure
from extender.review.explain.proposals import Cure
from extender.review.explain.spread.cure import SpreadCure
from extender.review.explain.taints.cure import TaintCure
from extender.review.explain.volumes.cure import VolumeCure
from tests.builders import a_pod, node_json
from tests.review.explain.asking import SETTINGS, a_case


@pytest.mark.parametrize(
    "cure",
    [
        AffinityCure(SETTINGS),
        AnnotationCure(SETTINGS, "NodeAffinity"),
        CordonCure(SETTINGS),
        SpreadCure(SETTINGS),
        TaintCure(SETTINGS),
        VolumeCure(SETTINGS),
    ],
    ids=lambda cure: type(cure).__name__,
)
def test_where_nothing_is_in_the_way_nothing_is_proposed(cure: Cure) -> None:
    case = a_case(a_pod(), node_json("n"))

    assert cure.obstacles(case) == 0
    if not isinstance(cure, CordonCure):  # which is only asked about cordoned nodes
        assert list(cure.proposals(case)) == []
