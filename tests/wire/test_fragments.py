"""Answers out of fragments are the answers that an encoder gives."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.framework.interface import SUCCESS, unresolvable
from extender.framework.rows import Rows
from extender.model.core_v1 import Pod
from extender.wire import fragments, listings, messages
from extender.wire.carried import Arrived, Familiar, KnownNodes
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


def answer(listing: Listing, codes: bytes, texts: dict[int, str]) -> bytes:
    refused = fragments.refused_members(listing.names, codes, texts)
    return fragments.filter_answer(listing, bytes(not code for code in codes), refused)


@given(names=NAMES, data=st.data())
def test_filter(names: list[str], data: st.DataObject) -> None:
    # A name has one status, however often it stands in the list.
    by_name = {name: data.draw(st.integers(0, 3)) for name in names}
    codes = bytes(by_name[name] for name in names)
    statuses = [unresolvable(TEXTS[code]) if code else SUCCESS for code in codes]
    texts = {code: TEXTS[code] for code in set(codes) if code}

    body = answer(listing_of(names), codes, texts)

    expected = messages.encode_filter(FilterArgs(Pod(), names, (), None), statuses)
    assert json.loads(body) == json.loads(expected.body)


def test_the_order_of_the_request_is_kept() -> None:
    body = answer(listing_of(list("edcba")), b"\0\2\1\0\2", {1: "x", 2: "y"})

    assert body == (
        b'{"Nodes":null,"NodeNames":["e","b"],"FailedNodes":{},'
        b'"FailedAndUnresolvableNodes":{"d":"y","c":"x","a":"y"},"Error":""}'
    )


@given(
    names=st.lists(st.text("abc-.0", min_size=1, max_size=12), min_size=1, unique=True),
    data=st.data(),
)
def test_who_passes_is_said_in_the_order_of_the_request(
    names: list[str], data: st.DataObject
) -> None:
    codes = bytes(data.draw(st.integers(0, 3)) for _ in names)
    order = data.draw(st.permutations(range(len(names))))
    listing = listing_of([names[row] for row in order])
    texts = {code: TEXTS[code] for code in set(codes) if code}

    body = fragments.refusals(fragments.refused_members(names, codes, texts))
    body = fragments.with_passing(body, listing, bytes(not codes[row] for row in order))

    expected = answer(listing, bytes(codes[row] for row in order), texts)
    assert json.loads(body) == json.loads(expected)


@settings(max_examples=200)
@given(
    names=st.lists(st.text("abc-.0", min_size=1, max_size=5), min_size=1, unique=True),
    data=st.data(),
)
def test_an_answer_is_changed_where_texts_change(names: list[str], data: st.DataObject) -> None:
    codes = st.integers(0, 3)
    before = bytes(data.draw(codes) for _ in names)
    now = bytes(data.draw(st.just(code) | st.just(code) | codes) for code in before)
    told, texts = ({code: TEXTS[code] for code in set(each) if code} for each in (before, now))
    listing = listing_of(names)

    changes = fragments.text_changes(before, told, now, texts)

    flipped = [bool(a) != bool(b) for a, b in zip(before, now, strict=True)]
    assert (changes is None) == any(flipped)
    if changes is not None:
        body = b"".join(fragments.retold(answer(listing, before, told), names, changes))
        assert body == answer(listing, now, texts)


def test_members_of_very_different_length_are_found_all_the_same() -> None:
    # Half of the text belongs to the last tenth of the members.
    names = [f"n{i}" for i in range(1_000)]
    texts = {1: "x", 2: "y" * 2_000, 3: "z"}
    before = b"\1" * 900 + b"\2" * 100
    now = before[:899] + b"\3" + before[900:-1] + b"\3"
    listing = listing_of(names)

    changes = fragments.text_changes(before, {1: "x", 2: texts[2]}, now, texts)

    assert changes == [(999, texts[2], "z"), (899, "x", "z")]
    body = b"".join(fragments.retold(answer(listing, before, texts), names, changes))
    assert body == answer(listing, now, texts)


@given(
    names=st.lists(st.text("abc-.0", min_size=1, max_size=5), min_size=1, unique=True),
    data=st.data(),
)
def test_what_one_plugin_refuses_stands_behind_the_others(
    names: list[str], data: st.DataObject
) -> None:
    refused = fragments.Refused()
    for _ in range(3):
        codes = bytes(data.draw(st.integers(0, 3)) for _ in names)
        texts = {code: TEXTS[code] for code in set(codes) if code}
        last = [code for code in texts if code > data.draw(st.integers(1, 3))]
        if not last:
            continue

        members = refused.members(1, names, codes, texts, last)

        told = {name: TEXTS[code] for name, code in zip(names, codes, strict=True) if code}
        assert json.loads(b"{%b}" % members) == told
        order = [name for name, code in zip(names, codes, strict=True) if code in last]
        assert list(json.loads(b"{%b}" % members))[-len(order) :] == order
        # In any order a text is found that has changed.
        now = bytes(last[0] if code else 0 for code in codes)
        changes = fragments.text_changes(codes, texts, now, texts)
        assert changes is not None
        body = b"".join(fragments.retold(fragments.refusals(members), names, changes))
        found = json.loads(body)["FailedAndUnresolvableNodes"]
        assert found == dict.fromkeys(told, texts[last[0]])


def test_what_answers_have_in_common_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    refused, names, texts = fragments.Refused(), ["a", "b", "c"], {1: "x", 2: "y"}
    encoded = []

    def members(names: list[str], codes: bytes, texts: dict[int, str]) -> bytes:
        encoded.append(codes)
        return b"members"

    monkeypatch.setattr(fragments, "refused_members", members)
    for layout, codes in ((1, b"\1\0\2"), (1, b"\1\2\2"), (2, b"\1\2\2"), (1, b"\1\2\0")):
        refused.members(layout, names, codes, texts, [2])
    refused.members(1, names, b"\1\2\2", texts | {1: "in other words"}, [2])

    ones, twos = b"\1\0\0", (b"\0\0\2", b"\0\2\2", b"\0\2\2", b"\0\2\0", b"\0\2\2")
    assert encoded == [ones, twos[0], twos[1], ones, twos[2], twos[3], ones, twos[4]]


def test_answers_that_differ_in_much_are_not_changed() -> None:
    many = bytes(fragments.MAX_CHANGES)

    ones, twos = many.replace(b"\0", b"\1"), many.replace(b"\0", b"\2")
    assert fragments.text_changes(ones, {1: "x"}, twos, {2: "y"}) is not None
    assert fragments.text_changes(ones + b"\1", {1: "x"}, twos + b"\2", {2: "y"}) is None
    assert fragments.text_changes(ones, {1: "x"}, ones, {1: "in other words"}) is None


@given(names=NAMES | st.lists(st.text("ab", min_size=3, max_size=3), min_size=1), data=st.data())
def test_priorities(names: list[str], data: st.DataObject) -> None:
    rows = data.draw(st.permutations(range(len(names))))
    scores = bytes(data.draw(st.integers(0, 10)) for _ in names)

    asked = [names[row] for row in rows]

    body = fragments.Hosts(names).scored(asked, Rows(rows, len(names)), scores)

    assert json.loads(body) == json.loads(messages.encode_priorities(asked, scores))


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param("b" * 300, id="one long name does not make all of them long"),
        pytest.param('a"b', id="a name that needs escaping"),
        pytest.param("é", id="a name that is not ASCII"),
    ],
)
def test_hosts_that_do_not_fit(odd: str) -> None:
    names, scores = ["a", odd, *"bcdefgh"], bytes((3, 10, *range(7)))

    body = fragments.Hosts(names).scored(names, Rows(range(9), 9), scores)

    assert body == messages.encode_priorities(names, scores)


ITEMS = [b'{"metadata":{"name":"%c"},"x":%d}' % (65 + i, i) for i in range(5)]


@given(passes=st.lists(st.booleans(), min_size=5, max_size=5))
def test_whole_nodes_return_as_they_came(passes: list[bool]) -> None:
    body = b'{"Pod":{},"Nodes":{"metadata":{},"items":[%b]},"NodeNames":null}' % b",".join(ITEMS)
    nodes = [Familiar(b"," + item, chr(65 + i), -1) for i, item in enumerate(ITEMS)]
    known = KnownNodes().carried(Arrived(b"", nodes, {}, 0))
    assert known is not None
    codes = bytes(not passing for passing in passes)
    texts = {1: "no"} if any(codes) else {}

    ahead = fragments.carried_nodes(known, bytes(passes))
    members = fragments.refused_members(known.listing.names, codes, texts)
    refused = fragments.carried_refusals(members)

    statuses = [SUCCESS if passing else unresolvable("no") for passing in passes]
    args = messages.decode_filter_args(body)
    assert b"".join((*ahead, refused)) == messages.encode_filter(args, statuses).body
