"""Quantities such as `500m` and `16Gi`, as apimachinery's resource.Quantity keeps them.

Small ones are an integer of 64 bits and a power of ten, and only these count as integers; all
others are decimals. Upstream turns the first into the second in place when it compares them, so
there a quantity in a variable may stop to be an integer; here nothing changes.
"""

import math
import re
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_UP, Context, Decimal
from typing import ClassVar, Final

from extender.match.cel.faults import CostLimitError, EvaluationError
from extender.match.cel.library.charges import BY_FIRST, PARSED
from extender.match.cel.library.estimates import traversal
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.values import COST_LIMIT_EXCEEDED, INT_MAX, INT_MIN

_FORMAT: Final = re.compile(
    r"([+-]?)(0*+)([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[-+]?+[0-9]*+)"
)
_FORMAT_WRONG: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_SUFFIX_WRONG: Final = "unable to parse quantity's suffix"
_EXPONENT: Final = re.compile(r"[eE]([+-]?)0*+([0-9]*+)")
_DECIMAL_SUFFIXES: Final = dict(
    zip(("n", "u", "m", "", "k", "M", "G", "T", "P", "E"), range(-9, 19, 3), strict=True)
)
_BINARY_SUFFIXES: Final = dict(
    zip(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), range(10, 61, 10), strict=True)
)
_INT_DIGITS: Final = 19
_FIXED_DIGITS: Final = 18
_BINARY_FIXED_DIGITS: Final = 14
_NANO: Final = -9
_ONE_NANO: Final = Decimal((0, (1,), _NANO))
# Twice the longest expression. Upstream would write out 1e999999999 digit by digit.
_MAX_DIGITS: Final = 20_000
_EXACT: Final = Context(
    prec=_MAX_DIGITS + 40, rounding=ROUND_UP, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[]
)
_MOST: Final = Decimal(INT_MAX)  # of binary quantities; decimal ones have no bound


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """An amount, and the power of ten of its last digit.

    `value` is the integer of 64 bits that it is kept in, None if it is kept as a decimal.
    """

    type_name: ClassVar[str] = "kubernetes.Quantity"

    amount: Decimal
    scale: int
    value: int | None = None
    computed: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantity):
            return False
        if other.computed:
            # Upstream's equality does not accept a computed quantity on the right.
            raise EvaluationError("no such overload")
        return self.amount == other.amount

    def __hash__(self) -> int:
        return hash(self.amount)


def parse(text: str) -> Quantity:
    """The quantity that a text says; rounded away from zero to a billionth."""
    match = _FORMAT.fullmatch(text)
    if match is None or not text:
        raise EvaluationError(_FORMAT_WRONG)
    sign, zeros, whole, fraction, suffix = match.groups(default="")
    binary = _BINARY_SUFFIXES.get(suffix)
    scale = (0 if binary is not None else _decimal_exponent(suffix)) - len(fraction)
    digits = (whole or "0") + fraction
    if _fits(len(digits), scale, binary):
        value = int(digits) << (binary or 0)
        return _fixed(-value if sign == "-" else value, scale)
    if not (zeros or whole or fraction):
        raise EvaluationError("unable to parse numeric part of quantity")
    if len(digits) > _MAX_DIGITS:
        raise CostLimitError(COST_LIMIT_EXCEEDED)
    return _decimal(Decimal(f"{digits}E{scale}"), scale, binary, is_negative=sign == "-")


def _decimal_exponent(suffix: str) -> int:
    exponent = _DECIMAL_SUFFIXES.get(suffix)
    if exponent is not None:
        return exponent
    match = _EXPONENT.fullmatch(suffix)
    if match is None or suffix[-1] in "eE+-" or len(match[2]) > _INT_DIGITS:
        raise EvaluationError(_SUFFIX_WRONG)
    exponent = int(match[1] + (match[2] or "0"))
    if not INT_MIN <= exponent <= INT_MAX:
        raise EvaluationError(_SUFFIX_WRONG)
    return (exponent + (1 << 31)) % (1 << 32) - (1 << 31)  # cut to 32 bits, as upstream does


def _fits(digits: int, scale: int, binary: int | None) -> bool:
    """Whether upstream keeps so many digits in 64 bits; it decides by the count alone."""
    if binary is None:
        return digits <= _FIXED_DIGITS and scale >= _NANO
    return digits + binary * 3 // 10 <= _BINARY_FIXED_DIGITS and scale == 0


def _fixed(value: int, scale: int, *, computed: bool = False) -> Quantity:
    return Quantity(Decimal(f"{value}E{scale}"), scale, value, computed)


def _decimal(amount: Decimal, scale: int, binary: int | None, *, is_negative: bool) -> Quantity:
    if not amount:
        return Quantity(amount, scale)
    if binary is not None:
        amount = _EXACT.multiply(amount, Decimal(1 << binary))
    if amount.adjusted() - _NANO >= _MAX_DIGITS:
        raise CostLimitError(COST_LIMIT_EXCEEDED)
    amount, scale = amount.quantize(_ONE_NANO, context=_EXACT), _NANO
    if binary is not None and amount > _MOST:
        amount, scale = _MOST, 0
    return Quantity(amount.copy_negate() if is_negative else amount, scale)


