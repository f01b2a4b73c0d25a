"""Shell completion, asked of the shells that few machines have."""

from pathlib import Path

import pytest

from tests.cli import process
from tests.e2e import shells


def script_of(shell: str, folder: Path) -> Path:
    """The script as the command prints it."""
    ended = process.run("completion", shell)
    assert (ended.code, ended.err) == (0, "")
    script = folder / shell
    script.write_text(ended.out, encoding="utf-8")
    return script


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_script_is_good_syntax(shell: str, tmp_path: Path) -> None:
    done = shells.run(shell, "-n", script_of(shell, tmp_path))

    assert (done.returncode, done.stderr) == (0, "")


def test_fish_offers_the_commands(tmp_path: Path) -> None:
    question = f"source {script_of('fish', tmp_path)}; complete -C 'leeway config '"
    done = shells.run("fish", "--no-config", "-c", question)

    assert "print\tprint the effective configuration" in done.stdout.splitlines()
