"""What cures an annotation that cannot be read."""

import pytest

from extender.review.explain import annotation_cure
from tests.builders import PREFIX, a_pod, node_json, taint
from tests.review.explain.asking import SETTINGS, change_of, fix_of

NODE = node_json("n", taint("sla", "950"), labels={"cores": "16"})


@pytest.mark.parametrize(
    ("text", "summary", "after"),
    [
        (
            "- {key: sla, operator: Gt, value: 900}",
            "value: 900 is not text: put it in quotes",
            "- {key: sla, operator: Gt, value: '900'}\n",
        ),
        (
            "- {key: sla, operator: Equal, value: true}\n- {key: sla, operator: Exists}",
            "value: true is not text: put it in quotes",
            "- {key: sla, operator: Equal, value: 'true'}\n- {key: sla, operator: Exists}\n",
        ),
        (
            "{key: sla, operator: Exists}",
            "one toleration is written where a list belongs: begin with a dash",
            "- {key: sla, operator: Exists}\n",
        ),
        (
            "- {Key: sla, operatorr: Exists}",
            'field "Key" is unknown: did you mean "key"?; field "operatorr" is unknown: did you'
            ' mean "operator"?',
            "- {key: sla, operator: Exists}\n",
        ),
    ],
)
def test_slips_in_tolerations_are_mended(text: str, summary: str, after: str) -> None:
    change = change_of(a_pod(annotated_tolerations=text), NODE)

    assert (change.summary, change.after) == (summary, after)
    assert (change.path, change.before) == (f"metadata.annotations[{PREFIX}tolerations]", text)


def test_slips_in_node_affinity_are_mended() -> None:
    text = (
        '{"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":'
        ' [{"matchExpression": [{"key": "cores", "operator": "Gt", "values": [8]}]}]}}'
    )
    pod = a_pod(annotated_tolerations="- {key: sla, operator: Exists}", annotated_affinity=text)

    assert change_of(pod, NODE).summary == (
        'field "matchExpression" is unknown: did you mean "matchExpressions"?;'
        " values: 8 is not text: put it in quotes"
    )


@pytest.mark.parametrize("text", ["[", "- {frobnicate: 1}", "- 5", "x"])
def test_what_cannot_be_mended_is_not_guessed(text: str) -> None:
    fix = fix_of(a_pod(annotated_tolerations=text), NODE)

    assert fix.changes == ()
    assert fix.advice == ("correct the annotation: every node is refused until then",)


def test_two_annotations_are_mended_one_after_the_other() -> None:
    pod = a_pod(
        annotated_tolerations="{key: sla, operator: Exists}",
        annotated_affinity='{"preferredduringschedulingignoredduringexecution": []}',
    )
    fix = fix_of(pod, NODE)

    assert [change.path for change in fix.changes] == [
        f"metadata.annotations[{PREFIX}tolerations]",
        f"metadata.annotations[{PREFIX}node-affinity]",
    ]
    assert fix.complete


def test_an_annotation_that_is_not_there_is_readable() -> None:
    assert annotation_cure.readable(a_pod(), "tolerations", SETTINGS)
    assert annotation_cure.readable(a_pod(), "node-affinity", SETTINGS)
