"""What cures a refusal by node affinity."""

from typing import Any

import pytest

from extender.framework.interface import Settings
from extender.model.core_v1 import Pod
from extender.review.explain.affinity.cure import AffinityCure
from tests.builders import JSON, a_pod, node_json, required, requirement
from tests.review.explain.asking import SETTINGS, a_case, change_of, explained, fix_of

LABELS = {"zone": "eu-1a", "kernel": "5.15.0-91", "cores": "16", "disk": "hdd"}
NODE = node_json("n", labels=LABELS)
NATIVE = "spec.affinity.nodeAffinity"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"


def native(*terms: Any) -> Pod:
    return a_pod(affinity=required(*terms))


def one(key: str, operator: str, *values: str) -> Pod:
    return native([requirement(key, operator, *values)])


@pytest.mark.parametrize(
    ("pod", "summary", "after"),
    [
        (
            one("kernel", "SemverGt", "5.15.0"),
            "`SemverGt 5.15.0` misses kernel=5.15.0-91, which is a pre-release and so comes before"
            " 5.15.0: use 5.15.0-0",
            "{key: kernel, operator: SemverGt, values: [5.15.0-0]}",
        ),
        (
            one("cores", "Gt", "16"),
            "`Gt 16` misses cores=16: use 15",
            "{key: cores, operator: Gt, values: ['15']}",
        ),
        (
            one("cores", "Gt"),
            "`Gt` misses cores=16: use 15",
            "{key: cores, operator: Gt, values: ['15']}",
        ),
        (
            one("zone", "In", "eu-1A", "us-9z"),
            '`In eu-1A, us-9z` misses zone=eu-1a: use "eu-1a"',
            "{key: zone, operator: In, values: [us-9z, eu-1a]}",
        ),
        (
            one("disk", "In", "nvme"),
            '`In nvme` misses disk=hdd: add "hdd"',
            "{key: disk, operator: In, values: [nvme, hdd]}",
        ),
        (
            one("disk", "NotIn", "hdd", "tape"),
            "`NotIn hdd, tape` excludes disk=hdd: take it off the list",
            "{key: disk, operator: NotIn, values: [tape]}",
        ),
        (
            one("disk", "Exists", "ssd"),
            "Exists takes no values: leave them out",
            "{key: disk, operator: Exists}",
        ),
        (
            one("Zone", "in", "eu-1a"),
            'operator "in" is unknown: did you mean In?; the node has no label "Zone": did you'
            ' mean "zone"?',
            "{key: zone, operator: In, values: [eu-1a]}",
        ),
    ],
)
def test_a_requirement_is_mended(pod: Pod, summary: str, after: str) -> None:
    change = change_of(pod, NODE)

    assert (change.summary, change.after) == (summary, after)
    assert change.path == f"{NATIVE}.{REQUIRED}[0].matchExpressions[0]"


def test_the_nearest_term_is_mended_and_the_rest_stays() -> None:
    pod = a_pod(
        annotated_affinity=required(
            [requirement("zone", "In", "x"), requirement("disk", "In", "y")],
            [requirement("cores", "Gt", "16"), requirement("disk", "Exists")],
        )
    )
    fix = fix_of(pod, NODE)

    assert [change.path for change in fix.changes] == [
        f"metadata.annotations[scheduling.leeway/node-affinity].{REQUIRED}[1].matchExpressions[0]"
    ]
    text = fix.patch["metadata"]["annotations"]["scheduling.leeway/node-affinity"]  # type: ignore[index]
    assert "values: ['15']" in str(text)
    assert "values: [x]" in str(text)


@pytest.mark.parametrize(
    ("selector", "summary", "after"),
    [
        ({"zone": "eu-1A"}, 'nodeSelector zone=eu-1A: the node has "eu-1a"', "eu-1a"),
        ({"Disk": "ssd"}, 'the node has no label "Disk": did you mean "disk"?', "disk=hdd"),
    ],
)
def test_a_node_selector_is_mended(selector: dict[str, str], summary: str, after: str) -> None:
    change = change_of(a_pod(node_selector=selector), NODE)

    assert (change.summary, change.after) == (summary, after)


@pytest.mark.parametrize(
    ("pod", "command"),
    [
        (a_pod(node_selector={"gpu": "h100"}), "kubectl label node n gpu=h100"),
        (one("gpu", "In", "h100", "a100"), "kubectl label node n gpu=h100"),
        (one("gpu", "Exists"), "kubectl label node n gpu="),
    ],
)
def test_a_label_that_is_missing_is_a_command(pod: Pod, command: str) -> None:
    assert change_of(pod, NODE).command == command


@pytest.mark.parametrize(
    ("pod", "advice"),
    [
        (native(), ["the native node affinity has no term that could ever match"]),
        (one("gpu", "Gt", "1"), ["gpu Gt 1: the node has no such label"]),
        (one("disk", "Gt", "1"), ['disk Gt 1: the label\'s "hdd" is not an integer']),
        (one("disk", "~~", "1"), ['disk ~~ 1: operator "~~" is unknown']),
        (one("disk", "NotIn", "hdd"), ['disk NotIn hdd: "hdd" is excluded']),
        (
            a_pod(
                affinity={
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [
                            {"matchFields": [requirement("metadata.name", "In", "other")]}
                        ]
                    }
                }
            ),
            ["the native node affinity names other nodes in matchFields"],
        ),
    ],
)
def test_what_no_change_cures_is_told(pod: Pod, advice: list[str]) -> None:
    fix = fix_of(pod, NODE)

    assert (fix.changes, list(fix.advice), fix.complete) == ((), advice, False)


def test_a_label_that_cannot_be_is_not_proposed() -> None:
    assert explained(a_pod(node_selector={"-": "x"}), NODE).groups[0].fix is None


def test_a_foreign_profile_reads_the_annotation_alone() -> None:
    pod = a_pod(node_selector={"zone": "x"}, affinity=required([requirement("gpu", "Exists")]))
    case = a_case(pod, NODE)

    assert AffinityCure(SETTINGS, annotation_only=True).obstacles(case) == 0
    assert AffinityCure(SETTINGS).obstacles(case) == 2
    assert AffinityCure(Settings()).obstacles(a_case(native(), NODE)) == 1


def terms(*items: JSON) -> JSON:
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(items)}}


def test_an_empty_term_is_no_alternative() -> None:
    pod = a_pod(affinity=terms({}, {"matchExpressions": [requirement("cores", "Lt", "16")]}))

    assert change_of(pod, NODE).path == f"{NATIVE}.{REQUIRED}[1].matchExpressions[0]"
