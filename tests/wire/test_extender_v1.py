import json
from pathlib import Path

import msgspec
import pytest

from extender.config.schema import Config
from extender.errors import BadRequestError, RequestTooLargeError
from extender.match.lru import CacheBudget
from extender.model.core_v1 import Node, ObjectMeta, Pod, PodSpec
from extender.verbs import filter as filter_verb
from extender.verbs import preempt, prioritize
from extender.verbs.context import Context
from extender.verbs.profiles import Profiles
from extender.wire import extender_v1 as wire
from extender.wire import requests
from extender.wire.extender_v1 import MetaVictims
from extender.wire.known_nodes import KnownNodes
from tests.serving import FixedSource

GOLDEN = Path(__file__).parent.parent / "golden"
GOLDENS = sorted(path.name.removesuffix(".request.json") for path in GOLDEN.glob("*.request.json"))


def golden_cluster() -> FixedSource:
    """The nodes of `tests/golden/cluster.json`."""
    return FixedSource(*json.loads((GOLDEN / "cluster.json").read_bytes())["items"])


def golden(name: str, part: str) -> bytes:
    return (GOLDEN / f"{name}.{part}.json").read_bytes().removesuffix(b"\n")


@pytest.mark.parametrize("name", GOLDENS)
def test_golden(name: str) -> None:
    context = Context(golden_cluster(), Profiles(Config()), refusals="always")
    ask = {"filter": filter_verb, "prioritize": prioritize, "preempt": preempt}[name.split("-")[0]]

    assert ask.answer(context, golden(name, "request")).body == golden(name, "answer")


def test_every_golden_has_its_answer_and_its_row() -> None:
    answers = {path.name.removesuffix(".answer.json") for path in GOLDEN.glob("*.answer.json")}
    readme = (GOLDEN / "README.md").read_text(encoding="utf-8")

    assert set(GOLDENS) == answers
    assert [name for name in GOLDENS if f"| `{name}` |" not in readme] == []


# --- reading filter and prioritize


@pytest.mark.parametrize(
    ("body", "names", "carried", "mode"),
    [
        pytest.param(
            b'{"Pod":{},"Nodes":null,"NodeNames":["b","a"]}', ["b", "a"], [], "names", id="names"
        ),
        pytest.param(b'{"Pod":{},"NodeNames":["a"]}', ["a"], [], "names", id="no Nodes at all"),
        pytest.param(b'{"Pod":{},"Nodes":null,"NodeNames":[]}', [], [], "names", id="no names"),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{"metadata":{"name":"a"}}]},"NodeNames":null}',
            ["a"],
            ["a"],
            "nodes",
            id="whole nodes",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":{"metadata":{},"items":null}}', [], [], "nodes", id="items: null"
        ),
        pytest.param(b'{"Pod":{},"Nodes":{"items":[]}}', [], [], "nodes", id="no items"),
        pytest.param(b'{"Pod":{},"Nodes":{}}', [], [], "nodes", id="a list of nothing"),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{},{"metadata":null}]}}',
            ["", ""],
            ["", ""],
            "nodes",
            id="nodes without a name",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{"metadata":{"name":"b"}}]},"NodeNames":["a","b"]}',
            ["a", "b"],
            ["b"],
            "names",
            id="names were asked for, a node is carried along",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{"metadata":{"name":"b"}}]},"NodeNames":[]}',
            ["b"],
            ["b"],
            "nodes",
            id="nodes beside an empty list of names",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":null,"NodeNames":["a"],"Extra":{"deep":[1,{"x":null}]}}',
            ["a"],
            [],
            "names",
            id="unknown keys are ignored",
        ),
        pytest.param(
            b' \r\n{ "Pod" : { } ,\t"NodeNames" : [ "a" ] } \n',
            ["a"],
            [],
            "names",
            id="white space",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":["\\u003ca\\u003e","\\ud83d\\ude00"]}',
            ["<a>", "😀"],
            [],
            "names",
            id="escapes",
        ),
    ],
)
def test_decode_filter_args(body: bytes, names: list[str], carried: list[str], mode: str) -> None:
    args = wire.decode_filter_args(body)

    assert args.pod == Pod()
    assert list(args.names) == names
    assert [node.metadata.name if node.metadata else "" for node in args.nodes] == carried
    assert args.mode == mode


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"pod":{"metadata":{"name":"p"}},"nodeNames":["a"]}', id="camel case"),
        pytest.param(b'{"POD":{"metadata":{"name":"p"}},"NODENAMES":["a"]}', id="capitals"),
        pytest.param(b'{"pOd":{"metadata":{"name":"p"}},"nodenames":["a"]}', id="any case"),
        pytest.param(b'{"Pod":{"metadata":{"name":"p"}},"nodenames":["a"]}', id="one of two"),
        pytest.param(b'{"pod":{"metadata":{"name":"p"}},"NodeNames":["a"]}', id="the other one"),
        pytest.param(
            b'{"pod":{"metadata":{"name":"p"}},"nodes":null,"nodenames":["a"],"Extra":1}',
            id="with null and unknown keys",
        ),
        pytest.param(
            b'{"Pod":null,"pod":{"metadata":{"name":"p"}},"NodeNames":["a"]}', id="the later stands"
        ),
    ],
)
def test_keys_are_read_in_any_letter_case(body: bytes) -> None:
    args = wire.decode_filter_args(body)

    assert (args.pod, list(args.names)) == (Pod(ObjectMeta(name="p")), ["a"])


