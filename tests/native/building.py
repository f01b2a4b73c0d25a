"""Live pods and clusters, and the API server's part: it applies patches and judges updates."""

import copy
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from extender.framework.interface import Settings
from extender.model.core_v1 import LivePod, Node, Taint, Toleration
from extender.native import patches, planning
from extender.native.carried import Carried, carried
from extender.native.patches import Operation
from extender.native.planning import Plan
from extender.native.settings import CompileSettings
from extender.native.universe import TaintUniverse
from tests.builders import JSON, PREFIX, node_json, taint

RULES: Final = PREFIX + "tolerations"
GRACE: Final = PREFIX + "eviction-grace-seconds"
RECORD: Final = PREFIX + "guarded-keys"
DEFAULTS: Final = CompileSettings()
NO_EXECUTE: Final = "NoExecute"
INT64: Final = range(-(1 << 63), 1 << 63)
LABEL_KEY: Final = re.compile(
    r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
)


class RefusedError(Exception):
    """The API server does not apply a patch."""


def live_json(
    *tolerations: JSON,
    rules: Sequence[JSON] | str | None = None,
    node: str = "",
    record: Sequence[str] | str | None = None,
    annotations: Mapping[str, str] | None = None,
    spec: JSON | None = None,
    **meta: Any,
) -> JSON:
    """A pod as the API server has it; rules and record may be given as data or as text."""
    carries = dict(annotations or {})
    for name, content in ((RULES, rules), (RECORD, record)):
        if content is not None:
            carries[name] = content if isinstance(content, str) else compact(content)
    metadata = {"name": "web-0", "namespace": "default", "uid": "uid-1", **meta}
    if carries:
        metadata["annotations"] = carries
    made: JSON = dict(spec or {})
    if tolerations:
        made["tolerations"] = list(tolerations)
    if node:
        made["nodeName"] = node
    return {"metadata": metadata, "spec": made}


def compact(data: object) -> str:
    return json.dumps(data, separators=(",", ":"))


def live(document: JSON) -> LivePod:
    return msgspec.json.decode(json.dumps(document), type=LivePod)


def a_live_pod(*tolerations: JSON, **more: Any) -> LivePod:
    return live(live_json(*tolerations, **more))


def a_taint(key: str, value: str = "", effect: str = "NoSchedule") -> Taint:
    return Taint(key, value, effect)


def evicting(key: str, value: str = "") -> JSON:
    return taint(key, value, NO_EXECUTE)


def a_cluster(*nodes: JSON, extra: Sequence[Taint] = ()) -> TaintUniverse:
    universe = TaintUniverse(extra)
    for each in nodes:
        universe.put(each["metadata"]["name"], msgspec.convert(each, Node))
    return universe


def cluster_of(*taints: JSON) -> TaintUniverse:
    """A node `n0`, `n1` ... for each taint."""
    return a_cluster(*(node_json(f"n{i}", each) for i, each in enumerate(taints)))


def equal(key: str, value: str, effect: str = "NoSchedule", seconds: int | None = None) -> JSON:
    """An `Equal` as Leeway writes it; without what is empty, as JSON has it."""
    made: JSON = {"key": key, "operator": "Equal", "value": value, "effect": effect}
    return _with_seconds({name: text for name, text in made.items() if text}, seconds)


def guard(key: str, seconds: int = 30) -> JSON:
    """A guard as Leeway writes it."""
    return _with_seconds({"key": key, "operator": "Exists", "effect": NO_EXECUTE}, seconds)


def _with_seconds(made: JSON, seconds: int | None) -> JSON:
    return made if seconds is None else {**made, "tolerationSeconds": seconds}


def as_json(tolerations: Sequence[Toleration]) -> list[JSON]:
    return [msgspec.to_builtins(each) for each in tolerations]


def carried_by(
    *tolerations: JSON,
    settings: Settings | None = None,
    compile_settings: CompileSettings = DEFAULTS,
    remembered: Sequence[str] = (),
    **more: Any,
) -> Carried:
    """What a pod carries that is built like this."""
    pod = a_live_pod(*tolerations, **more)
    return carried(pod, settings or Settings(), compile_settings, remembered)


def planned(
    document: JSON,
    cluster: TaintUniverse,
    *,
    settings: Settings | None = None,
    compile_settings: CompileSettings = DEFAULTS,
    remembered: Sequence[str] = (),
) -> Plan:
    """What is to be written to a pod."""
    return planning.plan(
        live(document), cluster, settings or Settings(), compile_settings, remembered
    )


