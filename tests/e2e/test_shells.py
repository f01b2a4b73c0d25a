"""Shell completion, asked of the shells that few machines have."""

import os
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


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_shell_asks_the_cluster_for_names(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for Leeway tells what it was asked, and answers."""
    asked = tmp_path / "asked"
    program = tmp_path / "leeway"
    program.write_text(f'#!/bin/sh\necho "$@" >> {asked}\nprintf "web-1\\nother\\n"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    script = script_of(shell, tmp_path)
    if shell == "fish":
        question = f"source {script}; complete -C 'leeway explain -n shop --node '"
        done = shells.run(shell, "--no-config", "-c", question)
        assert {"web-1", "other"} <= set(done.stdout.split())
        assert asked.read_text() == "__complete nodes explain -n shop --node \n"
    else:
        # Without a terminal there is no completion: call the function that asks, as zsh would.
        question = (
            "compadd() { print -l ${(P)@[-1]} }; compdef() { :; }\n"
            f"source {script}\nwords=(explain -n shop --node ''); CURRENT=5; _leeway_live nodes"
        )
        done = shells.run(shell, "-f", "-c", question)
        assert done.stdout.split() == ["web-1", "other"]
        assert asked.read_text() == "__complete nodes explain -n shop --node \n"