def test_whole_nodes_are_read_in_any_letter_case() -> None:
    args = wire.decode_filter_args(b'{"pod":{},"nodes":{"items":[{"metadata":{"name":"a"}}]}}')

    assert (args.mode, list(args.names)) == ("nodes", ["a"])
    assert bytes(args.raw[0]) == b'{"metadata":{"name":"a"}}'


def test_letter_case_matters_below_the_top_level() -> None:
    """Those are ordinary Kubernetes objects, whose keys have tags."""
    args = wire.decode_filter_args(b'{"pod":{"Metadata":{"name":"p"}},"nodes":{"Items":[{}]}}')

    assert (args.pod, list(args.names)) == (Pod(), [])


def error_of(body: bytes) -> str:
    with pytest.raises(BadRequestError) as caught:
        wire.decode_filter_args(body)
    return str(caught.value)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        pytest.param(b"", "ExtenderArgs is not JSON: Input data was truncated", id="nothing"),
        pytest.param(b"null", "ExtenderArgs: Expected `object`, got `null`", id="null"),
        pytest.param(b"[]", "ExtenderArgs: Expected `object`, got `array`", id="a list"),
        pytest.param(b"{}", "ExtenderArgs: Pod is missing", id="an empty object"),
        pytest.param(
            b'{"Pod":null,"NodeNames":["a"]}', "ExtenderArgs: Pod is missing", id="no pod"
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":null,"NodeNames":null}',
            "ExtenderArgs: neither Nodes nor NodeNames is given",
            id="neither list",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":["a"]} x',
            "ExtenderArgs is not JSON: JSON is malformed: trailing characters (byte 30)",
            id="trailing bytes",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":["a"]}{}',
            "ExtenderArgs is not JSON: JSON is malformed: trailing characters (byte 29)",
            id="a second object",
        ),
        pytest.param(
            b'\xef\xbb\xbf{"Pod":{},"NodeNames":["a"]}',
            "ExtenderArgs is not JSON: JSON is malformed: invalid character (byte 0)",
            id="a byte order mark",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":["a"],"X":NaN}',
            "ExtenderArgs is not JSON: JSON is malformed: invalid character (byte 32)",
            id="not a number",
        ),
        pytest.param(
            b'{"Pod":{"spec":{"tolerations":[{},{"key":5}]}},"NodeNames":["a"]}',
            "ExtenderArgs: Expected `str`, got `int` - at `$.Pod.spec.tolerations[1].key`",
            id="a wrong type in the pod",
        ),
        pytest.param(
            b'{"pod":{"spec":{"tolerations":{}}},"nodenames":["a"]}',
            "ExtenderArgs: Expected `array | null`, got `object` - at `$.Pod.spec.tolerations`",
            id="a wrong type under keys of another case",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":"a"}',
            "ExtenderArgs: Expected `array | null`, got `str` - at `$.NodeNames`",
            id="a name without a list",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":[]}',
            "ExtenderArgs: Expected `object | null`, got `array` - at `$.Nodes`",
            id="nodes without a NodeList",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{},{"spec":{"taints":[{"value":1}]}}]}}',
            "ExtenderArgs: Nodes.items[1]: Expected `str`, got `int` - at `$.spec.taints[0].value`",
            id="a wrong type in a node",
        ),
        pytest.param(
            b'{"Pod":{"spec":{"tolerations":[{"tolerationSeconds":' + b"9" * 5000 + b"}]}}}",
            "ExtenderArgs: Integer value out of range"
            " - at `$.Pod.spec.tolerations[0].tolerationSeconds`",
            id="a number of 5,000 digits",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNames":["a"],"Other":"\xff"}',
            "the body is not UTF-8: 'utf-8' codec can't decode byte 0xff in position 37:"
            " invalid start byte",
            id="bad UTF-8 in a field that is not read",
        ),
        pytest.param(
            b'{"Pod":{},"Nodes":{"items":[{"status":{"x":"\xc3("}}]}}',
            "the body is not UTF-8: 'utf-8' codec can't decode byte 0xc3 in position 44:"
            " invalid continuation byte",
            id="bad UTF-8 inside a node",
        ),
        pytest.param(
            b'{"Pod":{"x":' + b"[" * 100_000 + b"]" * 100_000 + b'},"NodeNames":["a"]}',
            "ExtenderArgs is nested too deeply",
            id="a field that is not read, too deep",
        ),
        pytest.param(
            b'{"x":' + b'{"y":' * 100_000 + b"1" + b"}" * 100_001,
            "ExtenderArgs is nested too deeply",
            id="an unknown key, too deep",
        ),
    ],
)
def test_what_kube_scheduler_does_not_send_is_refused_with_its_place(
    body: bytes, error: str
) -> None:
    assert error_of(body) == error


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"Pod":{"metadata":{"name":"\\ud800"}},"NodeNames":[]}', id="in a name"),
        pytest.param(b'{"Pod":{"\\udc00":1},"NodeNames":["a"]}', id="in a key that is not read"),
        pytest.param(b'{"Pod":{},"Nodes":{"items":[{"status":"\\udc00"}]}}', id="inside a node"),
    ],
)
def test_half_a_surrogate_pair_is_not_json(body: bytes) -> None:
    assert error_of(body).startswith("ExtenderArgs is not JSON: ")


