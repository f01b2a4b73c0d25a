"""`null` as Go's decoder reads it: nothing is set, and the zero value stays.

The API server never writes `null` for a string, a number or an entry of a list or a map, but it
takes one from whoever does, and so does every program in Go. A type that allows it everywhere takes
longer to decode. So an object is decoded strictly first, and only if that ends at a null once more,
as a twin of its type that allows it. The twin reads the same fields and skips the same others, so
the second time takes no more memory than the first.
"""

import functools
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Raw, inspect

T = TypeVar("T")


class Decoder(Generic[T]):
    """A JSON decoder of one type; a `null` in place of the whole is still refused."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._strict: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind)

    def decode(self, text: bytes | memoryview | Raw) -> T:
        """The object; msgspec.DecodeError if it is none."""
        try:
            return self._strict.decode(text)
        except msgspec.ValidationError as exc:
            if not _met_null(exc):
                raise
        shape, twin = _twin_of(self._kind)
        read: T = _read(msgspec.json.decode(text, type=twin), shape)
        return read


def convert(data: object, kind: type[T]) -> T:
    """The same for plain data."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as exc:
        if not _met_null(exc):
            raise
    shape, twin = _twin_of(kind)  # type: ignore[arg-type]  # a type has a hash
    read: T = _read(msgspec.convert(data, twin), shape)
    return read


def _met_null(exc: msgspec.ValidationError) -> bool:
    return "got `null`" in str(exc)


@functools.cache
def _twin_of(kind: Any) -> tuple[inspect.Type, Any]:
    shape = inspect.type_info(kind)
    return shape, _twin(shape)


def _twin(shape: inspect.Type) -> Any:
    """The type that accepts what `shape` does, and null for each part of it."""
    match shape:
        case inspect.StructType():
            return _twin_struct(shape)
        case inspect.UnionType():
            return _or_null(_some(shape))
        case inspect.DictType():
            return dict[str, _or_null(shape.value_type)]  # type: ignore[misc]  # a type that is made
        case inspect.VarTupleType() | inspect.ListType():
            return list[_or_null(shape.item_type)]  # type: ignore[misc]  # a type that is made
        case inspect.IntType():
            return Annotated[int, Meta(ge=shape.ge, le=shape.le)]
        case inspect.BoolType():
            return bool
        case _:
            return str


def _or_null(shape: inspect.Type) -> Any:
    # Raw bytes may be those of a null; msgspec reads nothing but null as `Raw | None`.
    return Raw if isinstance(shape, inspect.RawType) else _twin(shape) | None


def _twin_struct(shape: inspect.StructType) -> type[msgspec.Struct]:
    fields = []
    for each in shape.fields:
        # A field that must be there must still be there.
        default = msgspec.NODEFAULT if each.required else None
        field = msgspec.field(default=default, name=each.encode_name)
        fields.append((each.name, _or_null(each.type), field))
    return msgspec.defstruct(
        "Twin",
        fields,
        kw_only=True,
        forbid_unknown_fields=shape.forbid_unknown_fields,
        gc=False,
    )


def _read(found: Any, shape: inspect.Type) -> Any:
    """What a twin has read, as the type itself; None is the zero value."""
    match shape:
        case inspect.UnionType():
            return None if found is None else _read(found, _some(shape))
        case inspect.StructType():
            return _read_struct(found, shape)
        case inspect.DictType():
            return {key: _read(value, shape.value_type) for key, value in (found or {}).items()}
        case inspect.ListType():
            return [_read(value, shape.item_type) for value in found or ()]
        case inspect.VarTupleType():
            return tuple([_read(value, shape.item_type) for value in found or ()])
        case inspect.IntType():
            return found or 0
        case inspect.BoolType():
            return bool(found)
        case inspect.RawType():
            return found
        case _:
            return found or ""


def _read_struct(found: object, shape: inspect.StructType) -> msgspec.Struct:
    given = {}
    for each in shape.fields:
        value = getattr(found, each.name, None)  # of a null in a list there is nothing to read
        if value is not None or each.required:
            given[each.name] = _read(value, each.type)
    made: msgspec.Struct = shape.cls(**given)
    return made


def _some(shape: inspect.UnionType) -> inspect.Type:
    """The type that is not None, of the two that a union has here."""
    return next(each for each in shape.types if not isinstance(each, inspect.NoneType))
