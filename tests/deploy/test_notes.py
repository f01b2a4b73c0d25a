"""The documentation shows the notes that the chart prints after an installation."""

import shutil
from pathlib import Path

import pytest
import yaml

from tests.deploy import rendering
from tests.deploy.rendering import ALL_MODES, CHART, COMPILE, ROOT

# `helm template` does not print NOTES.txt, so a copy of the chart puts them into an object.
_OBJECT = 'kind: ConfigMap\ndata:\n  notes: |\n{{ include "notes" . | indent 4 }}\n'


def notes(folder: Path, mode: str, **values: str) -> str:
    """The notes of a mode; a value's dots are written as two underscores."""
    chart = shutil.copytree(CHART, folder / "leeway")
    text = (chart / "templates/NOTES.txt").read_text(encoding="utf-8")
    wrapped = f'{{{{- define "notes" -}}}}\n{text}{{{{- end -}}}}\n'
    (chart / "templates/_notes.tpl").write_text(wrapped, encoding="utf-8")
    (chart / "templates/notes.yaml").write_text(_OBJECT, encoding="utf-8")
    known = {"mode": mode, "image.repository": "r", "scheduler.image.tag": "v1.36.3"}
    chosen = known | {name.replace("__", "."): value for name, value in values.items()}
    # `--set` knows no empty list.
    settings = [
        f"--set{'-json' if value == '[]' else ''}={name}={value}" for name, value in chosen.items()
    ]
    only = "--show-only=templates/notes.yaml"
    shown = rendering.helm("template", "leeway", str(chart), "--namespace=leeway", only, *settings)
    found: str = yaml.safe_load(shown)["data"]["notes"]
    return found


@pytest.mark.parametrize("mode", [rendering.SECOND_SCHEDULER, COMPILE])
def test_the_installation_page_shows_the_notes_of_the_chart(tmp_path: Path, mode: str) -> None:
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")

    assert f"NOTES:\n{notes(tmp_path, mode).strip()}\n```" in page


@pytest.mark.parametrize("mode", ALL_MODES)
def test_only_a_service_without_a_scheduler_says_how_to_start_one(
    tmp_path: Path, mode: str
) -> None:
    asked = "Start kube-scheduler with it." in notes(tmp_path, mode)

    assert asked == (mode == rendering.EXTENDER_SERVICE)


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        pytest.param({}, "mutatingwebhookconfiguration", id="the webhooks that compile"),
        pytest.param(
            {"admission__enabled": "true"},
            "mutatingwebhookconfiguration,validatingwebhookconfiguration",
            id="and the one that validates",
        ),
        pytest.param({"admission__certManager__enabled": "true"}, "", id="cert-manager makes it"),
        pytest.param({"admission__caBundle": "Q0E="}, "", id="there is one already"),
    ],
)
def test_a_controller_without_a_certificate_says_how_to_make_one(
    tmp_path: Path, values: dict[str, str], kinds: str
) -> None:
    said = notes(tmp_path, COMPILE, **values)

    assert ("Its pods wait for a certificate." in said) == bool(kinds)
    if kinds:
        assert (
            f"  kubectl get {kinds} leeway-controller -o yaml | leeway certs -n leeway"
            " --service leeway-controller-admission --secret leeway-controller-tls --webhook -"
            " | kubectl apply -f -\n"
        ) in said


@pytest.mark.parametrize(
    ("values", "words"),
    [
        pytest.param({}, "Pods of default-scheduler opt in", id="the cluster's scheduler"),
        pytest.param(
            {"compile__schedulerNames": "{a,b}"}, "Pods of a and b opt in", id="two schedulers"
        ),
        pytest.param({"compile__schedulerNames": "[]"}, "Pods opt in", id="every scheduler"),
    ],
)
def test_a_controller_says_whose_pods_it_compiles(
    tmp_path: Path, values: dict[str, str], words: str
) -> None:
    said = notes(tmp_path, COMPILE, leeway__annotationPrefix="rules.example.com/", **values)

    assert f"{words} with the annotation\n  rules.example.com/tolerations\n" in said
