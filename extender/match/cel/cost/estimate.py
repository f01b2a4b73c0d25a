"""The worst-case cost of an expression over all taints, as upstream estimates it at admission."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from extender.match.cel.check.notes import Checked
from extender.match.cel.cost.sizes import COMPUTED, ELSEWHERE, KnownSizes, Variable, below
from extender.match.cel.library import OVERLOADS
from extender.match.cel.library.estimates import (
    LIST_BASE,
    MAP_BASE,
    NOTHING,
    ONE,
    STRUCT_BASE,
    ZERO,
    Bounds,
    Entries,
    Estimate,
    Operand,
)
from extender.match.cel.library.functions import Overload
from extender.match.cel.syntax.ast import (
    Call,
    Constant,
    Expr,
    Fold,
    Ident,
    ListExpr,
    MapExpr,
    Select,
    StructExpr,
)

_INDEXES: Final = frozenset({"index_list", "index_map"})

_Step = Callable[[], None]


def estimate(checked: Checked) -> int:
    """The worst-case cost, 2**64 - 1 at most."""
    return _Walk(checked).cost_of_root()


def estimate_call(overload: Overload, operands: Sequence[Operand]) -> Estimate:
    """The estimate of a call, operands included."""
    found = overload.estimate(*operands)
    if found.covers_operands:
        return found
    cost = found.cost
    for operand in operands:
        cost += operand.cost
    return Estimate(cost, found.size, found.entries)


class _Walk:
    """One pass over the AST, children first, without recursion: macros nest deeply."""

    def __init__(self, checked: Checked) -> None:
        self._checked = checked
        self._known = KnownSizes(checked.types)
        self._costs: dict[int, Bounds] = {}
        self._todo: list[_Step] = []

    def cost_of_root(self) -> int:
        root = self._checked.root
        self._visit(root)
        while self._todo:
            self._todo.pop()()
        return self._costs[root.id].most

    def _plan(self, *steps: Expr | _Step) -> None:
        """Take these steps next, in this order."""
        for step in reversed(steps):
            self._todo.append(partial(self._visit, step) if isinstance(step, Expr) else step)

    def _visit(self, expr: Expr) -> None:
        match expr:
            case Ident():
                self._visit_name(expr, expr.name)
            case Select():
                self._visit_select(expr)
            case Call():
                self._plan(*self._operands(expr), partial(self._finish_call, expr))
            case ListExpr():
                self._plan(*expr.elements, partial(self._finish_list, expr))
            case MapExpr():
                self._visit_map(expr)
            case StructExpr():
                self._visit_struct(expr)
            case Fold():
                self._visit_fold(expr)
            case _:  # a constant
                self._costs[expr.id] = ZERO

    def _visit_name(self, expr: Expr, written: str) -> None:
        name = self._checked.names.get(expr.id, written.removeprefix("."))
        variable = self._known.variable(name)
        path = below(COMPUTED, name) if variable is None else variable.path
        self._known.learn_path(expr, path)
        self._costs[expr.id] = ONE

    def _visit_select(self, select: Select) -> None:
        if select.id in self._checked.names:
            self._visit_name(select, select.field)
        else:
            self._plan(select.operand, partial(self._finish_select, select))

    def _finish_select(self, select: Select) -> None:
        cost = self._costs[select.operand.id]
        if not select.test_only:
            if self._checked.types[select.operand.id].kind in ("map", "object"):
                cost += ONE
            self._known.learn_path(select, below(self._known.path(select.operand), select.field))
        self._costs[select.id] = cost

    def _operands(self, call: Call) -> tuple[Expr, ...]:
        if call.target is None or call.id in self._checked.names:
            return call.args
        return (call.target, *call.args)

    def _finish_call(self, call: Call) -> None:
        function = self._checked.names.get(call.id, call.function.removeprefix("."))
        if function == "dyn":
            self._costs[call.id] = ONE + self._costs[call.args[0].id]
            self._known.copy(call.args[0], call)
            return
        operands = tuple(map(self._operand, self._operands(call)))
        cost = NOTHING
        size: Bounds | None = None
        for overload in self._checked.overloads[call.id]:
            found = estimate_call(OVERLOADS[overload], operands)
            cost |= found.cost
            self._known.learn(call, None, found.entries)
            size = _united(size, found.size)
            if overload in _INDEXES:
                size = self._size_found(call)
            if size is None:
                size = self._known.size(call)
        self._costs[call.id] = cost
        self._known.learn(call, size, None)

    def _size_found(self, index: Call) -> Bounds | None:
        self._known.learn_path(index, ELSEWHERE)
        entries = self._known.entries(index.args[0])
        return None if entries is None else entries.value

    def _operand(self, expr: Expr) -> Operand:
        return Operand(
            expr,
            self._checked.types[expr.id],
            self._costs[expr.id],
            self._known.size(expr),
            self._known.entries(expr),
        )

    def _finish_list(self, literal: ListExpr) -> None:
        self._costs[literal.id] = self._sum(literal.elements) + LIST_BASE
        self._known.learn(literal, None, Entries("list", ONE, self._union(literal.elements)))

    def _visit_map(self, literal: MapExpr) -> None:
        parts = [part for entry in literal.entries for part in (entry.key, entry.value)]
        self._plan(*parts, partial(self._finish_map, literal))

    def _finish_map(self, literal: MapExpr) -> None:
        keys = [entry.key for entry in literal.entries]
        values = [entry.value for entry in literal.entries]
        self._costs[literal.id] = self._sum(keys) + self._sum(values) + MAP_BASE
        entries = Entries("map", self._union(keys), self._union(values))
        self._known.learn(literal, None, entries)

    def _visit_struct(self, literal: StructExpr) -> None:
        values = [field.value for field in literal.fields]
        self._plan(*values, partial(self._finish_struct, literal))

    def _finish_struct(self, literal: StructExpr) -> None:
        values = [field.value for field in literal.fields]
        self._costs[literal.id] = self._sum(values) + STRUCT_BASE

    def _visit_fold(self, fold: Fold) -> None:
        is_bind = fold.macro == "bind"
        loop: tuple[Expr | _Step, ...] = (
            partial(self._enter_loop, fold),
            fold.condition,
            fold.step,
            partial(self._leave_loop, fold),
        )
        self._plan(
            fold.range,
            fold.init,
            partial(self._enter_accumulator, fold),
            *(() if is_bind else loop),
            fold.result,
            partial(self._known.leave, fold.accumulator),
            partial(self._finish_bind if is_bind else self._finish_fold, fold),
        )

    def _enter_accumulator(self, fold: Fold) -> None:
        known, init = self._known, fold.init
        variable = Variable(known.path(init), known.size(init), known.entries(init))
        known.enter(fold.accumulator, variable)

    def _enter_loop(self, fold: Fold) -> None:
        """Declare the loop variables: element or key; with two, index or key and value."""
        known = self._known
        entries = known.entries(fold.range)
        if entries is None:
            is_list = self._checked.types[fold.range.id].kind == "list"
            key = value = Variable(ELSEWHERE, None)
        else:
            is_list = entries.container == "list"
            key, value = Variable(ELSEWHERE, entries.key), Variable(ELSEWHERE, entries.value)
        if fold.variable2:
            known.enter(fold.variable, key)
            known.enter(fold.variable2, value)
        else:
            known.enter(fold.variable, value if is_list else key)

    def _leave_loop(self, fold: Fold) -> None:
        self._known.leave(fold.variable)
        if fold.variable2:
            self._known.leave(fold.variable2)

    def _finish_fold(self, fold: Fold) -> None:
        known, count = self._known, self._known.size_or_unknown(fold.range)
        each = self._sum((fold.condition, fold.step))
        self._costs[fold.id] = self._sum((fold.range, fold.init, fold.result)) + count * each
        if isinstance(fold.init, Constant):
            known.copy(fold.init, fold)
        else:  # the accumulator starts as an empty list or map
            known.learn(fold, count, known.entries(fold.step))

    def _finish_bind(self, fold: Fold) -> None:
        self._costs[fold.id] = self._sum((fold.range, fold.init, fold.result))
        self._known.copy(fold.result, fold)

    def _sum(self, exprs: Sequence[Expr]) -> Bounds:
        total = ZERO
        for expr in exprs:
            total += self._costs[expr.id]
        return total

    def _union(self, exprs: Sequence[Expr]) -> Bounds:
        if not exprs:
            return ZERO
        union = NOTHING
        for expr in exprs:
            union |= self._known.size_or_unknown(expr)
        return union


def _united(first: Bounds | None, second: Bounds | None) -> Bounds | None:
    """The union of two sizes; if one is unknown, the other."""
    if first is None or second is None:
        return first if second is None else second
    return first | second
