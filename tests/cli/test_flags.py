"""The flags and where they lead."""

import argparse
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from extender import cli
from extender.cli import flags
from extender.config import loading


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert cli.main(["config", "print", *arguments]) == 0
    return yaml.safe_load(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "path", "expected"),
    [
        pytest.param(["--scheduler-listen", "h:1"], "listen.scheduler", "h:1", id="scheduler"),
        pytest.param(["--ops-listen", "h:1"], "listen.ops", "h:1", id="ops"),
        pytest.param(["--admission-listen", "h:1"], "listen.admission", "h:1", id="admission"),
        pytest.param(["--kubeconfig", "k"], "cluster.kubeconfig", "k", id="kubeconfig"),
        pytest.param(["--cluster", "a", "b"], "cluster.files", ["a", "b"], id="cluster"),
        pytest.param(["--max-request-bytes", "5"], "limits.requestBytes", 5, id="bytes"),
        pytest.param(["--max-staleness", "1m"], "maxStaleness", "60s", id="staleness"),
        pytest.param(["--catch-up", "0"], "catchUp", "0s", id="catch-up"),
        pytest.param(["--enable-explain"], "explain.enabled", True, id="explanations"),
        pytest.param(["--leader-elect"], "leaderElection.leaderElect", True, id="election"),
        pytest.param(
            ["--leader-elect=false"], "leaderElection.leaderElect", False, id="no election"
        ),
        pytest.param(
            ["--leader-elect=True"], "leaderElection.leaderElect", True, id="election, as in Go"
        ),
        pytest.param(["--log-format", "json"], "logging.format", "json", id="log format"),
        pytest.param(["-vvv"], "logging.verbosity", 3, id="three times v"),
        pytest.param(
            ["--tls-cert-file", "c", "--tls-private-key-file", "k", "--client-ca-file", "a"],
            "tls.scheduler",
            {"certFile": "c", "keyFile": "k", "clientCAFile": "a"},
            id="TLS",
        ),
        pytest.param(
            ["--admission-tls-cert-file", "c", "--admission-tls-private-key-file", "k"],
            "tls.admission",
            {"certFile": "c", "keyFile": "k"},
            id="TLS of admission",
        ),
        pytest.param(
            [
                "--feature-gates",
                "TaintTolerationCEL=false, TaintTolerationComparisonOperators=TRUE,",
            ],
            "featureGates.TaintTolerationCEL",
            False,
            id="gates",
        ),
    ],
)
def test_a_flag_sets_its_key(
    capsys: pytest.CaptureFixture[str], arguments: list[str], path: str, expected: object
) -> None:
    value = printed(capsys, *arguments)
    for key in path.split("."):
        value = value[key]

    assert value == expected


OF_SERVE_ALONE = {
    "--scheduler-listen",
    "--tls-cert-file",
    "--tls-private-key-file",
    "--client-ca-file",
    "--max-request-bytes",
    "--catch-up",
    "--refusals",
    "--nudges-per-second",
    "--enable-explain",
}


@pytest.mark.parametrize(
    ("add", "lacking"),
    [
        pytest.param(flags.add_all_to, set(), id="config print has all"),
        pytest.param(flags.add_to, {"--leader-elect"}, id="serve elects nobody"),
        pytest.param(flags.add_controller_to, OF_SERVE_ALONE, id="controller serves no scheduler"),
    ],
)
def test_a_command_has_the_flags_that_concern_it(
    add: Callable[[argparse.ArgumentParser], None], lacking: set[str]
) -> None:
    parser = argparse.ArgumentParser(add_help=False)
    add(parser)

    assert {option for action in parser._actions for option in action.option_strings} == {
        *loading.PATH_OF_FLAG,
        "--config",
    } - lacking


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(["--feature-gates", "A"], "'A' is not of the form Name=true", id="no value"),
        pytest.param(["--max-request-bytes", "many"], "--max-request-bytes", id="no number"),
        pytest.param(["--leader-elect=no"], "'no' is neither true nor false", id="no boolean"),
        pytest.param(["--log-format", "xml"], "--log-format", id="no such format"),
        pytest.param(["--feature-gates", "Nope=true"], "featureGates.Nope: unknown", id="no gate"),
        pytest.param(
            ["--feature-gates", "TaintTolerationCEL=maybe"],
            "featureGates.TaintTolerationCEL: must be true or false",
            id="neither true nor false",
        ),
        pytest.param(["--max-request-bytes", "0"], "--max-request-bytes: must be from 1", id="0"),
        pytest.param(["--cluster", ""], "--cluster: must not be empty", id="an empty path"),
        pytest.param(["--catch-up", "-5s"], "--catch-up", id="a negative duration"),
        pytest.param(
            ["--kubeconfig", "a", "--cluster", "b"],
            "--cluster: cannot be used together with kubeconfig",
            id="two clusters",
        ),
    ],
)
def test_a_wrong_flag_is_refused_by_name(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    try:
        code: object = cli.main(["config", "print", *arguments])
    except SystemExit as exc:  # argparse's own way
        code = exc.code

    assert code == 2
    assert says in capsys.readouterr().err
