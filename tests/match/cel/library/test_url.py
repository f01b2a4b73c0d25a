import pytest

from extender.match.cel.equality import equals
from extender.match.cel.faults import EvaluationError
from extender.match.cel.values import Value, size, type_name
from tests.match.cel.library.calls import RUN

GETTERS = {
    name: f"url_get_{name}" for name in ("scheme", "host", "hostname", "port", "escaped_path")
}


def url(text: str) -> Value:
    return RUN["string_to_url"](text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "HTTPS://user:pw@Example.com:80/a/b?c=d#e",
            ("https", "Example.com:80", "Example.com", "80", "/a/b"),
            id="all parts",
        ),
        pytest.param("/a/b", ("", "", "", "", "/a/b"), id="a path"),
        pytest.param("*", ("", "", "", "", "*"), id="a star"),
        pytest.param("//host/x", ("", "host", "host", "", "/x"), id="a host without a scheme"),
        pytest.param("///x", ("", "", "", "", "///x"), id="three slashes"),
        pytest.param("mailto:a@b", ("mailto", "", "", "", ""), id="an opaque part"),
        pytest.param("a+b.c-1:/x", ("a+b.c-1", "", "", "", "/x"), id="marks in a scheme"),
        pytest.param("http://a:", ("http", "a:", "a", "", ""), id="an empty port"),
        pytest.param("http://[::1]:8080/", ("http", "[::1]:8080", "::1", "8080", "/"), id="IPv6"),
        pytest.param(
            "http://[fe80::1%25en0]", ("http", "[fe80::1%en0]", "fe80::1%en0", "", ""), id="a zone"
        ),
        pytest.param(
            "http://[fe80::1%25%41%20]",
            ("http", "[fe80::1%A ]", "fe80::1%A ", "", ""),
            id="escapes in a zone",
        ),
        pytest.param("http://%C3%A9%25/", ("http", "é%", "é%", "", "/"), id="escapes in a host"),
        pytest.param("http://%ff/", ("http", "\ufffd", "\ufffd", "", "/"), id="no UTF-8 in a host"),
        pytest.param("db://a:1,b:2/x", ("db", "a:1,b:2", "a:1,b", "2", "/x"), id="a list of hosts"),
        pytest.param("http://a/b c", ("http", "a", "a", "", "/b%20c"), id="a space in a path"),
        pytest.param("http://a/b%2fc%20", ("http", "a", "a", "", "/b%2fc%20"), id="kept escapes"),
        pytest.param("http://a/%41|é", ("http", "a", "a", "", "/A%7C%C3%A9"), id="made anew"),
        pytest.param("http://a/[x]!'()*", ("http", "a", "a", "", "/[x]!'()*"), id="marks are kept"),
    ],
)
def test_parts(text: str, expected: tuple[str, ...]) -> None:
    parsed = url(text)
    assert tuple(RUN[getter](parsed) for getter in GETTERS.values()) == expected
    assert RUN["is_url_string"](text) is True


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("", {}, id="no query"),
        pytest.param("?", {}, id="an empty query"),
        pytest.param("?a=1&b=2&a=3", {"a": ["1", "3"], "b": ["2"]}, id="values in their order"),
        pytest.param("?a", {"a": [""]}, id="no value"),
        pytest.param("?=v", {"": ["v"]}, id="no name"),
        pytest.param("?a=b=c", {"a": ["b=c"]}, id="a second equals sign"),
        pytest.param("?a+b=c+d%2B", {"a b": ["c d+"]}, id="a plus is a space"),
        pytest.param("?a;b=1&c=2", {"c": ["2"]}, id="a semicolon is refused"),
        pytest.param("?%zz=1&a=%&b=2", {"b": ["2"]}, id="bad escapes are dropped"),
        pytest.param("?&&a=1&", {"a": ["1"]}, id="empty parameters"),
        pytest.param("?%C3%A9=%ff%e2%82", {"é": ["\ufffd\ufffd\ufffd"]}, id="no UTF-8"),
        pytest.param("?a=1#b=2", {"a": ["1"]}, id="the fragment is no part of it"),
        pytest.param("?" + "&" * 9_999 + "a", {"a": [""]}, id="ten thousand parameters"),
        pytest.param("?" + "&" * 10_000 + "a", {}, id="more than ten thousand parameters"),
    ],
)
def test_query(query: str, expected: dict[str, list[str]]) -> None:
    parsed = url("http://a/" + query)
    assert RUN["url_get_query"](parsed) == expected
    assert RUN["url_get_query"](parsed) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        pytest.param("HTTP://a", "http://a", True, id="a scheme in any case"),
        pytest.param("http://a", "http://A", False, id="a host is kept"),
        pytest.param("http://a", "http://a/", False, id="a path of nothing"),
        pytest.param("http://a/é", "http://a/%C3%A9", True, id="an escape that is needed"),
        pytest.param("http://a/%7e", "http://a/~", False, id="an escape that is not needed"),
        pytest.param("http://u:p%40@a", "http://u:p@@a", True, id="a password, escaped anew"),
        pytest.param("http://u@a", "http://u:@a", False, id="an empty password is one"),
        pytest.param("http://a?", "http://a", False, id="a question mark"),
        pytest.param("http://a/#", "http://a/", True, id="an empty fragment is none"),
        pytest.param("http://a/#b c", "http://a/#b%20c", True, id="a fragment, escaped anew"),
        pytest.param("http://a?b#c", "http://a?b", False, id="a fragment counts"),
        pytest.param("http://%C3%A9", "http://é", True, id="a host, escaped anew"),
        pytest.param("http://", "http:", True, id="no authority, or an empty one"),
        pytest.param("x:/a", "x:///a", False, id="no authority before a path"),
        pytest.param("//a", "//a", True, id="no scheme"),
        pytest.param("mailto:a", "mailto:b", False, id="opaque parts"),
    ],
)
def test_equality(a: str, b: str, expected: bool) -> None:
    left, right = url(a), url(b)
    assert equals(left, right) is expected
    assert (hash(left) == hash(right)) is expected


def test_other_types_are_not_equal() -> None:
    assert url("http://a") != "http://a"


def test_value() -> None:
    assert (type_name(url("http://a")), size(url("http://a"))) == ("kubernetes.URL", 1)


def test_refused() -> None:
    with pytest.raises(EvaluationError) as error:
        url("a")
    assert str(error.value) == (
        'URL parse error during conversion from string: parse "a": invalid URI for request'
    )
    assert RUN["is_url_string"]("a") is False


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("x:a#%zz", 'parse "x:a#%zz": invalid URL escape "%zz"', id="a fragment"),
        pytest.param(
            "//a b/c#d", 'parse "//a b/c": invalid character " " in host name', id="a host"
        ),
    ],
)
def test_refused_though_a_request_uri(text: str, reason: str) -> None:
    assert RUN["is_url_string"](text) is True
    with pytest.raises(EvaluationError) as error:
        url(text)
    assert str(error.value) == f"URL parse error during conversion from string: {reason}"
