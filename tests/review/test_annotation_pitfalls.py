"""Warnings about annotations with our prefix."""

from dataclasses import replace

import pytest

from extender.framework.interface import Settings
from extender.review import annotation_pitfalls
from tests.builders import JSON, PREFIX
from tests.review.objects import judged, ruled

GRACE = PREFIX + "eviction-grace-seconds"
RECORD = PREFIX + "guarded-keys"
INVALID_GRACE = (
    "this is not a whole number from 0 to 86400, so compile.noExecuteGrace applies instead:"
    " correct it"
)


def a_pod(**annotations: str) -> JSON:
    return {"metadata": {"name": "web", "annotations": annotations}, "spec": {}}


def warned(
    new: JSON, old: JSON | None = None, group: str = "", kind: str = "Pod", prefix: str = PREFIX
) -> list[tuple[str, str]]:
    settings = replace(Settings(), annotation_prefix=prefix)
    before = ruled(old, group, kind) if old is not None else None
    return list(annotation_pitfalls.find(ruled(new, group, kind), before, settings))


@pytest.mark.parametrize("text", ["0", "1", "30", "86400"])
def test_a_grace_is_whole_seconds(text: str) -> None:
    assert warned(a_pod(**{GRACE: text})) == []


@pytest.mark.parametrize("text", ["", "-1", "86401", "030", "+5", "1.5", "30s", " 30", "soon"])
def test_a_grace_that_is_none_is_warned_about(text: str) -> None:
    assert warned(a_pod(**{GRACE: text})) == [(f"metadata.annotations[{GRACE}]", INVALID_GRACE)]


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        ("toleration", f"Leeway reads no such annotation: did you mean {PREFIX}tolerations?"),
        ("Node-Affinity", f"Leeway reads no such annotation: did you mean {PREFIX}node-affinity?"),
        (
            "colour",
            "Leeway reads no such annotation, only compiled, eviction-grace-seconds, guarded-keys,"
            " node-affinity, tolerations: correct its name",
        ),
    ],
)
def test_an_annotation_that_nobody_reads(suffix: str, text: str) -> None:
    assert warned(a_pod(**{PREFIX + suffix: ""})) == [
        (f"metadata.annotations[{PREFIX}{suffix}]", text)
    ]


def test_a_prefix_of_others_is_theirs_too() -> None:
    pod = a_pod(**{"example.com/colour": "blue", "example.com/toleration": "[]", "x": ""})

    assert warned(pod, prefix="example.com/") == [
        (
            "metadata.annotations[example.com/toleration]",
            "Leeway reads no such annotation: did you mean example.com/tolerations?",
        )
    ]


def test_a_volume_has_node_affinity_only() -> None:
    volume = a_pod(**{PREFIX + "tolerations": "[]", PREFIX + "node-affinity": "{}"})

    assert [path for path, _ in warned(volume, kind="PersistentVolume")] == [
        f"metadata.annotations[{PREFIX}tolerations]"
    ]


def test_the_record_of_another_pod_is_not_to_be_copied() -> None:
    pod = a_pod(**{RECORD: '["sla"]'})
    deployment = {"spec": {"template": pod}}
    ((path, text),) = warned(pod)

    assert path == f"metadata.annotations[{RECORD}]"
    assert text.startswith("this is Leeway's own record of the guards of a running pod: remove it")
    # A running pod gets it from the controller.
    assert warned(pod, a_pod()) == []
    assert len(warned(deployment, {"spec": {"template": a_pod()}}, "apps", "Deployment")) == 1


TEMPLATE = {"template": a_pod(**{GRACE: "soon"})}


@pytest.mark.parametrize(
    ("group", "kind", "spec", "path"),
    [
        ("apps", "Deployment", TEMPLATE, "spec.template."),
        (
            "batch",
            "CronJob",
            {"jobTemplate": {"spec": TEMPLATE}},
            "spec.jobTemplate.spec.template.",
        ),
    ],
)
def test_pods_do_not_get_the_annotations_of_their_workload(
    group: str, kind: str, spec: JSON, path: str
) -> None:
    name = PREFIX + "tolerations"
    workload = {"metadata": {"annotations": {name: "[]", "x": "y"}}, "spec": spec}

    assert warned(workload, None, group, kind) == [
        (f"{path}metadata.annotations[{GRACE}]", INVALID_GRACE),
        (
            f"metadata.annotations[{name}]",
            f"nobody reads it here: move it to {path}metadata.annotations, which pods get",
        ),
    ]
    assert warned(workload, workload, group, kind) == []


def test_what_was_there_is_not_warned_about_again() -> None:
    old = a_pod(**{GRACE: "soon", PREFIX + "colour": "blue"})
    new = a_pod(**{GRACE: "later", PREFIX + "colour": "blue"})

    assert warned(old, old) == []
    assert [path for path, _ in warned(new, old)] == [f"metadata.annotations[{GRACE}]"]


def test_an_object_without_metadata() -> None:
    assert warned({}) == warned({}, kind="PersistentVolume") == []
    assert warned({}, None, "apps", "Deployment") == []


def test_many_names_are_not_all_looked_at() -> None:
    pod = a_pod(**{f"example.com/{n}": "" for n in range(5_000)} | {"example.com/toleration": ""})

    assert warned(pod, prefix="example.com/") == []


def test_the_webhook_and_the_command_line_say_it() -> None:
    report = judged(a_pod(**{GRACE: "soon"}))

    assert (report.errors, [str(each) for each in report.warnings]) == (
        (),
        [f"metadata.annotations[{GRACE}]: {INVALID_GRACE}"],
    )


def test_a_living_pod_has_its_record_from_leeway() -> None:
    pod = ruled(a_pod(**{RECORD: '["sla"]'}))

    assert list(annotation_pitfalls.find(pod, None, Settings(), lives=True)) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("scheduling.leway/tolerations", True),
        ("Scheduling.Leeway/tolerations", True),
        ("scheduling.example.com/tolerations", False),
        ("tolerations", False),
        ("scheduling.leway/colour", False),
    ],
)
def test_a_prefix_that_is_nearly_ours(name: str, said: bool) -> None:
    expected = (
        f"metadata.annotations[{name}]",
        f"Leeway reads no such annotation: did you mean {PREFIX}tolerations?",
    )

    assert warned(a_pod(**{name: "[]"})) == ([expected] if said else [])
    assert warned(a_pod(**{name: "[]"}), a_pod(**{name: "[]"})) == []


def test_jobs_of_a_cron_job_do_not_read_rules_either() -> None:
    name = PREFIX + "node-affinity"
    job = {"metadata": {"annotations": {name: "{}"}}, "spec": {}}
    ((path, text),) = warned({"spec": {"jobTemplate": job}}, None, "batch", "CronJob")

    assert path == f"spec.jobTemplate.metadata.annotations[{name}]"
    assert text.endswith(
        "move it to spec.jobTemplate.spec.template.metadata.annotations, which pods get"
    )
