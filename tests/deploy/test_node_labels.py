"""The script of docs/node-labels.md: whatever nodes report, it makes labels that rules can read."""

import subprocess
from pathlib import Path

import pytest

from extender.match import selectors, versions
from tests.test_docs import ROOT, blocks

# Prints nodes as kubectl would, and notes what it is asked to label.
KUBECTL = """#!/bin/bash
if [ "$1" = get ]; then cat "$(dirname "$0")/nodes"; else echo "$@" >> "$(dirname "$0")/asked"; fi
"""


def labels(folder: Path, reported: str) -> dict[str, str]:
    """What the script sets on a node that reports kernel, kubelet and runtime."""
    (folder / "kubectl").write_text(KUBECTL)
    (folder / "kubectl").chmod(0o755)
    (folder / "nodes").write_text(f"worker-1 {reported}\n")
    (script,) = blocks(ROOT / "docs/node-labels.md", "bash")
    subprocess.run(  # noqa: S603 - our own documentation
        ["/bin/bash", "-euo", "pipefail", "-c", script],
        env={"PATH": f"{folder}:/usr/bin:/bin"},
        check=True,
    )
    words = (folder / "asked").read_text().split()
    assert words[:4] == ["label", "node", "worker-1", "--overwrite"]
    return dict(word.split("=") for word in words[4:])


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        ("5.15.0-91-generic v1.33.2 containerd://2.1.4", ("5.15.0", "v1.33.2", "2.1.4")),
        ("5.14.0-427.el9_4.x86_64 v1.31.2+k3s1 cri-o://1.31.0", ("5.14.0", "v1.31.2", "1.31.0")),
        ("6.1.0+ v1.30.5-gke.10 containerd://1.7.22-k3s1", ("6.1.0", "v1.30.5", "1.7.22")),
    ],
)
def test_what_nodes_report_becomes_versions(
    tmp_path: Path, reported: str, expected: tuple[str, ...]
) -> None:
    found = labels(tmp_path, reported)

    assert tuple(found.values()) == expected
    assert all(map(selectors.is_label_key, found))
    assert all(map(selectors.is_label_value, found.values()))
    assert all(map(versions.parse_tolerant, found.values()))
