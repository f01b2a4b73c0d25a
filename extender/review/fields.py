"""Field errors, in the form and words of the API server's own validation."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from extender.match.shapes import FieldProblem
from extender.match.versions import go_quote

Reason = Literal[
    "FieldValueInvalid",
    "FieldValueRequired",
    "FieldValueNotSupported",
    "FieldValueForbidden",
    "FieldValueTooLong",
]

_WORDS: Final[dict[Reason, str]] = {
    "FieldValueInvalid": "Invalid value",
    "FieldValueRequired": "Required value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueTooLong": "Too long",
}
# Go escapes these in JSON, for use in HTML and JavaScript.
_GO_JSON: Final = str.maketrans(
    {char: f"\\u{ord(char):04x}" for char in ("<", ">", "&", "\u2028", "\u2029")}
)


@dataclass(frozen=True, slots=True)
class FieldError:
    """A field, the reason, the value as shown (may be empty) and the detail."""

    reason: Reason
    field: str
    shown: str
    detail: str
    operator: str | None = None  # the unknown operator that the error is about

    @property
    def message(self) -> str:
        """The message without the field."""
        parts = (_WORDS[self.reason], self.shown, self.detail)
        return ": ".join(part for part in parts if part)

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def invalid(field: str, value: str, detail: str) -> FieldError:
    """A malformed value."""
    return FieldError("FieldValueInvalid", field, go_quote(value), detail)


def invalid_name(field: str, value: str, detail: str) -> FieldError:
    """A wrong operator or effect, which Go shows as JSON."""
    return FieldError("FieldValueInvalid", field, _go_json(value), detail)


def invalid_number(field: str, value: int, detail: str) -> FieldError:
    """A number out of range."""
    return FieldError("FieldValueInvalid", field, str(value), detail)


def wrong_type(path: str, problem: FieldProblem) -> FieldError:
    """A field below `path` that is unknown, or whose value has a wrong type."""
    dot = "" if not path or problem.field.startswith("[") else "."
    at = f"{path}{dot}{problem.field}"
    return FieldError("FieldValueInvalid", at, problem.shown, problem.brief)


def unknown_operator(error: FieldError, operator: str) -> FieldError:
    """The same error; it is about an operator that is unknown, or whose gate is off."""
    return replace(error, operator=operator)


def unsupported(field: str, value: str, supported: Iterable[str]) -> FieldError:
    """An unknown operator or effect."""
    known = ", ".join(go_quote(name) for name in supported)
    detail = f"supported values: {known}"
    return FieldError("FieldValueNotSupported", field, _go_json(value), detail)


def required(field: str, detail: str) -> FieldError:
    """A missing field."""
    return FieldError("FieldValueRequired", field, "", detail)


def forbidden(field: str, detail: str) -> FieldError:
    """A field that must not be set."""
    return FieldError("FieldValueForbidden", field, "", detail)


def too_long(field: str, limit: int) -> FieldError:
    """A text over the limit."""
    return FieldError("FieldValueTooLong", field, "", f"may not be more than {limit} bytes")


def summary(errors: Iterable[FieldError]) -> str:
    """All errors in one line, joined as Go does; duplicates are dropped."""
    sentences = list(dict.fromkeys(map(str, errors)))
    return sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"


def _go_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).translate(_GO_JSON)
