"""`-o json` and `-o yaml`."""

import argparse
import json

import pytest
import yaml

from extender.cli import output
from extender.model.documents import Plain

DOCUMENT: Plain = {"b": [{"name": "größer", "count": 1}], "a": None, "1": "1.20"}


def test_json_keeps_the_order_and_the_letters() -> None:
    text = output.dumped(DOCUMENT, "json")

    assert json.loads(text) == DOCUMENT
    assert list(json.loads(text)) == ["b", "a", "1"]
    assert "größer" in text


def test_yaml_is_the_same_data() -> None:
    assert yaml.safe_load(output.dumped(DOCUMENT, "yaml")) == DOCUMENT


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], "a table of None columns\n"),
        (["-o", "json"], "[]\n"),
        (["--output", "yaml"], "[]\n"),
        (["-o", "wide"], "a table of None columns\n"),
        (["-o", "name"], "pod/a\npod/\\x1b\n"),
    ],
    ids=["table", "json", "yaml", "wide", "name"],
)
def test_the_form_that_was_asked_for(
    arguments: list[str], shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    output.add_to(parser, output.WIDE, output.NAME)
    form = parser.parse_args(arguments).output
    names = ["pod/a", "pod/\x1b"]
    output.show([], form, lambda on: f"a table of {on.width} columns\n", names)

    assert capsys.readouterr().out == shown
