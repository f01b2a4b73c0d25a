"""Workflow commands: what GitHub reads, whatever a file or a rule contains."""

from extender.cli import github


def test_a_command_has_the_place_and_the_title() -> None:
    assert github.command("error", "why", file="a.yaml", line=3, title="t") == (
        "::error file=a.yaml,line=3,title=t::why"
    )


def test_a_command_without_a_place() -> None:
    assert github.command("warning", "why") == "::warning::why"


def test_nothing_ends_a_property_or_a_command_early() -> None:
    written = github.command("error", "100 %\n::b\x1b", file="a,b:c.yaml", title="x\n::y")

    assert written == ("::error file=a%2Cb%3Ac.yaml,title=x%0A%3A%3Ay::100 %25%0A::b\\x1b")
