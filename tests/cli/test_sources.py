"""Where a command finds what it looks at."""

import io
from pathlib import Path

import pytest
import yaml

from extender.cli import sources
from extender.errors import ApiError, ConfigError


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


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a person without any cluster."""
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def kubeconfig(file: Path, *contexts: str, namespace: str = "") -> str:
    """A kubeconfig with these contexts, of which the first is the current one."""
    file.parent.mkdir(exist_ok=True, parents=True)
    document = {
        "current-context": contexts[0],
        "contexts": [
            {"name": name, "context": {"cluster": "c", "namespace": namespace or None}}
            for name in contexts
        ],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
    }
    file.write_text(yaml.safe_dump(document))
    return str(file)


def namespace_of(file: str | None = None, context: str | None = None) -> str | None:
    cluster = sources.live_cluster(file, context)
    return cluster.namespace if cluster else None


def test_the_cluster_is_the_one_of_kubectl(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert namespace_of() is None
    assert sources.api_server(None) is None

    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    assert namespace_of() == "default"  # the pod that we run in has no namespace to read

    monkeypatch.setattr(sources, "_OWN_NAMESPACE", str(home / "namespace"))
    (home / "namespace").write_text("own\n")
    assert namespace_of() == "own"

    kubeconfig(home / ".kube/config", "here", namespace="at-home")
    assert namespace_of() == "at-home"

    listed = kubeconfig(home / "other", "there", namespace="listed")
    monkeypatch.setenv("KUBECONFIG", f"{home}/missing:{listed}")
    assert namespace_of() == "listed"

    assert namespace_of(kubeconfig(home / "third", "x", namespace="named")) == "named"
    assert namespace_of(kubeconfig(home / "third", "x", "y")) == "default"
    assert sources.api_server(None) is not None


def test_a_context_is_chosen_and_a_slip_is_named(home: Path) -> None:
    file = kubeconfig(home / "file", "staging", "production")

    assert namespace_of(file, "production") == "default"
    with pytest.raises(ConfigError, match="no context 'prodution'; did you mean production"):
        sources.live_cluster(file, "prodution")
    with pytest.raises(ApiError, match=r"no context 'x' \(there are staging, production\)"):
        sources.live_cluster(file, "x")


def test_a_cluster_that_is_not_there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"kubeconfig .*missing does not exist; give another"):
        sources.live_cluster(str(home / "missing"))
    with pytest.raises(ConfigError, match=r"--context x: \$KUBECONFIG is not set, and there is no"):
        sources.live_cluster(None, "x")
    assert "give --kubeconfig FILE, or PATH" in str(sources.no_cluster("PATH"))
    monkeypatch.setenv("KUBECONFIG", "/nowhere/a:/nowhere/b")
    assert sources.live_cluster(None) is None
    assert "no file of $KUBECONFIG exists: /nowhere/a:" in str(sources.no_cluster("PATH"))
