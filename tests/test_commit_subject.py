"""The commit-msg hook, run as git runs it."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / ".ci" / "commit_subject.py"


def checked(message: str, folder: Path) -> tuple[int, str]:
    file = folder / "COMMIT_EDITMSG"
    file.write_text(message, encoding="utf-8")
    done = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, SCRIPT, file], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("Skip the search when no node passes\n", id="a short subject"),
        pytest.param("é" * 72 + "\n\nBecause. And why.\n", id="72 characters, of two bytes each"),
        pytest.param("# Please enter a message.\n\nMerge branch 'a'\n", id="after a comment"),
        pytest.param("\n", id="nothing, which git itself refuses"),
    ],
)
def test_a_good_subject_passes(message: str, tmp_path: Path) -> None:
    assert checked(message, tmp_path) == (0, "")


@pytest.mark.parametrize(
    ("message", "says"),
    [
        pytest.param("x" * 73, "the subject has 73 characters, at most 72 are allowed", id="long"),
        pytest.param("Skip the search.", "the subject ends in a period: leave it out", id="period"),
    ],
)
def test_a_bad_subject_is_refused(message: str, says: str, tmp_path: Path) -> None:
    assert checked(message, tmp_path) == (1, f"commit message: {says}\n")


def test_the_hook_is_configured() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (hook,) = [
        hook
        for repository in config["repos"]
        for hook in repository["hooks"]
        if "commit-msg" in hook.get("stages", ())
    ]

    assert hook["entry"].endswith(str(SCRIPT.relative_to(ROOT)))
    assert "--hook-type commit-msg" in (ROOT / "Makefile").read_text(encoding="utf-8")