def _is_quantity(text: str) -> bool:
    try:
        parse(text)
    except EvaluationError:
        return False
    return True


def _compare(a: Quantity, b: Quantity) -> int:
    return (a.amount > b.amount) - (a.amount < b.amount)


def _sign(quantity: Quantity) -> int:
    return (quantity.amount > 0) - (quantity.amount < 0)


def _as_integer(quantity: Quantity) -> int | None:
    return None if quantity.value is None else _scaled(quantity.value, quantity.scale)


def _scaled(value: int, scale: int) -> int | None:
    """The value times ten to that power, if it is an integer of 64 bits."""
    if not value or scale < 0:
        return 0 if scale >= 0 else None
    scaled = value * 10 ** min(scale, _INT_DIGITS)
    return scaled if INT_MIN <= scaled <= INT_MAX else None


def _get_integer(quantity: Quantity) -> int:
    integer = _as_integer(quantity)
    if integer is None:
        raise EvaluationError("cannot convert value to integer")
    return integer


def _approximate(quantity: Quantity) -> float:
    if quantity.value is not None:
        base = float(quantity.value)
    else:
        base = float(quantity.amount.scaleb(-quantity.scale, context=_EXACT))
    return base * _power_of_ten(quantity.scale) if quantity.scale else base


def _power_of_ten(exponent: int) -> float:
    # Go multiplies or divides two powers from tables, and so may be one bit off.
    if exponent > 308:
        return math.inf
    if exponent < -323:
        return 0.0
    high, low = divmod(abs(exponent), 32)
    if exponent > 0:
        return float(f"1e{high * 32}") * float(f"1e{low}")
    return float(f"1e-{high * 32}") / float(f"1e{low}")


def _add(a: Quantity, b: Quantity) -> Quantity:
    total = _add_fixed(a, b.value, b.scale)
    return total or _add_decimals(a, b.amount, b.scale)


def _subtract(a: Quantity, b: Quantity) -> Quantity:
    # The lowest integer has no opposite in 64 bits: it is its own.
    value = b.value if b.value in (None, INT_MIN) else -b.value
    total = _add_fixed(a, value, b.scale)
    return total or _add_decimals(a, b.amount.copy_negate(), b.scale)


def _add_fixed(quantity: Quantity, value: int | None, scale: int) -> Quantity | None:
    """The sum at the finer of the two scales, or None if that is more than 64 bits."""
    if quantity.value is None or value is None:
        return None
    if not value:
        return _fixed(quantity.value, quantity.scale, computed=True)
    if not quantity.value:
        return _fixed(value, scale, computed=True)
    finer = min(quantity.scale, scale)
    left, right = _scaled(quantity.value, quantity.scale - finer), _scaled(value, scale - finer)
    if left is None or right is None or not INT_MIN <= left + right <= INT_MAX:
        return None
    return _fixed(left + right, finer, computed=True)


def _add_decimals(quantity: Quantity, amount: Decimal, scale: int) -> Quantity:
    finer = min(quantity.scale, scale)
    if max(quantity.amount.adjusted(), amount.adjusted()) - finer >= _MAX_DIGITS:
        raise CostLimitError(COST_LIMIT_EXCEEDED)
    total = _EXACT.add(quantity.amount, amount)
    return Quantity(total or total.copy_abs(), finer, computed=True)


FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "quantity",
        overload("string_to_quantity", "(string) -> quantity", parse),
        estimate=traversal(),
        charge=BY_FIRST,
        work=PARSED,
    ),
    function(
        "isQuantity",
        overload("is_quantity_string", "(string) -> bool", _is_quantity),
        estimate=traversal(),
        charge=BY_FIRST,
        work=PARSED,
    ),
    function("sign", overload("quantity_sign", "(quantity) -> int", _sign)),
    function(
        "isGreaterThan",
        overload(
            "quantity_is_greater_than",
            "quantity.(quantity) -> bool",
            lambda a, b: a.amount > b.amount,
        ),
    ),
    function(
        "isLessThan",
        overload(
            "quantity_is_less_than", "quantity.(quantity) -> bool", lambda a, b: a.amount < b.amount
        ),
    ),
    function("compareTo", overload("quantity_compare_to", "quantity.(quantity) -> int", _compare)),
    function(
        "asApproximateFloat", overload("quantity_get_float", "quantity.() -> double", _approximate)
    ),
    function("asInteger", overload("quantity_get_int", "quantity.() -> int", _get_integer)),
    function(
        "isInteger",
        overload(
            "quantity_is_integer", "quantity.() -> bool", lambda it: _as_integer(it) is not None
        ),
    ),
    function(
        "add",
        overload("quantity_add", "quantity.(quantity) -> quantity", _add),
        overload(
            "quantity_add_int", "quantity.(int) -> quantity", lambda it, n: _add(it, _fixed(n, 0))
        ),
    ),
    function(
        "sub",
        overload("quantity_sub", "quantity.(quantity) -> quantity", _subtract),
        overload(
            "quantity_sub_int",
            "quantity.(int) -> quantity",
            lambda it, n: _subtract(it, _fixed(n, 0)),
        ),
    ),
)
