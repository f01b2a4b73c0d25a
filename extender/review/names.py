"""Why a text is not a label key, a label value or a name, in the API server's words."""

import re
from collections.abc import Iterator
from typing import Final

_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_VALUE: Final = f"({_NAME})?"

_NAME_MAX: Final = 63
_SUBDOMAIN_MAX: Final = 253

_EMPTY: Final = "must be non-empty"
_NAME_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an"
    f" alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
    f" validation is '{_NAME}')"
)
_VALUE_RULE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or"
    " '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or"
    f" 'my_value',  or '12345', regex used for validation is '{_VALUE}')"
)
_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
    " '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex"
    f" used for validation is '{_SUBDOMAIN}')"
)
_PREFIX_RULE: Final = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"


def label_key_problems(text: str) -> Iterator[str]:
    """Why `text` cannot be the key of a label or a taint."""
    parts = text.split("/")
    if len(parts) > 2:
        yield f"a valid label key {_NAME_RULE}{_PREFIX_RULE}"
        return
    *prefix, name = parts
    for each in prefix:
        problems = _subdomain_problems(each, "bytes") if each else iter((_EMPTY,))
        yield from (f"prefix part {problem}" for problem in problems)
    if not name:
        yield f"name part {_EMPTY}"
    elif _size(name) > _NAME_MAX:
        yield f"name part {_too_long(_NAME_MAX)}"
    if not re.fullmatch(_NAME, name):
        yield f"name part {_NAME_RULE}"


def label_value_problems(text: str) -> Iterator[str]:
    """Why `text` cannot be the value of a label or a taint."""
    if _size(text) > _NAME_MAX:
        yield _too_long(_NAME_MAX)
    if not re.fullmatch(_VALUE, text):
        yield _VALUE_RULE


def node_name_problems(text: str) -> Iterator[str]:
    """Why `text` cannot be the name of a node."""
    # Upstream counts bytes here too, whatever it says.
    return _subdomain_problems(text, "characters")


def _subdomain_problems(text: str, unit: str) -> Iterator[str]:
    if _size(text) > _SUBDOMAIN_MAX:
        yield _too_long(_SUBDOMAIN_MAX, unit)
    if not re.fullmatch(_SUBDOMAIN, text):
        yield _SUBDOMAIN_RULE


def _too_long(limit: int, unit: str = "bytes") -> str:
    return f"must be no more than {limit} {unit}"


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))
