"""Where the control-plane binaries come from: a folder that is given, the cache, or a build.

They are built from the Go module proxy, without a source checkout, and cached outside of the
repository by version. `python -m tests.e2e.binaries` obtains them and prints the folder.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

KUBERNETES = "v1.36.3"
MODULES = Path(__file__).parent / "controlplane"
KUBE_TOOLS = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
TOOLS = (*KUBE_TOOLS, "etcd")

_VERSION = re.compile(r"v1\.(\d+)\.(\d+)")
_REQUIREMENTS = re.compile(r"^require \(.*?^\)\n", re.MULTILINE | re.DOTALL)


class BinariesError(Exception):
    """The binaries cannot be had; the text is one sentence."""


def version() -> str:
    """The Kubernetes version that is asked for."""
    return os.environ.get("KUBERNETES") or KUBERNETES


def minor() -> int:
    """The second number of the version that is asked for."""
    match = _VERSION.fullmatch(version())
    if match is None:
        raise BinariesError(f"KUBERNETES={version()} is not a version such as {KUBERNETES}")
    return int(match[1])


def obtain() -> Path:
    """The folder with every binary in it; built if need be, which takes some minutes."""
    given = os.environ.get("LEEWAY_KUBE_BIN")
    if given:
        if missing := _missing(Path(given)):
            raise BinariesError(f"LEEWAY_KUBE_BIN={given} has no {', '.join(missing)}")
        return Path(given)
    minor()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "leeway" / "kube" / version()
    if missing := _missing(folder):
        if shutil.which("go") is None:
            raise BinariesError(
                f"the control plane of Kubernetes {version()} cannot be had: go is not installed,"
                " and LEEWAY_KUBE_BIN does not name a folder with its binaries"
            )
        folder.mkdir(parents=True, exist_ok=True)
        print(f"building {', '.join(missing)} {version()}: some minutes", file=sys.stderr)  # noqa: T201 - a long wait should say so
        _build(folder)
    return folder


def _missing(folder: Path) -> list[str]:
    return [tool for tool in TOOLS if not (folder / tool).is_file()]


def _build(folder: Path) -> None:
    stamp = {"gitVersion": version(), "gitMajor": "1", "gitMinor": str(minor())}
    flags = " ".join(f"-X k8s.io/component-base/version.{key}={to}" for key, to in stamp.items())
    # Beside the folder, so that a binary appears in it complete or not at all.
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        for name, ldflags in (("kube", f"-s -w {flags}"), ("etcd", "-s -w")):
            module = Path(scratch) / name
            shutil.copytree(MODULES / name, module)
            if name == "kube" and version() != KUBERNETES:
                _rewrite(module)
            _go(module, "install", "-buildvcs=false", "-trimpath", f"-ldflags={ldflags}", "tool")
        (Path(scratch) / "bin" / "server").rename(Path(scratch) / "bin" / "etcd")
        for tool in TOOLS:
            (Path(scratch) / "bin" / tool).replace(folder / tool)


def _rewrite(module: Path) -> None:
    """Make the module one of another version; what it requires beyond that is found anew."""
    file = module / "go.mod"
    text = _REQUIREMENTS.sub("", file.read_text(encoding="utf-8"))
    staging = KUBERNETES.replace("v1.", "v0.", 1), version().replace("v1.", "v0.", 1)
    text = text.replace(*staging) + f"\nrequire k8s.io/kubernetes {version()}\n"
    file.write_text(text, encoding="utf-8")
    (module / "go.sum").unlink()
    _go(module, "mod", "tidy")


def _go(module: Path, *arguments: str) -> None:
    environment = os.environ | {"CGO_ENABLED": "0", "GOBIN": str(module.parent / "bin")}
    done = subprocess.run(  # noqa: S603 - fixed arguments
        ["go", *arguments],  # noqa: S607 - whichever go is installed
        cwd=module,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        raise BinariesError(
            f"the control plane of Kubernetes {version()} cannot be built:"
            f" go {arguments[0]} of {module.name} says: {last}"
        )


def main() -> int:
    """Obtain the binaries, and say where they are."""
    try:
        folder = obtain()
    except BinariesError as exc:
        print(exc, file=sys.stderr)  # noqa: T201 - a command
        return 1
    print(folder)  # noqa: T201 - a command
    return 0


if __name__ == "__main__":
    sys.exit(main())
