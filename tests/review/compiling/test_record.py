"""The record of what compile wrote."""

import pytest

from extender.errors import AnnotationError
from extender.model.core_v1 import Taint
from extender.review.compiling import record
from extender.review.compiling.record import AffinityRecord

PREFIX = "scheduling.leeway/"
NAME = PREFIX + "compiled"


def test_what_is_written_is_read() -> None:
    sla = Taint("sla", "950", "NoSchedule"), Taint("gpu", "", "NoExecute")
    text = record.text_of(sla, AffinityRecord("abc"))

    assert text == (
        '{"tolerations":["gpu:NoExecute","sla=950:NoSchedule"],'
        '"nodeAffinity":{"own":null,"digest":"abc"}}'
    )
    found = record.read({NAME: text}, PREFIX)
    assert found.taints == frozenset(sla)
    assert found.node_affinity == AffinityRecord("abc")


def test_nothing_to_record_is_no_annotation() -> None:
    assert record.text_of([], None) is None
    assert record.read({}, PREFIX) == record.EMPTY


@pytest.mark.parametrize("text", ["", "[]", '{"tolerations":["sla=950"]}', '{"x":1}', "[" * 9999])
def test_a_broken_record_is_refused_with_the_way_out(text: str) -> None:
    with pytest.raises(AnnotationError, match=r"compiled is invalid: .* restore it, or remove it"):
        record.read({NAME: text}, PREFIX)


def test_a_digest_ignores_order_and_nulls() -> None:
    assert record.digest_of({"a": 1, "b": None, "c": [2]}) == record.digest_of({"c": [2], "a": 1})
    assert record.digest_of({"a": 1}) != record.digest_of({"a": 2})
