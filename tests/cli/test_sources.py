"""Where a command finds what it looks at."""

import io
from pathlib import Path

import pytest

from extender.cli import sources
from extender.errors import ConfigError


def test_the_documents_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text("a: 1\n---\nb: 2\n")

    assert list(sources.read(str(file))) == [(str(file), {"a": 1}), (str(file), {"b": 2})]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"a": 1}'))

    assert list(sources.read("-")) == [("standard input", {"a": 1})]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read: No such file"),
        ("a: [", "line 2"),
        ("a: *x", "alias .x. has no anchor"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, content: str | None, sentence: str) -> None:
    file = tmp_path / "file.yaml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigError, match=sentence):
        list(sources.read(str(file)))


def test_the_cluster_that_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("KUBECONFIG", "ignored")
    file = tmp_path / "kubeconfig"
    file.touch()

    assert sources.api_server(None) is None
    assert sources.api_server(str(file)) is not None
    with pytest.raises(ConfigError, match="does not exist"):
        sources.api_server(str(tmp_path / "missing"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    assert sources.api_server(None) is not None
