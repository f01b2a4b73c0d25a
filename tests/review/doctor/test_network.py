"""Proxies, as Go reads their variables; TLS is in test_examining."""

import pytest

from extender.review.doctor import network

URL = "https://leeway.leeway.svc:8888"


@pytest.mark.parametrize(
    ("url", "environment", "expected"),
    [
        pytest.param(URL, {}, None, id="no proxy"),
        pytest.param(URL, {"HTTPS_PROXY": "p"}, "HTTPS_PROXY", id="a proxy"),
        pytest.param(URL, {"https_proxy": "p"}, "https_proxy", id="a proxy in small letters"),
        pytest.param(URL, {"HTTP_PROXY": "p"}, None, id="a proxy for the other scheme"),
        pytest.param(
            "http://127.0.0.1:1", {"HTTP_PROXY": "p"}, None, id="loopback is never proxied"
        ),
        pytest.param("nonsense", {"HTTP_PROXY": "p"}, None, id="no URL"),
    ],
)
def test_who_is_asked_through_a_proxy(
    url: str, environment: dict[str, str], expected: str | None
) -> None:
    assert network.proxy_for(url, environment) == expected


@pytest.mark.parametrize(
    ("url", "exempt", "direct"),
    [
        (URL, "*", True),
        (URL, "leeway.leeway.svc", True),
        (URL, ".svc", True),
        (URL, "svc", True),
        (URL, "*.svc", True),
        (URL, " .example.com , SVC ", True),
        (URL, "leeway.leeway.svc:8888", True),
        (URL, "leeway.leeway.svc:443", False),
        (URL, ".leeway.leeway.svc", False),
        (URL, "way.svc", False),
        (URL, "10.0.0.0/8", False),
        (URL, "", False),
        ("https://10.1.2.3", "10.0.0.0/8", True),
        ("https://10.1.2.3", "10.1.2.3", True),
        ("https://10.1.2.3", "11.0.0.0/8", False),
    ],
)
def test_who_is_exempt(url: str, exempt: str, direct: bool) -> None:
    environment = {"HTTPS_PROXY": "p", "no_proxy": exempt}

    assert (network.proxy_for(url, environment) is None) is direct
