import pytest

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library.url_parsing import check_request_uri, parse, readable, unescape


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "empty url", id="nothing"),
        pytest.param("a", "invalid URI for request", id="a relative path"),
        pytest.param("1a:b", "invalid URI for request", id="a scheme that is none"),
        pytest.param(":a", "missing protocol scheme", id="a colon first"),
        pytest.param(
            "a\x7f", "net/url: invalid control character in URL", id="a control character"
        ),
        pytest.param("http://a b/", 'invalid character " " in host name', id="a space in a host"),
        pytest.param("http://a%41", 'invalid URL escape "%41"', id="an escape for ASCII"),
        pytest.param("http://a%é", 'invalid URL escape "%é"', id="no escape in a host"),
        pytest.param("http://a/%zz", 'invalid URL escape "%zz"', id="no escape in a path"),
        pytest.param("http://a/%a", 'invalid URL escape "%a"', id="half an escape"),
        pytest.param("http://a/%aé", r'invalid URL escape "%a\xc3"', id="half a character"),
        pytest.param("http://u%zz@a", 'invalid URL escape "%zz"', id="no escape in a user"),
        pytest.param("http://u:%z:@a", 'invalid URL escape "%z:"', id="no escape in a password"),
        pytest.param("http://a b@c", "net/url: invalid userinfo", id="a space in a user"),
        pytest.param("http://a:b", 'invalid port ":b" after host', id="a port of letters"),
        pytest.param("http://a:1:2", 'invalid port ":1:2" after host', id="two ports"),
        pytest.param("db://a:1:b", 'invalid port ":b" after host', id="a last port of letters"),
        pytest.param("http://[::1]a", 'invalid port "a" after host', id="a letter behind IPv6"),
        pytest.param("http://[::1", "missing ']' in host", id="an open bracket"),
        pytest.param("http://a[::1]", "invalid IP-literal", id="a bracket inside"),
        pytest.param("http://[1.2.3.4]", "invalid IP-literal", id="IPv4 in brackets"),
        pytest.param(
            "http://[a]", 'invalid host: ParseAddr("a"): unable to parse IP', id="no address"
        ),
        pytest.param(
            "http://[fe80::%ff]",
            r'invalid host: ParseAddr("fe80::\xff"): each colon-separated field must have at '
            r'least one digit (at "\xff")',
            id="no UTF-8 in an address",
        ),
        pytest.param("http://[::1%25%2f]", 'invalid URL escape "%2f"', id="a slash in a zone"),
        pytest.param(
            "http://[::1%25a^]", 'invalid character "^" in host name', id="a mark in a zone"
        ),
    ],
)
def test_refused(text: str, reason: str) -> None:
    shown = text.replace("\x7f", r"\x7f")
    with pytest.raises(EvaluationError) as error:
        check_request_uri(text.encode())
    assert str(error.value) == f'parse "{shown}": {reason}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("HTTP://a", "http://a", id="a scheme in lower case"),
        pytest.param("http://u%7e:p@@a:1/b?c#d", "http://u~:p%40@a:1/b?c#d", id="all parts"),
        pytest.param("http://@a", "http://@a", id="an empty user"),
        pytest.param("http://é", "http://%C3%A9", id="a host beyond ASCII"),
        pytest.param("http://a/é b", "http://a/%C3%A9%20b", id="a path, encoded anew"),
        pytest.param("http://a/%7e", "http://a/%7e", id="a path that is encoded already"),
        pytest.param("/a?b c", "/a?b c", id="a query is left alone"),
        pytest.param("/a?", "/a?", id="an empty query"),
        pytest.param("/a#", "/a", id="an empty fragment"),
        pytest.param("/a#b c", "/a#b%20c", id="a fragment, encoded anew"),
        pytest.param("/a#b%20c!", "/a#b%20c!", id="a fragment that is encoded already"),
        pytest.param("x:a#b", "x:a#b", id="an opaque part"),
        pytest.param("x:/a", "x:/a", id="no authority"),
        pytest.param("x:///a", "x:///a", id="an empty authority"),
        pytest.param("x://", "x:", id="nothing but an empty authority"),
        pytest.param("//a/b", "//a/b", id="no scheme"),
        pytest.param("*", "*", id="a star"),
    ],
)
def test_put_together_again(text: str, expected: str) -> None:
    assert parse(text.encode()).text() == expected.encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(b"a", b"a", id="no escape"),
        pytest.param(b"%41%2f%2F%ffb", b"A//\xffb", id="escapes in any case"),
    ],
)
def test_unescape(text: bytes, expected: bytes) -> None:
    assert unescape(text) == expected


def test_readable() -> None:
    assert readable(b"\xc3\xa9\xff") == "é\udcff"
