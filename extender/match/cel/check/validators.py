"""Kubernetes' checks beyond types: lists and maps of one type, and constants that are valid."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from extender.match.cel.check.format_calls import format_issue
from extender.match.cel.check.notes import Checked
from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.patterns import TooLargeError, translate
from extender.match.cel.library.times import parse_duration, parse_timestamp
from extender.match.cel.syntax.ast import (
    Call,
    Constant,
    Expr,
    Fold,
    ListExpr,
    MapExpr,
    Select,
    StructExpr,
)
from extender.match.cel.syntax.source import Issue, IssuesError, Source
from extender.match.cel.types import Type, describe, is_optional

FIRST_SECOND: Final = -62_135_596_800  # of the year 1
LAST_SECOND: Final = 253_402_300_799  # of the year 9999

_LITERAL_CHECKS: Final[Mapping[str, Callable[[str], object]]] = {
    "duration": parse_duration,
    "timestamp": parse_timestamp,
    "matches": translate,
}


def validate(_source: Source, checked: Checked) -> None:
    """Raises IssuesError with everything that is wrong."""
    nodes = list(_walk(checked.root))
    calls = [node for node, _ in nodes if isinstance(node, Call)]
    issues = [
        *_mixed_lists(checked, nodes),
        *_mixed_maps(checked, nodes),
        *_bad_constants(checked, calls),
        *_bad_formats(checked, calls),
    ]
    if issues:
        raise IssuesError(issues)


def _walk(root: Expr) -> Sequence[tuple[Expr, bool]]:
    """All nodes, children first, each with whether it is inside a `format` call."""
    seen: list[tuple[Expr, bool]] = []
    work = [(root, False)]
    while work:
        node, in_format = work.pop()
        seen.append((node, in_format))
        inside = in_format or (isinstance(node, Call) and node.function == "format")
        work += [(child, inside) for child in _children(node)]
    seen.reverse()
    return seen


def _children(node: Expr) -> Sequence[Expr]:
    match node:
        case Select():
            return (node.operand,)
        case Call():
            return node.args if node.target is None else (node.target, *node.args)
        case ListExpr():
            return node.elements
        case MapExpr():
            return [part for entry in node.entries for part in (entry.key, entry.value)]
        case StructExpr():
            return [field.value for field in node.fields]
        case Fold():
            return (node.range, node.init, node.condition, node.step, node.result)
        case _:
            return ()


def _mixed_lists(checked: Checked, nodes: Sequence[tuple[Expr, bool]]) -> Iterator[Issue]:
    """For each list, the first element whose type differs from that of element 0."""
    for node, exempt in nodes:
        if exempt or not isinstance(node, ListExpr):
            continue
        types = [
            _part_type(checked, element, optional=index in node.optional_indices)
            for index, element in enumerate(node.elements)
        ]
        for element, type_ in zip(node.elements, types, strict=True):
            if type_ != types[0]:
                yield _mismatch(element, types[0], type_)
                break


def _mixed_maps(checked: Checked, nodes: Sequence[tuple[Expr, bool]]) -> Iterator[Issue]:
    """For each map, all keys and values whose types differ from those of entry 0."""
    for node, exempt in nodes:
        if exempt or not isinstance(node, MapExpr):
            continue
        first: tuple[Type, Type] | None = None
        for entry in node.entries:
            key = checked.types[entry.key.id]
            value = _part_type(checked, entry.value, optional=entry.optional)
            first = first or (key, value)
            if key != first[0]:
                yield _mismatch(entry.key, first[0], key)
            if value != first[1]:
                yield _mismatch(entry.value, first[1], value)


def _part_type(checked: Checked, part: Expr, *, optional: bool) -> Type:
    """The type of a part; for `?x` the type inside the optional, unless that is dyn."""
    type_ = checked.types[part.id]
    return type_.parameters[0] if optional and is_optional(type_) else type_


def _mismatch(part: Expr, expected: Type, found: Type) -> Issue:
    message = f"expected type '{describe(expected)}' but found '{describe(found)}'"
    return Issue(part.offset, message)


def _bad_constants(checked: Checked, calls: Sequence[Call]) -> Iterator[Issue]:
    """Literals that cannot be parsed. Like upstream, checks argument 0 even of `matches(s, re)`."""
    for function in _LITERAL_CHECKS:
        for call in calls:
            if checked.names.get(call.id, call.function) != function:
                continue
            argument = call.args[0]
            if isinstance(argument, Constant) and not _is_valid(function, argument):
                yield Issue(argument.offset, f"invalid {function} argument")


def _is_valid(function: str, constant: Constant) -> bool:
    if isinstance(constant.value, int):
        # Upstream declares `duration(int)` but does not implement it.
        return function == "timestamp" and FIRST_SECOND <= constant.value <= LAST_SECOND
    if not isinstance(constant.value, str):
        return False
    try:
        _LITERAL_CHECKS[function](constant.value)
    except TooLargeError:  # valid upstream; the plan says why it is refused
        return True
    except EvaluationError:
        return False
    return True


def _bad_formats(checked: Checked, calls: Sequence[Call]) -> Iterator[Issue]:
    """For calls whose format string and argument list are both literals."""
    for call in calls:
        if call.function != "format" or not isinstance(call.target, Constant):
            continue
        arguments = call.args[0]
        if isinstance(arguments, ListExpr):
            issue = format_issue(checked, call, str(call.target.value), arguments.elements)
            if issue is not None:
                yield issue
