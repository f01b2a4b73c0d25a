import pytest

from extender.match.spelling import spelling


@pytest.mark.parametrize(
    ("word", "choices", "expected"),
    [
        ("gt", ["Gt", "Lt"], "Gt"),
        ("sla", ["node.kubernetes.io/sla"], "node.kubernetes.io/sla"),
        ("example.com/sla", ["node.kubernetes.io/sla"], "node.kubernetes.io/sla"),
        ("sal", ["sla"], "sla"),
        (
            "topologyy.kubernetes.io/zone",
            ["topology.kubernetes.io/zone", "x"],
            "topology.kubernetes.io/zone",
        ),
        ("gpu", ["sla"], None),
        ("sla", ["sla"], None),
        ("", ["sla"], None),
        ("x" * 400, ["x" * 399], None),
    ],
)
def test_what_was_meant(word: str, choices: list[str], expected: str | None) -> None:
    assert spelling(word, choices) == expected
