"""Token sets of the CEL grammar: what may begin a rule, and what may follow it."""

from collections.abc import Mapping
from typing import Final

from extender.match.cel.syntax.lexer import (
    BYTES,
    EOF,
    ESC_IDENTIFIER,
    IDENTIFIER,
    NUM_FLOAT,
    NUM_INT,
    NUM_UINT,
    STRING,
)

Kinds = frozenset[str]

# Precedence and function of the binary operators, except `&&` and `||`.
RELATION: Final = 1
BINARY: Final[Mapping[str, tuple[int, str]]] = {
    "==": (RELATION, "_==_"),
    "!=": (RELATION, "_!=_"),
    "<": (RELATION, "_<_"),
    "<=": (RELATION, "_<=_"),
    ">": (RELATION, "_>_"),
    ">=": (RELATION, "_>=_"),
    "in": (RELATION, "@in"),
    "+": (2, "_+_"),
    "-": (2, "_-_"),
    "*": (3, "_*_"),
    "/": (3, "_/_"),
    "%": (3, "_%_"),
}

CONSTANTS: Final[Kinds] = frozenset(
    {"true", "false", "null", NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES}
)
MEMBER: Final = CONSTANTS | {"[", "{", "(", ".", "-", IDENTIFIER}
EXPRESSION: Final = MEMBER | {"!"}
ELEMENT: Final = EXPRESSION | {"?"}
NAME: Final[Kinds] = frozenset({IDENTIFIER, ESC_IDENTIFIER})
FIELD: Final = NAME | {"?"}

# What may follow an operand: its own suffixes, then operators.
SUFFIX: Final[Kinds] = frozenset({".", "["})
CONDITION: Final[Kinds] = frozenset({*BINARY, "&&", "||", "?"})
CHOICE: Final[Kinds] = frozenset({*BINARY, "&&", "||", ":"})  # between `?` and `:`

# What may follow an expression, by context. Inside a primary, its suffixes may follow as well.
END: Final[Kinds] = frozenset({EOF})
INDEX: Final[Kinds] = frozenset({"]"})
METHOD: Final[Kinds] = frozenset({",", ")"})
FUNCTION: Final = METHOD | SUFFIX
NESTED: Final = SUFFIX | {")"}
LIST: Final = SUFFIX | {",", "]"}
MAP: Final = SUFFIX | {",", "}"}
KEY: Final[Kinds] = frozenset({":"})
