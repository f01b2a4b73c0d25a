"""Answers out of fragments are the answers that an encoder gives."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from extender.framework.interface import SUCCESS, unresolvable
from extender.model.core_v1 import Pod
from extender.wire import fragments, listings, messages
from extender.wire.listings import Listing
from extender.wire.messages import FilterArgs

NAMES = st.lists(
    st.text("abc-.0", min_size=1, max_size=12) | st.just("x" * 200), min_size=1, max_size=12
)
TEXTS = ["", "node(s) were unschedulable", 'a "quoted" \\ é reason', "other"]


def listing_of(names: list[str]) -> Listing:
    found = listings.listed(names)
    assert found is not None
    return found


@given(names=NAMES, data=st.data())
def test_filter(names: list[str], data: st.DataObject) -> None:
    # A name has one status, however often it stands in the list.
    by_name = {name: data.draw(st.integers(0, 3)) for name in names}
    codes = bytes(by_name[name] for name in names)
    statuses = [unresolvable(TEXTS[code]) if code else SUCCESS for code in codes]
    texts = {code: TEXTS[code] for code in set(codes) if code}

    body = fragments.filter_answer(listing_of(names), codes, texts)

    expected = messages.encode_filter(FilterArgs(Pod(), names, (), None), statuses)
    assert json.loads(body) == json.loads(expected.body)


def test_the_order_of_the_request_is_kept() -> None:
    body = fragments.filter_answer(listing_of(list("edcba")), b"\0\2\1\0\2", {1: "x", 2: "y"})

    assert body == (
        b'{"Nodes":null,"NodeNames":["e","b"],"FailedNodes":{},'
        b'"FailedAndUnresolvableNodes":{"d":"y","c":"x","a":"y"},"Error":""}'
    )


@given(names=NAMES, data=st.data())
def test_priorities(names: list[str], data: st.DataObject) -> None:
    scores = bytes(data.draw(st.integers(0, 10)) for _ in names)

    body = fragments.priorities(listing_of(names), scores)

    expected: Any = json.loads(messages.encode_priorities(names, scores))
    assert json.loads(body) == expected