# --- reading preempt


def victims_of(*uids: str, violations: int = 0) -> MetaVictims:
    pods = [{"UID": uid} for uid in uids]
    return msgspec.convert({"Pods": pods, "NumPDBViolations": violations}, MetaVictims)


UIDS = victims_of("u1", "u2", violations=3)


@pytest.mark.parametrize(
    ("body", "victims", "mode"),
    [
        pytest.param(
            b'{"Pod":{},"NodeNameToVictims":null,"NodeNameToMetaVictims":'
            b'{"a":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":3}}}',
            {"a": UIDS},
            "names",
            id="by UID",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNameToVictims":{"a":{"Pods":[{"metadata":{"uid":"u1","name":"x"}},'
            b'{"metadata":{"uid":"u2"}}],"NumPDBViolations":3}},"NodeNameToMetaVictims":null}',
            {"a": UIDS},
            "nodes",
            id="whole pods",
        ),
        pytest.param(
            b'{"pod":{},"nodenametometavictims":'
            b'{"a":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":3}}}',
            {"a": UIDS},
            "names",
            id="by UID, keys in another case",
        ),
        pytest.param(
            b'{"Pod":{},"nodeNameToMetaVictims":'
            b'{"a":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":3}}}',
            {"a": UIDS},
            "names",
            id="by UID, one key in another case",
        ),
        pytest.param(
            b'{"pod":{},"NodeNameToMetaVictims":'
            b'{"a":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":3}}}',
            {"a": UIDS},
            "names",
            id="by UID, the other key in another case",
        ),
        pytest.param(
            b'{"POD":{},"NODENAMETOVICTIMS":{"a":{"Pods":[{"metadata":{"uid":"u1"}},'
            b'{"metadata":{"uid":"u2"}}],"NumPDBViolations":3}}}',
            {"a": UIDS},
            "nodes",
            id="whole pods, keys in another case",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNameToMetaVictims":{"a":null,"b":{"Pods":null},"c":{"Pods":[]}}}',
            {"a": MetaVictims(), "b": MetaVictims(), "c": MetaVictims(())},
            "names",
            id="by UID, nobody",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNameToVictims":{"a":null,"b":{"Pods":null},"c":{"Pods":[]}}}',
            {"a": MetaVictims(), "b": MetaVictims(()), "c": MetaVictims(())},
            "nodes",
            id="whole pods, nobody",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNameToVictims":{"a":{"Pods":[{},{"metadata":null}]}}}',
            {"a": victims_of("", "")},
            "nodes",
            id="victims that have no UID",
        ),
        pytest.param(b'{"Pod":{},"NodeNameToMetaVictims":{}}', {}, "names", id="no candidates"),
        pytest.param(b'{"Pod":{},"NodeNameToVictims":{}}', {}, "nodes", id="no candidates, whole"),
        pytest.param(b'{"Pod":{}}', {}, "names", id="neither map"),
        pytest.param(
            b'{"Pod":{},"NodeNameToVictims":{"b":null},"NodeNameToMetaVictims":'
            b'{"a":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":3}}}',
            {"a": UIDS},
            "names",
            id="both maps: those by UID",
        ),
    ],
)
def test_decode_preemption_args(body: bytes, victims: dict[str, MetaVictims], mode: str) -> None:
    args = wire.decode_preemption_args(body)

    assert (args.pod, dict(args.victims), args.mode) == (Pod(), victims, mode)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        pytest.param(
            b"{", "ExtenderPreemptionArgs is not JSON: Input data was truncated", id="cut"
        ),
        pytest.param(b"[]", "ExtenderPreemptionArgs: Expected `object`, got `array`", id="a list"),
        pytest.param(
            b'{"NodeNameToMetaVictims":{}}', "ExtenderPreemptionArgs: Pod is missing", id="no pod"
        ),
        pytest.param(
            b'{"Pod":{},"NodeNameToMetaVictims":{"a":{"Pods":["u1"]}}}',
            "ExtenderPreemptionArgs: Expected `object`, got `str`"
            " - at `$.NodeNameToMetaVictims[...].Pods[0]`",
            id="a bare UID",
        ),
        pytest.param(
            b'{"pod":{"spec":5},"nodenametovictims":{}}',
            "ExtenderPreemptionArgs: Expected `object | null`, got `int` - at `$.Pod.spec`",
            id="a wrong type under keys of another case",
        ),
        pytest.param(
            b'{"Pod":{},"NodeNameToVictims":{"a":{"NumPDBViolations":"1"}}}',
            "ExtenderPreemptionArgs: Expected `int`, got `str`"
            " - at `$.NodeNameToVictims[...].NumPDBViolations`",
            id="a count as text",
        ),
        pytest.param(
            b'{"Pod":{},"X":"\xfe"}',
            "the body is not UTF-8: 'utf-8' codec can't decode byte 0xfe in position 15:"
            " invalid start byte",
            id="bad UTF-8",
        ),
        pytest.param(
            b'{"Pod":{},"X":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            "ExtenderPreemptionArgs is nested too deeply",
            id="too deep",
        ),
    ],
)
def test_a_preemption_that_cannot_be_read_says_where(body: bytes, error: str) -> None:
    with pytest.raises(BadRequestError) as caught:
        wire.decode_preemption_args(body)

    assert str(caught.value) == error


