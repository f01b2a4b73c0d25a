import pytest

from extender.match.cel.equality import equals
from extender.match.cel.library.formats import NamedFormat
from extender.match.cel.values import NONE, OptionalValue, Value, size, type_name
from tests.match.cel.library.calls import RUN

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    r"for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL_1035 = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)
NAME = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
LABEL_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
LONG = "must be no more than 63 characters"
LONG_NAME = "must be no more than 63 bytes"
KEY = (
    f"a valid label key {NAME} with an optional DNS subdomain prefix and '/' "
    "(e.g. 'example.com/MyName')"
)
UUID = "123e4567-e89b-12d3-a456-426614174000"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("dns1123Label", "a-1", [], id="a label"),
        pytest.param("dns1123Label", "1", [], id="a label of a digit"),
        pytest.param("dns1123Label", "a" * 63, [], id="a long label"),
        pytest.param("dns1123Label", "a" * 64, [LONG], id="too long a label"),
        pytest.param("dns1123Label", "A" * 64, [LONG, LABEL], id="too long, and not lower case"),
        pytest.param("dns1123Label", "é" * 32, [LONG, LABEL], id="length is in bytes"),
        pytest.param("dns1123Label", "a.b", ["must not contain dots"], id="dots in a label"),
        pytest.param("dns1123Label", "a-", [LABEL], id="a label ends in a dash"),
        pytest.param("dns1123Label", "", [LABEL], id="no label"),
        pytest.param("dns1123Label", "a\n", [LABEL], id="a label and the end of a line"),
        pytest.param("dns1123LabelPrefix", "a-", [], id="a prefix may end in a dash"),
        pytest.param("dns1123LabelPrefix", "A-", [], id="what is before the dash is not seen"),
        pytest.param("dns1123LabelPrefix", "a--", [], id="not even another dash"),
        pytest.param("dns1123LabelPrefix", "-", [LABEL], id="a dash is no prefix"),
        pytest.param("dns1123LabelPrefix", "é-", [LABEL], id="half a character is left"),
        pytest.param("dns1123LabelPrefix", "ab", [], id="a prefix without a dash"),
        pytest.param("dns1123Subdomain", "a.b-c.1", [], id="a subdomain"),
        pytest.param("dns1123Subdomain", "a..b", [SUBDOMAIN], id="two dots"),
        pytest.param("dns1123Subdomain", "a-.b", [SUBDOMAIN], id="a part ends in a dash"),
        pytest.param(
            "dns1123Subdomain",
            "a" * 254,
            ["must be no more than 253 characters"],
            id="too long a subdomain",
        ),
        pytest.param("dns1123SubdomainPrefix", "a.b-", [], id="a prefix of a subdomain"),
        pytest.param("dns1123SubdomainPrefix", "a.", [SUBDOMAIN], id="a prefix ends in a dot"),
        pytest.param("dns1035Label", "a1", [], id="a label that starts with a letter"),
        pytest.param("dns1035Label", "1a", [LABEL_1035], id="a label starts with a digit"),
        pytest.param("dns1035LabelPrefix", "ab-", [], id="a prefix of it"),
        pytest.param("qualifiedName", "a_B.c", [], id="a name"),
        pytest.param("qualifiedName", "example.com/a", [], id="a name with a prefix"),
        pytest.param("qualifiedName", "a/b/c", [KEY], id="two slashes"),
        pytest.param(
            "qualifiedName", "", ["name part must be non-empty", f"name part {NAME}"], id="no name"
        ),
        pytest.param("qualifiedName", "/a", ["prefix part must be non-empty"], id="no prefix"),
        pytest.param("qualifiedName", "A/a", [f"prefix part {SUBDOMAIN}"], id="a bad prefix"),
        pytest.param(
            "qualifiedName",
            "a" * 254 + "/" + "a" * 64,
            ["prefix part must be no more than 253 bytes", f"name part {LONG_NAME}"],
            id="too long a prefix and a name",
        ),
        pytest.param("qualifiedName", "a-", [f"name part {NAME}"], id="a name ends in a dash"),
        pytest.param("labelValue", "", [], id="an empty value"),
        pytest.param("labelValue", "A.b_c-1", [], id="a value"),
        pytest.param("labelValue", "a" * 64, [LONG_NAME], id="too long a value"),
        pytest.param("labelValue", "_" * 64, [LONG_NAME, LABEL_VALUE], id="a value of marks"),
        pytest.param("uri", "http://a/b", [], id="a URI"),
        pytest.param("uri", "a", ['parse "a": invalid URI for request'], id="no URI"),
    ],
)
def test_faults(name: str, text: str, expected: list[str]) -> None:
    assert validate(name, text) == expected


