"""Manifests as people have them: what has no rules stays, and of the rest only lists change."""

import difflib
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from extender.framework.interface import Settings
from extender.model import documents
from extender.model.core_v1 import Taint
from extender.native.settings import CompileSettings
from extender.review import manifests
from extender.review.compiling import splicing, texts
from extender.review.compiling.edits import Edit, at
from extender.review.compiling.splicing import Change
from extender.review.compiling.workloads import TEMPLATES, Facts
from tests.deploy.rendering import CHART, ROOT, helm

SETTINGS, LIMIT = Settings(), 1 << 30
RULE = "scheduling.leeway/tolerations"
FACTS = Facts({Taint("sla", "950", "NoSchedule"): 1})
IMAGE = "--set=image.repository=registry.example.com/leeway"
VALUES = {
    "mode": ("second-scheduler", "extender-service", "compile"),
    "replicas": ("1", "3"),
    "networkPolicy.enabled": ("true", "false"),
}
BY_HAND = Path(__file__).parent / "manifests"


def charts() -> Iterator[tuple[str, str]]:
    """The chart with many values, as `helm template` prints it."""
    for chosen in product(*VALUES.values()):
        settings = [f"--set={key}={value}" for key, value in zip(VALUES, chosen, strict=True)]
        yield (
            " ".join(settings),
            helm("template", "x", str(CHART), "--namespace=n", IMAGE, *settings),
        )


def files() -> Iterator[tuple[str, str]]:
    """The manifests of this repository, and those that were written to be awkward."""
    folders = (ROOT / "deploy/kustomize", ROOT / "deploy/examples", BY_HAND)
    for file in sorted(each for folder in folders for each in folder.rglob("*.yaml")):
        yield str(file.relative_to(ROOT)), file.read_bytes().decode()


def every() -> list[tuple[str, str]]:
    return [*charts(), *files()]


def pods_in(text: str) -> Iterator[tuple[int, tuple[str | int, ...]]]:
    """The document and path of each pod and pod template."""
    for place, document in enumerate(documents.parse_manifests(text, LIMIT)):
        for item in manifests.objects_in(document, ()):
            path = TEMPLATES.get(item.kind, ("spec", "template"))
            if item.kind != "PersistentVolume" and isinstance(at(item.data, path), dict):
                yield place, (*item.path, *path)


def compiled(text: str) -> str:
    return texts.compile_text(text, FACTS, SETTINGS, CompileSettings()).rewritten()


def test_manifests_without_rules_stay_byte_for_byte() -> None:
    count = 0
    for name, text in every():
        if "scheduling.leeway/" in text or "SemverGt" in text:
            continue
        count += len(documents.parse_manifests(text, LIMIT))
        assert compiled(text) == text, name

    assert count >= 200


def test_with_a_rule_lines_are_only_added() -> None:
    count = 0
    for name, text in every():
        if "scheduling.leeway/" in text or "operator: Gt" in text:
            continue
        for place, path in pods_in(text):
            rule = '[{"key":"sla","operator":"Gt","value":"900"}]'
            edit = Edit((*path, "metadata", "annotations", RULE), rule)
            if "&notes" in text:  # the annotations cannot be changed
                continue
            ruled = splicing.spliced(text, [Change(place, edit)])

            found = compiled(ruled)

            lines = difflib.ndiff(ruled.splitlines(), found.splitlines())
            # In flow style the list is within a line, which grows.
            assert not [each for each in lines if each.startswith("-") and "{" not in each], name
            rest = iter(found)
            assert all(character in rest for character in ruled), name
            assert compiled(found) == found, name
            count += 1

    assert count >= 20


@pytest.mark.parametrize("name", sorted(each.name for each in BY_HAND.glob("*.yaml")))
def test_the_awkward_ones_are_awkward(name: str) -> None:
    text = (BY_HAND / name).read_bytes().decode()

    assert any(mark in text for mark in ("&", "\r\n", "\t", "---", "|", "{"))
