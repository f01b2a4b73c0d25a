"""URLs that Go's url.ParseRequestURI accepts, with the parts that url.Parse finds."""

import re
from collections.abc import Hashable
from typing import ClassVar, Final

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library import url_parsing
from extender.match.cel.library.charges import BY_FIRST, Work
from extender.match.cel.library.estimates import same_size
from extender.match.cel.library.functions import Function, function, overload
from extender.match.cel.library.url_parsing import Parts, readable
from extender.match.cel.values import Value

Query = dict[Hashable, Value]

_UNDECODABLE: Final = re.compile("[\udc80-\udcff]")
_PORT: Final = re.compile(r":([0-9]*)\Z")
_MAX_PARAMETERS: Final = 10_000  # Go reads none if there are more


class Url:
    """A URL. Two are equal if their rebuilt texts are."""

    __slots__ = ("_parts", "_query", "_text", "escaped_path", "host", "scheme")

    type_name: ClassVar[str] = "kubernetes.URL"

    def __init__(self, parts: Parts) -> None:
        self.scheme = _decoded(parts.scheme)
        self.host = _decoded(parts.host)
        self.escaped_path = _decoded(parts.escaped_path())
        self._parts = parts
        # Computed once, on first use: a call costs 1 however long they are.
        self._query: Query | None = None
        self._text: bytes | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Url) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def text(self) -> bytes:
        """The URL, rebuilt from its parts."""
        if self._text is None:
            self._text = self._parts.text()
        return self._text

    @property
    def query(self) -> Query:
        """Parameter -> values."""
        if self._query is None:
            self._query = _parse_query(self._parts.query)
        return self._query


def _decoded(data: bytes) -> str:
    # One U+FFFD for each invalid byte, as Go counts them.
    return _UNDECODABLE.sub("\ufffd", readable(data))


def _parse_query(query: bytes) -> Query:
    values: dict[Hashable, list[Value]] = {}
    if query.count(b"&") >= _MAX_PARAMETERS:
        return {}
    for parameter in query.split(b"&"):
        if not parameter or b";" in parameter:
            continue
        name, _, value = parameter.replace(b"+", b" ").partition(b"=")
        try:
            decoded = _decoded(url_parsing.unescape(name)), _decoded(url_parsing.unescape(value))
        except EvaluationError:
            continue
        values.setdefault(decoded[0], []).append(decoded[1])
    return {**values}


def request_uri_fault(text: str) -> str | None:
    """Why Go's url.ParseRequestURI would refuse a text."""
    try:
        url_parsing.check_request_uri(_encoded(text))
    except EvaluationError as fault:
        return str(fault)
    return None


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _parse(text: str) -> Url:
    data = _encoded(text)
    try:
        url_parsing.check_request_uri(data)
        return Url(url_parsing.parse(data))
    except EvaluationError as fault:
        raise EvaluationError(f"URL parse error during conversion from string: {fault}") from None


def _hostname(url: Url) -> str:
    host = _PORT.sub("", url.host)
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def _port(url: Url) -> str:
    port = _PORT.search(url.host)
    return port[1] if port else ""


_READ: Final = Work(220)


FUNCTIONS: Final[tuple[Function, ...]] = (
    function(
        "url",
        overload("string_to_url", "(string) -> url", _parse),
        estimate=same_size,
        charge=BY_FIRST,
        work=_READ,
    ),
    function(
        "isURL",
        overload("is_url_string", "(string) -> bool", lambda it: request_uri_fault(it) is None),
        work=_READ,
    ),
    function("getScheme", overload("url_get_scheme", "url.() -> string", lambda url: url.scheme)),
    function("getHost", overload("url_get_host", "url.() -> string", lambda url: url.host)),
    function("getHostname", overload("url_get_hostname", "url.() -> string", _hostname)),
    function("getPort", overload("url_get_port", "url.() -> string", _port)),
    function(
        "getEscapedPath",
        overload("url_get_escaped_path", "url.() -> string", lambda url: url.escaped_path),
    ),
    function(
        "getQuery",
        overload("url_get_query", "url.() -> map(string, list(string))", lambda url: url.query),
        work=_READ,
    ),
)
