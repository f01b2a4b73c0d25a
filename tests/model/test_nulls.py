"""Every kind that is read, with a null in every place."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import msgspec
import pytest
from msgspec import Raw, inspect

from extender.cluster.resources import Event, Page, _MarkEvent
from extender.model import nulls, workloads
from extender.model.core_v1 import Node, PlacedPod, Pod, Toleration
from extender.model.nulls import Decoder
from extender.model.storage_v1 import PersistentVolume, PersistentVolumeClaim, StorageClass
from extender.review.admission import _AdmissionReview
from extender.review.scan import objects
from extender.wire.extender_v1 import _ExtenderArgs, _ExtenderPreemptionArgs

KINDS: list[Any] = [
    Pod,
    Node,
    PlacedPod,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    *workloads.KINDS.values(),
    *objects.SHAPES.values(),
    Page[Node],
    Page[PlacedPod],
    Event[PlacedPod],
    Event[PersistentVolume],
    _MarkEvent,
    _ExtenderArgs,
    _ExtenderPreemptionArgs,
    _AdmissionReview,
    dict[str, str],
]
Path = tuple[str | int, ...]


def full(shape: inspect.Type) -> Any:
    """An object with everything in it."""
    match shape:
        case inspect.StructType():
            return {each.encode_name: full(each.type) for each in shape.fields}
        case inspect.UnionType():
            return full(shape.types[0])
        case inspect.DictType():
            return {"a": full(shape.value_type), "b": full(shape.value_type)}
        case inspect.VarTupleType() | inspect.ListType():
            return [full(shape.item_type), full(shape.item_type)]
        case inspect.IntType():
            return 7
        case inspect.BoolType():
            return True
        case inspect.RawType():
            return {"raw": "text"}
        case _:
            return "text"


def zero(shape: inspect.Type) -> Any:
    """What Go has where nothing was set; None is a nil pointer."""
    match shape:
        case inspect.StructType():
            return {each.encode_name: zero(each.type) for each in shape.fields if each.required}
        case inspect.IntType():
            return 0
        case inspect.BoolType():
            return False
        case inspect.UnionType() | inspect.RawType():
            return None
        case _:
            return ""


def places(
    shape: inspect.Type, path: Path = ()
) -> Iterator[tuple[Path, inspect.Field | None, Any]]:
    """Where a null can be: the path, the field if it is one, and the type there."""
    match shape:
        case inspect.StructType():
            for each in shape.fields:
                yield (*path, each.encode_name), each, each.type
                yield from places(each.type, (*path, each.encode_name))
        case inspect.UnionType():
            yield from places(shape.types[0], path)
        case inspect.DictType():
            yield (*path, "a"), None, shape.value_type
            yield from places(shape.value_type, (*path, "a"))
        case inspect.VarTupleType() | inspect.ListType():
            yield (*path, 1), None, shape.item_type
            yield from places(shape.item_type, (*path, 1))
        case _:
            pass


def with_value(data: Any, path: Path, value: object) -> Any:
    made = deepcopy(data)
    *steps, last = path
    holder = made
    for step in steps:
        holder = holder[step]
    if value is ABSENT:
        del holder[last]
    else:
        holder[last] = value
    return made


ABSENT = object()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_null_is_read_as_go_reads_it_wherever_it_is(kind: Any) -> None:
    shape = inspect.type_info(kind)
    whole = full(shape)
    decoder: Decoder[Any] = Decoder(kind)
    encode = msgspec.json.encode
    assert encode(decoder.decode(encode(whole))) == encode(
        msgspec.json.decode(encode(whole), type=kind)
    )

    count = 0
    for path, field, there in places(shape):
        absent = field is not None and not field.required
        meant = with_value(whole, path, ABSENT if absent else zero(there))
        expected = msgspec.json.decode(encode(meant), type=kind)
        found = decoder.decode(encode(with_value(whole, path, None)))
        assert type(found) is type(expected)
        assert encode(found) == encode(expected), path
        count += 1
    assert count


@pytest.mark.parametrize("kind", [Pod, Node, *workloads.KINDS.values()], ids=str)
def test_plain_data_is_read_in_the_same_way(kind: Any) -> None:
    shape = inspect.type_info(kind)
    whole = full(shape)

    for path, _, _ in places(shape):
        data = with_value(whole, path, None)
        assert nulls.convert(data, kind) == Decoder[Any](kind).decode(msgspec.json.encode(data))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        pytest.param(b"null", "Expected `object`, got `null`", id="the whole"),
        pytest.param(b'{"metadata":{"uid":5}}', "Expected `str`, got `int`", id="no null at all"),
        pytest.param(
            b'{"metadata":{"uid":null,"name":5}}',
            "Expected `str | null`, got `int`",
            id="behind one",
        ),
        pytest.param(
            b'{"metadata":{"name":5,"uid":null}}', "Expected `str`, got `int`", id="before one"
        ),
        pytest.param(b'{"metadata":{"uid":null}', "Input data was truncated", id="no JSON"),
    ],
)
def test_what_is_wrong_stays_wrong(text: bytes, error: str) -> None:
    decoder: Decoder[Pod] = Decoder(Pod)

    with pytest.raises(msgspec.DecodeError) as caught:
        decoder.decode(text)

    assert str(caught.value).startswith(error)


def test_plain_data_that_is_wrong_stays_wrong() -> None:
    with pytest.raises(msgspec.ValidationError, match="Expected `str`, got `int`"):
        nulls.convert({"key": 5, "value": None}, Toleration)
    with pytest.raises(msgspec.ValidationError, match=r"Expected `str \| null`, got `int`"):
        nulls.convert({"key": None, "value": 5}, Toleration)


def test_a_field_that_must_be_there_may_be_null_but_not_absent() -> None:
    decoder: Decoder[PlacedPod] = Decoder(PlacedPod)

    assert decoder.decode(b'{"metadata":null}').metadata.name == ""
    with pytest.raises(msgspec.ValidationError, match="missing required field `metadata`"):
        decoder.decode(b'{"spec":{"nodeName":null}}')


def test_unknown_fields_are_refused_where_they_were() -> None:
    class Strict(Toleration, forbid_unknown_fields=True, frozen=True):
        pass

    decoder: Decoder[Strict] = Decoder(Strict)

    assert decoder.decode(b'{"value":null}') == Strict()
    with pytest.raises(msgspec.ValidationError, match="unknown field `velue`"):
        decoder.decode(b'{"value":null,"velue":null}')


def test_numbers_stay_within_their_bounds() -> None:
    decoder: Decoder[Any] = Decoder(_ExtenderPreemptionArgs)
    body = b'{"NodeNameToMetaVictims":{"n":{"Pods":[{"UID":null}],"NumPDBViolations":%d}}}'

    decoder.decode(body % ((1 << 63) - 1))
    with pytest.raises(msgspec.ValidationError, match="<= 9223372036854775807"):
        decoder.decode(body % (1 << 63))


def test_what_stays_raw_stays_as_it_came() -> None:
    decoder: Decoder[Any] = Decoder(_ExtenderArgs)
    args = decoder.decode(
        b'{"Pod":{"metadata":{"uid":null}},"Nodes":{"items":[ {"a" : null}, null]}}'
    )

    assert [bytes(raw) for raw in args.nodes.items] == [b'{"a" : null}', b"null"]
    assert isinstance(args.nodes.items[1], Raw)
