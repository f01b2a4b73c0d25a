"""What is wrong with a field, in the form and the words of the API server's own validation."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

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
# Go's JSON is safe to stand in HTML and in JavaScript.
_GO_JSON: Final = str.maketrans(
    {char: f"\\u{ord(char):04x}" for char in ("<", ">", "&", "\u2028", "\u2029")}
)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field, why it is refused, and the value as it is shown; not every reason shows it."""

    reason: Reason
    field: str
    shown: str
    detail: str

    @property
    def message(self) -> str:
        """All but the field."""
        parts = (_WORDS[self.reason], self.shown, self.detail)
        return ": ".join(part for part in parts if part)

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def invalid(field: str, value: str, detail: str) -> FieldError:
    """A value that is malformed."""
    return FieldError("FieldValueInvalid", field, go_quote(value), detail)


def invalid_name(field: str, value: str, detail: str) -> FieldError:
    """An operator or effect that does not fit: Go shows values of its own types as JSON."""
    return FieldError("FieldValueInvalid", field, _go_json(value), detail)


def invalid_number(field: str, value: int, detail: str) -> FieldError:
    """A number out of range."""
    return FieldError("FieldValueInvalid", field, str(value), detail)


def unsupported(field: str, value: str, supported: Iterable[str]) -> FieldError:
    """An operator or effect that is none of the known ones."""
    known = ", ".join(go_quote(name) for name in supported)
    detail = f"supported values: {known}"
    return FieldError("FieldValueNotSupported", field, _go_json(value), detail)


def required(field: str, detail: str) -> FieldError:
    """Something that is missing."""
    return FieldError("FieldValueRequired", field, "", detail)


def forbidden(field: str, detail: str) -> FieldError:
    """Something that may not be there."""
    return FieldError("FieldValueForbidden", field, "", detail)


def too_long(field: str, limit: int) -> FieldError:
    """A text of more than so many bytes."""
    return FieldError("FieldValueTooLong", field, "", f"may not be more than {limit} bytes")


def summary(errors: Iterable[FieldError]) -> str:
    """All of them in one line as Go joins errors: the same one is said once."""
    sentences = list(dict.fromkeys(map(str, errors)))
    return sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"


def _go_json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).translate(_GO_JSON)
