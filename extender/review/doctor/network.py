"""Checks how the scheduler reaches an extender: TLS and proxies."""

import ipaddress
from collections.abc import Iterator, Mapping

from extender.review.doctor import urls
from extender.review.doctor.component import Component
from extender.review.doctor.problems import Problem
from extender.review.doctor.scheduler import Extender, TLSConfig
from extender.review.doctor.urls import Url


def check(extender: Extender, where: str) -> Iterator[Problem]:
    """Check the TLS settings of an extender."""
    url = urls.parse(extender.url_prefix)
    tls = extender.tls_config or TLSConfig()
    if url.scheme == "http":
        yield from _plain(extender, where, url)
    elif url.scheme == "https":
        yield from _secured(extender, where, tls)


def _plain(extender: Extender, where: str, url: Url) -> Iterator[Problem]:
    if extender.enable_https:
        yield Problem(
            "error",
            "https-scheme",
            f"{where}.urlPrefix",
            "the scheme comes from urlPrefix, so enableHTTPS does nothing: the calls are in clear",
            "begin it with https://, or set enableHTTPS to false",
        )
    elif not url.is_loopback:
        yield Problem(
            "warning",
            "plain-http",
            f"{where}.urlPrefix",
            "anybody on the way can answer for Leeway, and anybody can ask it",
            "use https:// with a client certificate, or loopback inside of one pod",
        )


def _secured(extender: Extender, where: str, tls: TLSConfig) -> Iterator[Problem]:
    if tls.insecure:
        yield Problem(
            "error",
            "tls-insecure",
            f"{where}.tlsConfig.insecure",
            "the scheduler does not verify whom it asks",
            "set it to false and give caFile",
        )
    elif extender.enable_https and not (tls.ca_file or tls.ca_data):
        yield Problem(
            "error",
            "tls-insecure",
            f"{where}.tlsConfig.caFile",
            "enableHTTPS without a CA means that the scheduler does not verify whom it asks",
            "give the CA of Leeway's certificate",
        )
    if not (tls.cert_file or tls.cert_data):
        yield Problem(
            "warning",
            "tls-client-certificate",
            f"{where}.tlsConfig.certFile",
            "only a client certificate tells Leeway that it is the scheduler who asks",
            "give certFile and keyFile, and Leeway clientCAFile",
        )


def check_proxy(extender: Extender, process: Component) -> Iterator[Problem]:
    """Check that the scheduler's environment does not send the calls to a proxy."""
    variable = proxy_for(extender.url_prefix, process.environment)
    if variable:
        host = urls.parse(extender.url_prefix).host
        yield Problem(
            "warning",
            "proxy",
            f"{process.origin}: env {variable}",
            f"the scheduler asks {host} through a proxy, which does not know the cluster's names",
            f"add {host} to NO_PROXY",
        )


def proxy_for(url: str, environment: Mapping[str, str]) -> str | None:
    """The variable that sends a URL to a proxy, as Go reads them; None if none does."""
    parts = urls.parse(url)
    if not parts.host or parts.is_loopback:
        return None
    name = f"{parts.scheme.upper()}_PROXY"
    variable = next((n for n in (name, name.lower()) if environment.get(n)), None)
    exempt = environment.get("NO_PROXY") or environment.get("no_proxy") or ""
    if variable is None or _exempt(parts.host, parts.port, exempt):
        return None
    return variable


def _exempt(host: str, port: int | None, exempt: str) -> bool:
    for entry in filter(None, (part.strip().lower() for part in exempt.split(","))):
        name, colon, at = entry.rpartition(":")
        if colon and at.isdecimal() and "/" not in entry:
            if port is None or int(at) != port:
                continue
            entry = name
        if entry == "*" or _in_network(host, entry) or _in_domain(host, entry):
            return True
    return False


def _in_domain(host: str, entry: str) -> bool:
    """`svc` and `*.svc` exempt a domain and its subdomains, `.svc` only its subdomains."""
    entry = entry.removeprefix("*")
    bare = entry.removeprefix(".")
    return host.endswith("." + bare) or (host == bare and entry == bare)


def _in_network(host: str, entry: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return False
