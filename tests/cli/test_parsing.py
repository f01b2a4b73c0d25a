"""Command lines with slips in them."""

import pytest

from tests.cli import process


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(
            ("exlpain", "x"),
            "leeway: there is no command 'exlpain'; did you mean explain?\nSee 'leeway --help'.\n",
            id="a command",
        ),
        pytest.param(
            ("dance",),
            "leeway: there is no command 'dance'\nSee 'leeway --help'.\n",
            id="a command that is like no other",
        ),
        pytest.param(
            ("config", "pritn"),
            "leeway: there is no command 'pritn'; did you mean print?\n"
            "See 'leeway config --help'.\n",
            id="the command of a command",
        ),
        pytest.param(
            ("explain", "--kubeconfg=x", "-z", "--clustr", "y"),
            "leeway: unknown flag --kubeconfg; did you mean --kubeconfig?\n"
            "leeway: unknown flag -z\n"
            "leeway: unknown flag --clustr; did you mean --cluster?\n"
            "See 'leeway explain --help'.\n",
            id="flags, all at once",
        ),
        pytest.param(
            ("validate", "--strct"),
            "leeway: unknown flag --strct; did you mean --strict?\nSee 'leeway validate --help'.\n",
            id="a flag, where something is missing besides",
        ),
        pytest.param(
            ("--context", "x", "explain"),
            "leeway: unknown flag --context; flags come after the command\nSee 'leeway --help'.\n",
            id="a flag before the command",
        ),
    ],
)
def test_a_slip_is_named_with_what_was_meant(arguments: tuple[str, ...], said: str) -> None:
    assert process.run_here(*arguments) == process.Ended(2, "", said)


def test_a_wrong_choice_is_named_with_what_was_meant() -> None:
    ended = process.run_here("explain", "x", "-o", "jsno")

    assert (ended.code, ended.out) == (2, "")
    assert "argument -o/--output: 'jsno' is none of table, " in ended.err
    assert ended.err.endswith("; did you mean json?\n")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("certs", "--days", "-5"), id="a negative number"),
        pytest.param(("serve", "--catch-up", "-5s"), id="the value of a flag"),
        pytest.param(("serve", "-vv", "--config=nowhere.yaml"), id="short flags together"),
        pytest.param(("config", "print", "--conf", "nowhere.yaml"), id="a shortened flag"),
        pytest.param(("validate", "--", "--strct"), id="after --"),
        pytest.param(("validate", "-- strct"), id="with a space"),
    ],
)
def test_what_is_no_unknown_flag(arguments: tuple[str, ...]) -> None:
    assert "unknown flag" not in process.run_here(*arguments).err
