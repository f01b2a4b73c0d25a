"""The objects of `deploy/`: the chart by helm, the overlays by the little of kustomize they use.

kustomize has no package that a virtual environment could install, so what the overlays use of it is
done here: resources, patches that merge, ConfigMaps out of files. Anything else in a kustomization
fails. The end-to-end tests hold this to `kubectl kustomize`.
"""

import functools
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

JSON = dict[str, Any]

ROOT: Final = Path(__file__).parent.parent.parent
CHART: Final = ROOT / "deploy/helm/leeway"
OVERLAYS: Final = ROOT / "deploy/kustomize/overlays"
ADMISSION: Final = ROOT / "deploy/kustomize/components/admission"
CONTROLLER_ADMISSION: Final = ROOT / "deploy/kustomize/components/controller-admission"
STATIC_POD: Final = ROOT / "deploy/examples/scheduler-static-pod.yaml"
SECOND_SCHEDULER: Final = "second-scheduler"
EXTENDER_SERVICE: Final = "extender-service"
COMPILE: Final = "compile"
# Of an extender; the controller of compile mode has no scheduler.
MODES: Final = (SECOND_SCHEDULER, EXTENDER_SERVICE)
ALL_MODES: Final = (*MODES, COMPILE)
PLACEHOLDER: Final = "registry.invalid/leeway"

# What a chart cannot know, as the overlays have it.
_LIKE_THE_OVERLAYS: Final = {
    "image.repository": PLACEHOLDER,
    "scheduler.image.tag": "v1.36.3",
    "namespace.create": "true",
}
_MERGE_KEYS: Final = {
    "containers": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
}
_KNOWN_FIELDS: Final = {
    "apiVersion",
    "kind",
    "resources",
    "patches",
    "configMapGenerator",
    "generatorOptions",
}


class HelmError(Exception):
    """The chart refused; the text is what it said."""


@functools.cache
def helm(*arguments: str) -> str:
    """What a helm command prints."""
    beside = Path(sys.executable).with_name("helm")
    program = str(beside) if beside.exists() else shutil.which("helm")
    if program is None:
        raise HelmError("helm is not installed: its package has no wheel for this platform")
    done = subprocess.run(  # noqa: S603 - our own arguments
        [program, *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise HelmError(done.stderr.strip())
    return done.stdout


def charted(mode: str, *, release: str = "leeway", **values: str) -> list[JSON]:
    """The chart's objects in a mode; a value's dots are written as two underscores."""
    more = {name.replace("__", "."): value for name, value in values.items()}
    chosen = {"mode": mode} | _LIKE_THE_OVERLAYS | more
    settings = [f"--set={name}={value}" for name, value in chosen.items()]
    text = helm("template", release, str(CHART), "--namespace=leeway", *settings)
    return [each for each in yaml.safe_load_all(text) if each is not None]


def kustomized(folder: Path) -> list[JSON]:
    """The objects of a kustomization, with ConfigMaps under their names without a hash."""
    kustomization: JSON = yaml.safe_load((folder / "kustomization.yaml").read_text("utf-8"))
    unknown = set(kustomization) - _KNOWN_FIELDS
    assert not unknown, f"{folder}: not rendered here: {unknown}"
    objects: list[JSON] = []
    _extend(objects, folder, kustomization)
    options = kustomization.get("generatorOptions", {})
    objects += (
        _config_map(folder, generator, options["labels"])
        for generator in kustomization.get("configMapGenerator", ())
    )
    return objects


def with_component(objects: list[JSON], folder: Path) -> list[JSON]:
    """Objects with what a component adds to them, as an overlay would that names it."""
    component: JSON = yaml.safe_load((folder / "kustomization.yaml").read_text("utf-8"))
    assert component["kind"] == "Component"
    _extend(objects, folder, component)
    return objects


def _extend(objects: list[JSON], folder: Path, kustomization: JSON) -> None:
    for name in kustomization["resources"]:
        path = folder / name
        objects += kustomized(path) if path.is_dir() else loaded(path)
    for patch in kustomization.get("patches", ()):
        for change in loaded(folder / patch["path"]):
            target = next(each for each in objects if identity(each) == identity(change))
            _merge(target, change)


def loaded(file: Path) -> list[JSON]:
    """The documents of a file."""
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))


def identity(found: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """What no two objects of a cluster share."""
    metadata = found["metadata"]
    return found["apiVersion"], found["kind"], metadata.get("namespace", ""), metadata["name"]


def _config_map(folder: Path, generator: JSON, labels: JSON) -> JSON:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": generator["name"],
            "namespace": generator["namespace"],
            "labels": labels,
        },
        "data": {name: (folder / name).read_text(encoding="utf-8") for name in generator["files"]},
    }


def _merge(target: JSON, change: Mapping[str, Any]) -> None:
    for key, value in change.items():
        old = target.get(key)
        if isinstance(old, dict) and isinstance(value, Mapping):
            _merge(old, value)
        elif isinstance(old, list) and key in _MERGE_KEYS:
            _merge_list(old, value, _MERGE_KEYS[key])
        else:
            target[key] = value


def _merge_list(target: list[JSON], changes: Sequence[JSON], key: str) -> None:
    known = {each[key]: each for each in target}
    for change in changes:
        if change[key] in known:
            _merge(known[change[key]], change)
        else:
            target.append(change)


# --- Looking at what was rendered ------------------------------------------------------------


def one(objects: Sequence[JSON], kind: str, name: str = "leeway") -> JSON:
    """The object of a kind with a name."""
    found = [each for each in objects if (each["kind"], each["metadata"]["name"]) == (kind, name)]
    assert len(found) == 1, f"{len(found)} x {kind} {name}"
    return found[0]


def deployment(objects: Sequence[JSON]) -> JSON:
    """The only Deployment."""
    (found,) = (each for each in objects if each["kind"] == "Deployment")
    return found


def pod_spec(objects: Sequence[JSON]) -> JSON:
    """The pod of the Deployment."""
    spec: JSON = deployment(objects)["spec"]["template"]["spec"]
    return spec


def container(objects: Sequence[JSON], name: str) -> JSON:
    """A container of that pod."""
    return next(each for each in pod_spec(objects)["containers"] if each["name"] == name)


def peers(objects: Sequence[JSON], port: str) -> list[JSON] | None:
    """Who may reach a port; None: everybody."""
    (rule,) = (
        rule
        for each in objects
        if each["kind"] == "NetworkPolicy"
        for rule in each["spec"]["ingress"]
        if port in (open_port["port"] for open_port in rule["ports"])
    )
    found: list[JSON] | None = rule.get("from")
    return found


def scheduler_config(objects: Sequence[JSON]) -> JSON:
    """The KubeSchedulerConfiguration."""
    config: JSON = yaml.safe_load(_file(objects, "scheduler-config.yaml"))
    return config


def extender_config(objects: Sequence[JSON]) -> str:
    """The ExtenderConfiguration, as text."""
    return _file(objects, "extender-config.yaml")


def _file(objects: Sequence[JSON], name: str) -> str:
    """The file of this name that a ConfigMap holds, whatever the ConfigMap is called."""
    maps = (each["data"] for each in objects if each["kind"] == "ConfigMap")
    (text,) = (data[name] for data in maps if name in data)
    return str(text)
