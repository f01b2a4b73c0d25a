"""Workflow commands, which GitHub shows on the lines of a change."""

from extender.cli import escapes


def command(
    severity: str, text: str, *, file: str = "", line: int | None = None, title: str = ""
) -> str:
    """One annotation; `severity` is error, warning or notice."""
    properties = {"file": file or None, "line": line, "title": title or None}
    given = ",".join(
        f"{name}={_property(str(value))}" for name, value in properties.items() if value is not None
    )
    return f"::{severity} {given}::{_data(text)}" if given else f"::{severity}::{_data(text)}"


def _data(text: str) -> str:
    return escapes.lines(text, indent="").replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
