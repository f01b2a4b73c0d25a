"""`leeway help`, and what the program calls itself."""

import pytest

from tests.cli import process


@pytest.mark.parametrize("command", [(), ("explain",), ("config", "print")], ids=" ".join)
def test_help_shows_what_the_flag_shows(command: tuple[str, ...]) -> None:
    asked = process.run_here("help", *command)

    assert asked == process.run_here(*command, "--help")
    assert (asked.code, asked.err) == (0, "")


def test_help_on_a_command_that_is_not_there() -> None:
    ended = process.run_here("help", "exlpain")

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("leeway: there is no command 'exlpain'; did you mean explain?")


@pytest.mark.parametrize("command", [(), ("explain",), ("config", "print")], ids=" ".join)
def test_a_plugin_of_kubectl_says_what_a_person_types(command: tuple[str, ...]) -> None:
    as_plugin = process.run(*command, "--help", command=(process.KUBECTL_SCRIPT,))
    alone = process.run(*command, "--help", command=(process.SCRIPT,))

    assert as_plugin.out.startswith(f"usage: kubectl leeway {' '.join(command)}".strip())
    assert as_plugin.out.count("kubectl leeway ") == alone.out.count("leeway ")
    assert "kubectl leeway " not in alone.out


def test_the_errors_of_a_plugin_name_it() -> None:
    ended = process.run("validate", "nowhere.yaml", "--strct", command=(process.KUBECTL_SCRIPT,))

    assert ended.err == (
        "kubectl leeway: unknown flag --strct; did you mean --strict?\n"
        "See 'kubectl leeway validate --help'.\n"
    )