# --- writing


def test_errors_come_with_empty_lists_in_the_kind_that_was_asked() -> None:
    empty = {"FailedNodes": {}, "FailedAndUnresolvableNodes": {}, "Error": "broken"}

    by_name = json.loads(wire.encode_filter_error("names", "broken"))
    whole = json.loads(wire.encode_filter_error("nodes", "broken"))
    unread = json.loads(wire.encode_filter_error(None, "broken"))

    assert by_name == {"Nodes": None, "NodeNames": [], **empty}
    assert whole == {"Nodes": {"items": []}, "NodeNames": None, **empty}
    assert unread == {"Nodes": {"items": []}, "NodeNames": [], **empty}


def test_encode_preemption() -> None:
    assert wire.encode_preemption({"a": UIDS}) == (
        b'{"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":3}}}'
    )
    assert wire.encode_preemption({}) == b'{"NodeNameToMetaVictims":{}}'


def test_a_null_for_a_name_or_a_node_is_an_empty_one_as_in_go() -> None:
    named = wire.decode_filter_args(b'{"Pod":{},"NodeNames":["a",null]}')
    whole = wire.decode_filter_args(
        b'{"Pod":{},"Nodes":{"items":[{"metadata":{"name":null}},null]}}'
    )

    assert named.names == ("a", "")
    assert (whole.names, whole.nodes[1]) == (["", ""], Node())
    assert [bytes(raw) for raw in whole.raw] == [b'{"metadata":{"name":null}}', b"null"]


