"""Named formats: Kubernetes' rules for names and labels, and some of OpenAPI's string formats.

The texts are those of apimachinery's validation, the regular expressions in them included.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import ClassVar, Final

from msgspec import Struct

from extender.match.cel.library.charges import Charge, quarter, tenth
from extender.match.cel.library.estimates import REGEX, TRAVERSAL, Estimate, Operand
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.library.url import request_uri_fault
from extender.match.cel.values import NONE, OptionalValue, Value, size

Check = Callable[[str], list[str]]

_LABEL_FORMAT: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_TEXT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    f"for validation is '{_LABEL_FORMAT}')"
)
_SUBDOMAIN_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    rf"for validation is '{_LABEL_FORMAT}(\.{_LABEL_FORMAT})*')"
)
_LABEL_1035_TEXT: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
_NAME_FORMAT: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_NAME_TEXT: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{_NAME_FORMAT}')"
)
_LABEL_VALUE_TEXT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    f"or '12345', regex used for validation is '({_NAME_FORMAT})?')"
)

# The same languages as in the error texts, but possessive: no backtracking.
_LABEL: Final = re.compile(rb"[a-z0-9][-a-z0-9]*+(?<!-)")
_SUBDOMAIN: Final = re.compile(rb"[a-z0-9][-a-z0-9]*+(?<!-)(?:\.[a-z0-9][-a-z0-9]*+(?<!-))*+")
_LABEL_1035: Final = re.compile(rb"[a-z][-a-z0-9]*+(?<!-)")
_NAME: Final = re.compile(rb"[A-Za-z0-9][-A-Za-z0-9_.]*+(?<![-_.])")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]++={0,2}")
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME: Final = re.compile(
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})"
)
_LEAP_YEAR: Final = 2000
_PATTERN_SIZE: Final = 128  # upstream's estimate for any format


class NamedFormat(Struct, frozen=True, gc=False):
    """A format. `regex_size` is the pattern length that upstream charges a validation for."""

    type_name: ClassVar[str] = "kubernetes.NamedFormat"

    name: str
    check: Check
    regex_size: int


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _length_faults(data: bytes, limit: int, unit: str = "characters") -> list[str]:
    # Upstream has two such texts; both count bytes.
    return [f"must be no more than {limit} {unit}"] if len(data) > limit else []


def _label_faults(data: bytes) -> list[str]:
    faults = _length_faults(data, 63)
    if not _LABEL.fullmatch(data):
        faults.append("must not contain dots" if _SUBDOMAIN.fullmatch(data) else _LABEL_TEXT)
    return faults


def _subdomain_faults(data: bytes, unit: str = "characters") -> list[str]:
    faults = _length_faults(data, 253, unit)
    return faults if _SUBDOMAIN.fullmatch(data) else [*faults, _SUBDOMAIN_TEXT]


def _label_1035_faults(data: bytes) -> list[str]:
    faults = _length_faults(data, 63)
    return faults if _LABEL_1035.fullmatch(data) else [*faults, _LABEL_1035_TEXT]


def _whole(faults: Callable[[bytes], list[str]]) -> Check:
    return lambda text: faults(_encoded(text))


def _prefix(faults: Callable[[bytes], list[str]]) -> Check:
    """The check of the prefix of a generated name: it may end in a dash."""

    def check(text: str) -> list[str]:
        data = _encoded(text)
        # Upstream drops the byte before the dash as well.
        return faults(data[:-2] + b"a" if len(data) > 1 and data.endswith(b"-") else data)

    return check


def _qualified_name_faults(text: str) -> list[str]:
    parts = _encoded(text).split(b"/")
    if len(parts) > 2:
        example = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a valid label key {_NAME_TEXT} {example}"]
    faults = []
    if len(parts) == 2:
        prefix_faults = _subdomain_faults(parts[0], "bytes") if parts[0] else ["must be non-empty"]
        faults = [f"prefix part {fault}" for fault in prefix_faults]
    name = parts[-1]
    name_faults = _length_faults(name, 63, "bytes") if name else ["must be non-empty"]
    if not _NAME.fullmatch(name):
        name_faults.append(_NAME_TEXT)
    return faults + [f"name part {fault}" for fault in name_faults]


def _label_value_faults(text: str) -> list[str]:
    data = _encoded(text)
    faults = _length_faults(data, 63, "bytes")
    return faults if not data or _NAME.fullmatch(data) else [*faults, _LABEL_VALUE_TEXT]


def _uri_faults(text: str) -> list[str]:
    fault = request_uri_fault(text)
    return [] if fault is None else [fault]


def _one_fault(is_valid: Callable[[str], bool], fault: str) -> Check:
    return lambda text: [] if is_valid(text) else [fault]


def _is_uuid(text: str) -> bool:
    return _UUID.fullmatch(text) is not None


def _is_base64(text: str) -> bool:
    return len(text) % 4 == 0 and _BASE64.fullmatch(text) is not None


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = map(int, match.groups())
    try:
        date(year or _LEAP_YEAR, month, day)  # Python knows no year 0
    except ValueError:
        return False
    return True


def _is_datetime(text: str) -> bool:
    # Upstream ignores everything behind a second T.
    day, *times = text.replace("T", "t").replace("Z", "z").split("t", 2)
    match = _TIME.fullmatch(times[0]) if times else None
    if match is None or not _is_date(day):
        return False
    hour, minute, second = match.groups()
    return hour <= "23" and minute <= "59" and second <= "59"


_FORMATS: Final[Mapping[str, NamedFormat]] = {
    "dns1123Label": NamedFormat("DNS1123Label", _whole(_label_faults), 30),
    "dns1123Subdomain": NamedFormat("DNS1123Subdomain", _whole(_subdomain_faults), 60),
    "dns1035Label": NamedFormat("DNS1035Label", _whole(_label_1035_faults), 30),
    "qualifiedName": NamedFormat("QualifiedName", _qualified_name_faults, 60),
    "dns1123LabelPrefix": NamedFormat("DNS1123LabelPrefix", _prefix(_label_faults), 30),
    "dns1123SubdomainPrefix": NamedFormat("DNS1123SubdomainPrefix", _prefix(_subdomain_faults), 60),
    "dns1035LabelPrefix": NamedFormat("DNS1035LabelPrefix", _prefix(_label_1035_faults), 30),
    "labelValue": NamedFormat("LabelValue", _label_value_faults, 40),
    "uri": NamedFormat("URI", _uri_faults, 1103),
    "uuid": NamedFormat("uuid", _one_fault(_is_uuid, "does not match the UUID format"), 70),
    "byte": NamedFormat("byte", _one_fault(_is_base64, "invalid base64"), 84),
    "date": NamedFormat("date", _one_fault(_is_date, "invalid date"), 71),
    "datetime": NamedFormat("datetime", _one_fault(_is_datetime, "invalid datetime"), 71),
}


def _named(name: str) -> OptionalValue:
    found = _FORMATS.get(name)
    return NONE if found is None else OptionalValue(found)


def _validate(named_format: NamedFormat, text: str) -> OptionalValue:
    faults = named_format.check(text)
    return OptionalValue(faults) if faults else NONE


def _always(named_format: NamedFormat) -> Callable[[], Value]:
    return lambda: named_format


def _estimate_validate(_: Operand, text: Operand) -> Estimate:
    return Estimate(text.size.scaled(TRAVERSAL).scaled(_PATTERN_SIZE * REGEX))


def _charge_validate(named_format: Value, text: Value) -> int:
    pattern_size = getattr(named_format, "regex_size", None)
    if pattern_size is None:  # the format is an error
        return 1
    return tenth(1 + size(text)) * quarter(pattern_size)


FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "format.named", overload("format-named", "(string) -> optional(named_format)", _named)
    ),
    *(
        function(f"format.{name}", overload(f"format.{name}", "() -> named_format", _always(each)))
        for name, each in _FORMATS.items()
    ),
    function(
        "validate",
        overload("format-validate", "named_format.(string) -> optional(list(string))", _validate),
        estimate=_estimate_validate,
        charge=Charge(by_arguments=_charge_validate),
    ),
)
