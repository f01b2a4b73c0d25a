"""Where a URL leads."""

import pytest

from extender.review.doctor import urls
from extender.review.doctor.urls import Url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://leeway", Url("http", "leeway", 80)),
        ("https://leeway.svc:8888/", Url("https", "leeway.svc", 8888)),
        ("https://[::1]/v1", Url("https", "::1", 443, has_path=True)),
        ("http://h?x=1", Url("http", "h", 80, has_path=True)),
        ("leeway:8888", Url()),
        ("ftp://leeway", Url()),
        ("http://", Url()),
        ("http://h:port", Url()),
        ("http://[::1", Url()),
        ("", Url()),
    ],
)
def test_the_parts_of_a_url(text: str, expected: Url) -> None:
    assert urls.parse(text) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("::1", True),
        ("10.0.0.1", False),
        ("leeway.svc", False),
    ],
)
def test_loopback(host: str, expected: bool) -> None:
    assert Url("http", host, 80).is_loopback is expected