def reconciled(document: JSON, cluster: TaintUniverse, **more: Any) -> JSON:
    """The pod once the controller has written what it wants."""
    plan = planned(document, cluster, **more)
    return applied(document, patches.patch(live(document), plan, PREFIX))


def applied(document: JSON, operations: Sequence[Operation]) -> JSON:
    """A document after a JSON patch; RefusedError where the API server says 422.

    As a real one: a `test` of what is absent passes for null, and an `add` needs its parent.
    """
    root = {"": copy.deepcopy(document)}
    for each in json.loads(json.dumps(list(operations))):
        if each["op"] == "test":
            if _read(root, each["path"], absent=None) != each["value"]:
                raise RefusedError(each)
        elif each["op"] == "add":
            _add(root, each["path"], each["value"])
        elif each["op"] == "remove":
            _remove(root, each["path"])
        elif each["op"] == "move":
            _add(root, each["path"], _remove(root, each["from"]))
        else:
            raise RefusedError(each)
    return root[""]


_ABSENT: Final = object()


def _parent(root: JSON, path: str) -> tuple[Any, str]:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")]
    held: Any = root
    for part in parts[:-1]:
        held = _item(held, part)
        if held is _ABSENT:
            raise RefusedError(path)
    return held, parts[-1]


def _item(held: Any, part: str) -> Any:
    if isinstance(held, dict):
        return held.get(part, _ABSENT)
    if isinstance(held, list) and part.isdigit() and int(part) < len(held):
        return held[int(part)]
    return _ABSENT


def _read(root: JSON, path: str, absent: Any) -> Any:
    held, part = _parent(root, path)
    found = _item(held, part)
    return absent if found is _ABSENT else found


def _add(root: JSON, path: str, value: Any) -> None:
    held, part = _parent(root, path)
    if isinstance(held, dict):
        held[part] = value
        return
    place = len(held) if part == "-" else int(part)
    if place > len(held):
        raise RefusedError(path)
    held.insert(place, value)


def _remove(root: JSON, path: str) -> Any:
    held, part = _parent(root, path)
    if _item(held, part) is _ABSENT:
        raise RefusedError(path)
    return held.pop(int(part) if isinstance(held, list) else part)


def tolerations_in(document: JSON) -> list[JSON]:
    return document["spec"].get("tolerations") or []


def record_in(document: JSON) -> list[str] | None:
    text = (document["metadata"].get("annotations") or {}).get(RECORD)
    return None if text is None else json.loads(text)


def keeps_all(old: JSON, new: JSON) -> bool:
    """Whether every toleration is still there, whatever its seconds.

    v1.36 validation.go validateOnlyAddedTolerations.
    """
    kept = [_bare(each) for each in tolerations_in(new)]
    return all(_bare(each) in kept for each in tolerations_in(old))


def is_valid(toleration: JSON) -> bool:
    """Whether the API server takes a plain toleration: v1.36 validation.go ValidateTolerations."""
    key, seconds = toleration.get("key", ""), toleration.get("tolerationSeconds")
    operator, value = toleration.get("operator", ""), toleration.get("value", "")
    return (
        (LABEL_KEY.fullmatch(key) is not None if key else operator == "Exists")
        and (seconds is None or (seconds in INT64 and toleration.get("effect") == NO_EXECUTE))
        and (operator in ("", "Equal") or (operator == "Exists" and not value))
    )


def _bare(toleration: JSON) -> JSON:
    given = {name: value for name, value in toleration.items() if value != ""}
    return {name: value for name, value in given.items() if name != "tolerationSeconds"}


def tolerates(toleration: JSON, its_taint: Taint) -> bool:
    """What a scheduler without Leeway says: v1.36 core/v1/toleration.go ToleratesTaint."""
    if toleration.get("effect") and toleration["effect"] != its_taint.effect:
        return False
    if toleration.get("key") and toleration["key"] != its_taint.key:
        return False
    operator = toleration.get("operator", "")
    if operator in ("", "Equal"):
        return bool(toleration.get("value", "") == its_taint.value)
    return bool(operator == "Exists")


def stays(document: JSON, its_taint: Taint) -> float:
    """For how long taint-eviction leaves a pod on a node with this taint.

    v1.36 core/v1/helper/helpers.go GetMatchingTolerations: the first that matches decides.
    """
    for each in tolerations_in(document):
        if tolerates(each, its_taint):
            return float(each.get("tolerationSeconds", "inf"))
    return 0.0
