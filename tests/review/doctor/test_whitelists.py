"""What PodTolerationRestriction keeps out."""

import json

import msgspec
import pytest

from extender.review.doctor import whitelists
from extender.review.doctor.component import Component
from extender.review.doctor.whitelists import ANNOTATION, Namespace

ON = Component("on", ("--enable-admission-plugins=NodeRestriction, PodTolerationRestriction",))
OFF = Component("off", ("--enable-admission-plugins=NodeRestriction",))


@pytest.mark.parametrize(
    ("text", "restricted"),
    [
        (None, False),
        ("", False),
        ("null", False),
        ("[]", False),
        (json.dumps([{"operator": "Exists"}]), False),
        (json.dumps([{"key": "a", "operator": "Exists"}, {"operator": "Exists"}]), False),
        (json.dumps([{"operator": "Exists", "effect": "NoSchedule"}]), True),
        (json.dumps([{"key": "a", "operator": "Exists"}]), True),
        (json.dumps([{"key": "a", "value": "b", "effect": "NoSchedule"}]), True),
        ("[{", True),
        ("{}", True),
        ("[" * 100_000, True),
    ],
)
def test_whether_a_namespace_refuses_some_tolerations(text: str | None, restricted: bool) -> None:
    annotations = {} if text is None else {ANNOTATION: text}
    document = {"metadata": {"name": "a", "annotations": annotations}}

    assert msgspec.convert(document, Namespace).is_restricted is restricted


def test_a_namespace_without_annotations() -> None:
    assert not Namespace().is_restricted


@pytest.mark.parametrize(
    ("api_servers", "restricted", "expected"),
    [
        pytest.param([], [], [], id="nothing is known"),
        pytest.param([OFF], [], [], id="the plugin is off"),
        pytest.param([OFF], ["a"], [], id="a whitelist that nobody reads"),
        pytest.param([], ["a"], ["namespaces: a"], id="a whitelist"),
        pytest.param([ON], [], ["on: --enable-admission-plugins"], id="the plugin is on"),
        pytest.param(
            [OFF, ON],
            ["b", "a"],
            ["on: --enable-admission-plugins", "namespaces: a, b"],
            id="both",
        ),
    ],
)
def test_what_is_in_the_way(
    api_servers: list[Component], restricted: list[str], expected: list[str]
) -> None:
    found = list(whitelists.check(api_servers, restricted))

    assert [p.where for p in found] == expected
    assert {(p.severity, p.check) for p in found} <= {("warning", "toleration-whitelist")}


def test_of_many_namespaces_ten_are_named() -> None:
    (problem,) = whitelists.check([], [f"n{number:04}" for number in range(5000)])

    assert problem.where.endswith("n0008, n0009 and 4990 more")
    assert "n0010" not in problem.where
