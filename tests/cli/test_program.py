"""What the program calls itself."""

import sys

import pytest

from extender.cli import program

COMMANDS = ("serve", "explain")
TEXT = "'leeway serve' and leeway explain; Leeway serves, leeway dances"


@pytest.mark.parametrize(
    ("started_as", "name", "text"),
    [
        ("/usr/local/bin/leeway", "leeway", TEXT),
        ("extender/__main__.py", "leeway", TEXT),
        ("", "leeway", TEXT),
        (
            "/usr/local/bin/kubectl-leeway",
            "kubectl leeway",
            "'kubectl leeway serve' and kubectl leeway explain; Leeway serves, leeway dances",
        ),
    ],
)
def test_it_has_the_name_that_it_was_started_by(
    monkeypatch: pytest.MonkeyPatch, started_as: str, name: str, text: str
) -> None:
    monkeypatch.setattr(sys, "argv", [started_as] if started_as else [])

    assert program.name() == name
    assert program.named(TEXT, COMMANDS) == text
