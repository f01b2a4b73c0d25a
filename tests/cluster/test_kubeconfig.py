"""Kubeconfigs, one and several."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from extender.cluster import kubeconfig
from extender.errors import ApiError


def written(file: Path, **content: Any) -> str:
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump({key.replace("_", "-"): each for key, each in content.items()}))
    return str(file)


def entry(kind: str, name: str, **content: Any) -> dict[str, Any]:
    return {"name": name, kind: {key.replace("_", "-"): each for key, each in content.items()}}


def test_of_several_files_the_first_that_says_something_wins(tmp_path: Path) -> None:
    first = written(
        tmp_path / "first",
        contexts=[entry("context", "a", cluster="c", namespace="of-first")],
        clusters=[entry("cluster", "c", server="https://first")],
    )
    second = written(
        tmp_path / "second",
        current_context="a",
        contexts=[
            entry("context", "a", cluster="c", namespace="of-second", user="u"),
            entry("context", "b", cluster="d", user="u"),
        ],
        clusters=[
            entry("cluster", "c", server="https://second"),
            entry("cluster", "d", server="https://d"),
        ],
        users=[entry("user", "u", token="secret")],  # noqa: S106 - of nobody
    )
    third = written(tmp_path / "third", current_context="b")
    config = kubeconfig.read([first, second, third])
    current, other = kubeconfig.chosen(config), kubeconfig.chosen(config, "b")

    assert (current.name, current.namespace) == ("a", "of-first")
    assert (current.cluster, current.user) == ({"server": "https://first"}, {})
    assert (other.namespace, other.user) == ("default", {"token": "secret"})
    assert other.document()["clusters"][0]["cluster"] == {"server": "https://d"}


def test_paths_are_relative_to_the_file_that_they_stand_in(tmp_path: Path) -> None:
    plugin = {"command": "./bin/login", "apiVersion": "v1"}
    file = written(
        tmp_path / "folder" / "config",
        current_context="a",
        contexts=[entry("context", "a", cluster="c", user="u")],
        clusters=[entry("cluster", "c", server="https://c", certificate_authority="ca.crt")],
        users=[
            entry("user", "u", client_certificate="/etc/tls.crt", tokenFile="t", exec=plugin),
            entry("user", "v", exec={"command": "aws"}),
        ],
    )
    config = kubeconfig.read([file])
    chosen = kubeconfig.chosen(config)

    assert chosen.cluster["certificate-authority"] == str(tmp_path / "folder/ca.crt")
    assert chosen.user["client-certificate"] == "/etc/tls.crt"
    assert chosen.user["tokenFile"] == str(tmp_path / "folder/t")
    assert chosen.user["exec"] == plugin | {"command": str(tmp_path / "folder/bin/login")}
    assert config.users["v"]["exec"] == {"command": "aws"}


def test_the_files_that_kubectl_reads(tmp_path: Path) -> None:
    own = written(tmp_path / ".kube" / "config")
    first, second = written(tmp_path / "a"), written(tmp_path / "b")

    assert kubeconfig.files({}, tmp_path) == (own,)
    assert kubeconfig.files({"KUBECONFIG": ""}, tmp_path) == (own,)
    assert kubeconfig.files({}, tmp_path / "nobody") == ()
    listed = {"KUBECONFIG": f":{first}:{tmp_path}/missing:{second}:{first}"}
    assert kubeconfig.files(listed, tmp_path) == (first, second)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param({}, "there is no current context; choose one with --context, or", id="empty"),
        pytest.param(
            {"contexts": [entry("context", f"c{i}") for i in range(12)]},
            r"with --context \(there are c0, .*, c9 and 2 more\), or with 'kubectl config",
            id="no current context",
        ),
        pytest.param({"current_context": "x"}, "there is no context 'x'$", id="unknown context"),
        pytest.param(
            {"current_context": "a", "contexts": [entry("context", "a", cluster="c")]},
            "context 'a' names no cluster with a server",
            id="unknown cluster",
        ),
        pytest.param(
            {
                "current_context": "a",
                "contexts": [entry("context", "a", cluster="c", user="u")],
                "clusters": [entry("cluster", "c", server="https://c")],
            },
            "context 'a' names a user that is not there: 'u'",
            id="unknown user",
        ),
        pytest.param({"users": {"a": 1}}, "users must be a list of entries with a", id="a map"),
        pytest.param({"users": ["a"]}, "users must be a list of entries", id="a list of text"),
        pytest.param(
            {"clusters": [{"name": "a", "cluster": "b"}]},
            "clusters: 'a' must have a cluster with keys",
            id="a text",
        ),
    ],
)
def test_a_kubeconfig_that_lacks_something(
    tmp_path: Path, content: dict[str, Any], problem: str
) -> None:
    file = written(tmp_path / "config", **content)

    with pytest.raises(ApiError, match=f"^kubeconfig {file}: .*{problem}"):
        kubeconfig.chosen(kubeconfig.read([file]))