def test_nulls_of_victims_are_read_as_go_reads_them() -> None:
    args = wire.decode_preemption_args(
        b'{"Pod":{"metadata":{"uid":null},"spec":{"schedulerName":null}},"NodeNameToMetaVictims":'
        b'{"a":{"Pods":[{"UID":null},null],"NumPDBViolations":null},"b":null}}'
    )
    whole = wire.decode_preemption_args(
        b'{"Pod":{},"NodeNameToVictims":{"a":{"Pods":[{"metadata":{"uid":null}},null,'
        b'{"metadata":{"uid":"u","labels":{"x":null}}}],"NumPDBViolations":null}}}'
    )

    assert args.pod == Pod(ObjectMeta(), PodSpec())
    assert args.victims == {"a": victims_of("", ""), "b": MetaVictims()}
    assert whole.victims == {"a": victims_of("", "", "u")}


KNOWN = KnownNodes(CacheBudget())


def large(key: bytes, size: int) -> bytes:
    pod = b'{"metadata":{"annotations":{"a":"%b"}}}' % (b"x" * (size - 37))
    return b'{"%b":%b,"Nodes":null,"NodeNames":["a"]}' % (key, pod)


@pytest.mark.parametrize("key", [b"Pod", b"pod"])
def test_a_pod_that_no_api_server_would_take_is_refused_before_it_is_read(key: bytes) -> None:
    most = wire.MAX_POD_BYTES

    assert wire.decode_filter_args(large(key, most)).names == ("a",)
    assert requests.read_filter_args(large(key, most), KNOWN).pod.metadata is not None
    with pytest.raises(RequestTooLargeError, match="a pod of 4194305 bytes is larger than"):
        requests.read_filter_args(large(key, most + 1), KNOWN)
    with pytest.raises(RequestTooLargeError, match="a pod of 4194305 bytes is larger than"):
        wire.decode_preemption_args(large(key, most + 1))


def test_a_large_body_may_have_a_small_pod() -> None:
    body = b'{"Pod":{},"NodeNames":["%b"]}' % (b"x" * wire.MAX_POD_BYTES)

    assert len(wire.decode_filter_args(body).names[0]) == wire.MAX_POD_BYTES
