"""Objects to judge, and the rows of the real validation in either carrier."""

import json
from dataclasses import replace
from typing import Any

import msgspec

from extender.framework.interface import Settings
from extender.match.gates import FeatureGates
from extender.model.documents import Plain
from extender.model.workloads import KINDS, Ruled
from extender.review import validation
from extender.review.validation import Report
from tests.builders import JSON, PREFIX
from tests.vectors import Row

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

ANNOTATED_TOLERATIONS = f"metadata.annotations[{PREFIX}tolerations]"
ANNOTATED_AFFINITY = f"metadata.annotations[{PREFIX}node-affinity]"
NATIVE_TOLERATIONS = "spec.tolerations"
NATIVE_AFFINITY = "spec.affinity.nodeAffinity"


def ruled(document: JSON, group: str = "", kind: str = "Pod") -> Ruled:
    return msgspec.convert(document, KINDS[group, kind])


def judged(new: JSON, old: JSON | None = None, gates: FeatureGates | None = None) -> Report:
    """What is said of a pod."""
    settings = replace(Settings(), gates=gates) if gates else Settings()
    return validation.check(ruled(new), ruled(old) if old is not None else None, settings)


def messages(report: Report) -> list[str]:
    return [str(error) for error in report.errors]


def with_tolerations(*tolerations: JSON, annotated: bool = False) -> JSON:
    """A pod with these tolerations, in the field or in the annotation."""
    if annotated:
        return with_annotation("tolerations", json.dumps(tolerations))
    return {"metadata": {"name": "web"}, "spec": {"tolerations": list(tolerations)}}


def with_affinity(affinity: JSON, *, annotated: bool = False) -> JSON:
    """A pod with this node affinity, in the field or in the annotation."""
    if annotated:
        return with_annotation("node-affinity", json.dumps(affinity))
    return {"metadata": {"name": "web"}, "spec": {"affinity": {"nodeAffinity": affinity}}}


def with_annotation(suffix: str, text: str) -> JSON:
    return {"metadata": {"name": "web", "annotations": {PREFIX + suffix: text}}, "spec": {}}


def term(*expressions: JSON, fields: list[JSON] | None = None) -> JSON:
    return {"matchExpressions": list(expressions)} | ({"matchFields": fields} if fields else {})


def required(*terms: JSON) -> JSON:
    return {REQUIRED: {"nodeSelectorTerms": list(terms)}}


def preferred(*terms: JSON, weight: int = 1) -> JSON:
    return {PREFERRED: [{"weight": weight, "preference": each} for each in terms]}


# --- Rows --------------------------------------------------------------------------------------


def of_toleration_row(row: Row, *, annotated: bool) -> JSON:
    return with_tolerations(row["toleration"], annotated=annotated)


def of_selector_row(row: Row, *, annotated: bool) -> JSON:
    """Upstream judges preferred terms leniently, so a row that was is one of those."""
    whole = row["function"] == "ValidateNodeSelectorTerm"
    given = row["input"] if whole else {"matchExpressions": [row["input"]]}
    lenient = row["allow_invalid_label_value"]
    return with_affinity(preferred(given) if lenient else required(given), annotated=annotated)


def expected_messages(row: Row, *, annotated: bool) -> list[str]:
    """The row's messages, with the path where the rule was put."""
    texts: list[str] = [error["message"] for error in row["errors"]]
    if row.get("allow_invalid_label_value"):
        before = f"{NATIVE_AFFINITY}.{REQUIRED}.nodeSelectorTerms[0]"
        texts = [
            text.replace(before, f"{NATIVE_AFFINITY}.{PREFERRED}[0].preference", 1)
            for text in texts
        ]
    if not annotated:
        return texts
    moved = {NATIVE_TOLERATIONS: ANNOTATED_TOLERATIONS, NATIVE_AFFINITY: ANNOTATED_AFFINITY}
    return [
        next(
            after + text[len(before) :]
            for before, after in moved.items()
            if text.startswith(before)
        )
        for text in texts
    ]


def plain(value: Any) -> Plain:
    """Through JSON and back, as a webhook gets it."""
    return json.loads(json.dumps(value))  # type: ignore[no-any-return]