def validate(name: str, text: str) -> Value:
    found = RUN["format-validate"](RUN[f"format.{name}"](), text)
    assert isinstance(found, OptionalValue)
    return found.value if found.present else []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("uuid", UUID, True, id="a UUID"),
        pytest.param("uuid", UUID.upper().replace("-", ""), True, id="in upper case, no dashes"),
        pytest.param("uuid", UUID[:-1], False, id="a digit less"),
        pytest.param("uuid", UUID + "\n", False, id="a UUID and the end of a line"),
        pytest.param("byte", "aGVsbG8=", True, id="base64"),
        pytest.param("byte", "+/==", True, id="base64 of one byte"),
        pytest.param("byte", "", False, id="base64 of nothing"),
        pytest.param("byte", "aGVsbG8", False, id="base64 without its end"),
        pytest.param("byte", "a===", False, id="base64 with too much of an end"),
        pytest.param("byte", "_-==", False, id="base64 of URLs"),
        pytest.param("date", "2024-02-29", True, id="a date"),
        pytest.param("date", "2023-02-29", False, id="a day that was not"),
        pytest.param("date", "0000-02-29", True, id="year 0 has the day"),
        pytest.param("date", "2024-13-01", False, id="a thirteenth month"),
        pytest.param("date", "2024-1-1", False, id="a date of single digits"),
        pytest.param(
            "date", "\u0662\u0660\u0662\u0664-01-01", False, id="digits of another script"
        ),
        pytest.param("datetime", "2024-01-01T23:59:59Z", True, id="a time"),
        pytest.param("datetime", "2024-01-01t23:59:59.123+05:30", True, id="with an offset"),
        pytest.param("datetime", "2024-01-01T00:00:00-99:99", True, id="with any offset"),
        pytest.param("datetime", "2024-01-01T00:00:00x5z", True, id="any mark for the point"),
        pytest.param("datetime", "2024-01-01T00:00:00ZTx", True, id="what is behind a second T"),
        pytest.param("datetime", "2024-01-01T24:00:00Z", False, id="hour 24"),
        pytest.param("datetime", "2024-01-01T00:60:00Z", False, id="minute 60"),
        pytest.param("datetime", "2024-01-01T00:00:60Z", False, id="a leap second"),
        pytest.param("datetime", "2024-01-01T00:00:00", False, id="no offset"),
        pytest.param("datetime", "2024-01-01 00:00:00Z", False, id="no T"),
        pytest.param("datetime", "2024-01-32T00:00:00Z", False, id="no date"),
    ],
)
def test_formats_with_one_fault(name: str, text: str, expected: bool) -> None:
    faults = {
        "uuid": "does not match the UUID format",
        "byte": "invalid base64",
        "date": "invalid date",
        "datetime": "invalid datetime",
    }
    assert validate(name, text) == ([] if expected else [faults[name]])


def test_named() -> None:
    found = RUN["format-named"]("dns1123Label")
    assert isinstance(found, OptionalValue)
    assert found.value is RUN["format.dns1123Label"]()
    assert RUN["format-named"]("DNS1123Label") is NONE


def test_equality() -> None:
    uuid, byte = RUN["format.uuid"](), RUN["format.byte"]()
    assert equals(uuid, uuid)
    assert not equals(uuid, byte)
    assert len({uuid, byte}) == 2


def test_value() -> None:
    uuid = RUN["format.uuid"]()
    assert isinstance(uuid, NamedFormat)
    assert (type_name(uuid), size(uuid), uuid.regex_size) == ("kubernetes.NamedFormat", 1, 70)
