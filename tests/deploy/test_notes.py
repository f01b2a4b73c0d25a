"""The documentation shows the notes that the chart prints after an installation."""

import shutil
from pathlib import Path

import pytest
import yaml

from tests.deploy import rendering
from tests.deploy.rendering import CHART, MODES, ROOT

# `helm template` does not print NOTES.txt, so a copy of the chart puts them into an object.
_OBJECT = 'kind: ConfigMap\ndata:\n  notes: |\n{{ include "notes" . | indent 4 }}\n'


def notes(folder: Path, mode: str) -> str:
    chart = shutil.copytree(CHART, folder / "leeway")
    text = (chart / "templates/NOTES.txt").read_text(encoding="utf-8")
    wrapped = f'{{{{- define "notes" -}}}}\n{text}{{{{- end -}}}}\n'
    (chart / "templates/_notes.tpl").write_text(wrapped, encoding="utf-8")
    (chart / "templates/notes.yaml").write_text(_OBJECT, encoding="utf-8")
    values = {"mode": mode, "image.repository": "r", "scheduler.image.tag": "v1.36.3"}
    settings = [f"--set={name}={value}" for name, value in values.items()]
    only = "--show-only=templates/notes.yaml"
    shown = rendering.helm("template", "leeway", str(chart), "--namespace=leeway", only, *settings)
    found: str = yaml.safe_load(shown)["data"]["notes"]
    return found


def test_the_installation_page_shows_the_notes_of_the_chart(tmp_path: Path) -> None:
    page = (ROOT / "docs/install.md").read_text(encoding="utf-8")

    assert f"NOTES:\n{notes(tmp_path, 'second-scheduler').strip()}\n```" in page


@pytest.mark.parametrize("mode", MODES)
def test_only_a_service_without_a_scheduler_says_how_to_start_one(
    tmp_path: Path, mode: str
) -> None:
    asked = "Start kube-scheduler with it." in notes(tmp_path, mode)

    assert asked == (mode == rendering.EXTENDER_SERVICE)
