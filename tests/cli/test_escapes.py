"""Foreign text on terminals and in logs."""

import json
import logging
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from extender.cli import escapes, main, output
from extender.cli.logs import JSONFormatter
from extender.model.documents import Plain
from tests.builders import JSON
from tests.cli.test_logs import parsed, record, text

# A colour, C1's own escape and line end, an override and an isolate of direction, marks of
# direction, separators, a character that is erased, one beyond four digits.
HOSTILE = "a\x1b[31m\x9b\x85\u202e\u2066\u200f\u061c\u2028\u2029\x7f\U000e0001z"
LETTERS = "zoé-東京"


def is_harmless(said: str) -> bool:
    return all(line.isprintable() for line in said.split("\n"))


def test_a_line_has_nothing_on_it_that_does_not_print() -> None:
    assert escapes.line(HOSTILE) == (
        r"a\x1b[31m\x9b\x85\u202e\u2066\u200f\u061c\u2028\u2029\x7f\U000e0001z"
    )
    assert escapes.line("one\ntwo") == r"one\ntwo"
    assert escapes.line(LETTERS) is LETTERS


def test_no_line_of_others_looks_like_one_of_ours() -> None:
    assert escapes.lines("one\nleeway: two\x1b") == "one\n  leeway: two\\x1b"


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_data_is_harmless_and_means_the_same(form: str) -> None:
    document: Plain = {HOSTILE: [HOSTILE, f"two\nlines {LETTERS}", 7], "plain": {LETTERS: None}}
    said = output.dumped(document, form)

    assert is_harmless(said)
    assert LETTERS in said
    assert (json.loads if form == "json" else yaml.safe_load)(said) == document


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_data_is_harmless_and_means_the_same(document: object) -> None:
    said = escapes.json_text(document), escapes.yaml_text(document)  # type: ignore[arg-type]

    assert all(map(is_harmless, said))
    assert json.loads(said[0]) == yaml.safe_load(said[1]) == document


def test_a_log_shows_no_control_and_no_direction_of_others() -> None:
    fault = ValueError(HOSTILE)
    made = record(f"gave up on {HOSTILE}", fault=fault, pod=HOSTILE)

    assert is_harmless(text(made))
    assert is_harmless(as_json(made))
    assert parsed(made)["pod"] == HOSTILE
    assert parsed(made)["message"] == f"gave up on {HOSTILE}"


def as_json(made: logging.LogRecord) -> str:
    return JSONFormatter().format(made)


def bad_pod(folder: Path) -> Path:
    """The key of its toleration is hostile, and so is its name."""
    file = folder / "pod.json"
    tolerations = [{"key": HOSTILE, "operator": HOSTILE}]
    pod = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": HOSTILE},
        "spec": {"tolerations": tolerations},
    }
    file.write_text(json.dumps(pod), encoding="utf-8")
    return file


@pytest.mark.parametrize("form", ["text", "json", "github"])
def test_validate_shows_what_is_wrong_harmlessly(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unreadable = tmp_path / "not.yaml"
    unreadable.write_text('a: "\\x1b[31m\\u202e": b', encoding="utf-8")
    code = main(["validate", "-o", form, str(bad_pod(tmp_path)), str(unreadable)])
    said = capsys.readouterr()

    assert code == 2
    assert "u202e" in said.out
    assert is_harmless(said.out)
    assert is_harmless(said.err)


@pytest.mark.parametrize("wrong", ["a key", "a value", "no YAML"])
def test_a_wrong_configuration_is_told_harmlessly(
    wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "leeway.yaml"
    head = {"apiVersion": "leeway.dev/v1alpha1", "kind": "ExtenderConfiguration"}
    documents: dict[str, JSON] = {"a key": {HOSTILE: 1}, "a value": {"reasons": HOSTILE}}
    document = documents.get(wrong)
    made = "a: [\x1b[31m\u202e" if document is None else json.dumps(head | document)
    file.write_text(made, encoding="utf-8")
    code = main(["config", "print", "--config", str(file)])
    said = capsys.readouterr().err

    assert code == 2
    assert said.startswith("leeway: ")
    assert is_harmless(said)


def test_the_configuration_is_printed_harmlessly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "print", "--cluster", f"{tmp_path}/{HOSTILE[1:5]}\u202e.yaml"]) == 0
    said = capsys.readouterr().out

    assert is_harmless(said)
    assert yaml.safe_load(said)["cluster"]["files"] == [f"{tmp_path}/{HOSTILE[1:5]}\u202e.yaml"]
