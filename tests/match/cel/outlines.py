"""ASTs as short texts, for tables."""

from extender.match.cel.syntax.ast import (
    Call,
    Constant,
    Expr,
    FieldInit,
    Fold,
    Ident,
    ListExpr,
    MapEntry,
    MapExpr,
    Select,
    StructExpr,
)
from extender.match.cel.syntax.parser import parse
from extender.match.cel.syntax.source import IssuesError, Source, format_issues

_BRACKETS = "'[', '{', '('"
_CONSTANTS = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES"


def parsed(text: str) -> Expr:
    return parse(Source(text))


def outline_of(text: str, *, places: bool = False) -> str:
    return outline(parsed(text), places=places)


def complaints(text: str) -> list[str]:
    """What is said about a faulty expression: without lines of the source, and shortened."""
    source = Source(text)
    try:
        parse(source)
    except IssuesError as error:
        lines = format_issues(source, error.issues).split("\n")
        return [_shortened(line) for line in lines if not line.startswith(" |")]
    return []


def _shortened(line: str) -> str:
    for long, short in (
        ("ERROR: <input>:", ""),
        ("Syntax error: ", ""),
        (f"{{{_BRACKETS}, '.', '-', '!', {_CONSTANTS}, IDENTIFIER}}", "OPERAND"),
    ):
        line = line.replace(long, short)
    return line


def ids_of(root: Expr) -> list[int]:
    """Of every node and every entry."""
    ids: list[int] = []
    pending: list[object] = [root]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            pending.extend(item)
        elif isinstance(item, Expr | MapEntry | FieldInit):
            ids.append(item.id)
            pending.extend(getattr(item, name) for name in item.__struct_fields__)
    return ids


def outline(expr: Expr, *, places: bool = False) -> str:
    """Constants as in Python, calls as in Lisp, a method with a dot before its name."""

    def at(offset: int) -> str:
        return f"@{offset}" if places else ""

    def of(node: Expr) -> str:
        return outline(node, places=places)

    here = at(expr.offset)
    match expr:
        case Constant():
            return f"{expr.value!r}{'u' if expr.kind == 'uint' else ''}{here}"
        case Ident():
            return expr.name + here
        case Select():
            return f"({'has' if expr.test_only else 'get'}{here} {of(expr.operand)} {expr.field})"
        case Call():
            head = f".{expr.function}" if expr.target else expr.function
            parts = [expr.target, *expr.args] if expr.target else [*expr.args]
            return f"({' '.join([head + here, *map(of, parts)])})"
        case ListExpr():
            marks = ["?" if i in expr.optional_indices else "" for i in range(len(expr.elements))]
            elements = zip(marks, map(of, expr.elements), strict=True)
            return f"[{' '.join(mark + text for mark, text in elements)}]{here}"
        case MapExpr():
            entries = [
                f"{'?' * entry.optional}{of(entry.key)}:{at(entry.offset)} {of(entry.value)}"
                for entry in expr.entries
            ]
            return "{" + ", ".join(entries) + "}" + here
        case _:
            return _outline_of_rest(expr, places=places)


def _outline_of_rest(expr: Expr, *, places: bool) -> str:
    here = f"@{expr.offset}" if places else ""
    match expr:
        case StructExpr():
            fields = [
                f"{'?' * field.optional}{field.name}:{f'@{field.offset}' if places else ''}"
                f" {outline(field.value, places=places)}"
                for field in expr.fields
            ]
            return f"{expr.type_name}{{{', '.join(fields)}}}{here}"
        case Fold():
            names = f"{expr.variable},{expr.variable2},{expr.accumulator}"
            parts = (expr.range, expr.init, expr.condition, expr.step, expr.result)
            texts = " ; ".join(outline(part, places=places) for part in parts)
            return f"(fold{here} {expr.macro} {names} {texts})"
        case _:
            return f"nothing{here}"
