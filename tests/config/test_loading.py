"""The file and the flags together."""

from pathlib import Path
from typing import Any

import pytest

from extender.config import loading, printing
from extender.config.schema import (
    Address,
    Config,
    LeaderElection,
    Limits,
    Listen,
    Logging,
    ProfileConfig,
    TLSFiles,
)
from extender.errors import ConfigError
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Taint
from extender.native.settings import CompileSettings
from extender.plugins import DEFAULT_WEIGHTS

HEAD = "apiVersion: leeway.scheduling/v1alpha1\nkind: ExtenderConfiguration\n"

EVERYTHING = """\
apiVersion: leeway.scheduling/v1alpha1
kind: ExtenderConfiguration
listen: {scheduler: 0.0.0.0:1, ops: "[::1]:2", admission: localhost:3}
tls:
  scheduler: {certFile: tls.crt, keyFile: tls.key, clientCAFile: ca.crt}
  admission: {certFile: hook.crt, keyFile: hook.key}
cluster: {files: [cluster.yaml, more/]}
featureGates:
  TaintTolerationComparisonOperators: false
  TaintTolerationNodeAffinitySemverComparisonOperators: true
  TaintTolerationCEL: false
  NodeInclusionPolicyInPodTopologySpread: true
profiles:
- schedulerName: extended-scheduler
  plugins:
  - {name: NodeUnschedulable}
  - {name: TaintToleration, weight: 4}
  - {name: NodeAffinity}
  - {name: VolumeBinding}
  - {name: PodTopologySpread, weight: 0}
- schedulerName: everything
annotationPrefix: example.org/
reasons: redacted
refusals: always
noExecute: join
catchUp: 1s
maxStaleness: 1m30s
compile:
  schedulerNames: [one, two]
  extraTaints: ["sla=990:NoSchedule", "example.org/spot:NoExecute"]
  maxTolerations: 7
  protectedTaints: [mine, example.org/]
  noExecuteGrace: 1m
leaderElection: {namespace: kube-system, name: lease.example.org, leaderElect: false}
limits:
  requestBytes: 1
  inFlightBytes: 99
  connections: 16
  annotationBytes: 2
  cacheBytes: 3
  bodyTimeout: 4s
  headTimeout: 6s
  drainTimeout: 5ms
  writesPerSecond: 8
logging: {format: json, verbosity: 2}
"""


def load(tmp_path: Path, text: str, flags: dict[str, Any] | None = None) -> Config:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    return loading.load(file, flags or {})


def problems(tmp_path: Path, text: str, flags: dict[str, Any] | None = None) -> list[str]:
    """What is wrong with a file, without its name."""
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text, flags)
    prefix = f"{tmp_path / 'config.yaml'}: "
    return [problem.removeprefix(prefix) for problem in caught.value.problems]


def test_nothing_given_is_the_default() -> None:
    assert loading.load(None, {}) == Config()


def test_a_file_that_says_nothing_is_the_default(tmp_path: Path) -> None:
    assert load(tmp_path, HEAD) == Config()


def test_every_key_of_the_file(tmp_path: Path) -> None:
    assert load(tmp_path, EVERYTHING) == Config(
        listen=Listen(Address("0.0.0.0", 1), Address("::1", 2), Address("localhost", 3)),  # noqa: S104 - never bound
        scheduler_tls=TLSFiles("tls.crt", "tls.key", "ca.crt"),
        admission_tls=TLSFiles("hook.crt", "hook.key"),
        cluster_files=("cluster.yaml", "more/"),
        gates=FeatureGates(comparison_operators=False, cel=False),
        profiles=(
            ProfileConfig(
                "extended-scheduler",
                {
                    "NodeUnschedulable": 0,
                    "TaintToleration": 4,
                    "NodeAffinity": 2,
                    "VolumeBinding": 0,
                    "PodTopologySpread": 0,
                },
            ),
            ProfileConfig("everything", DEFAULT_WEIGHTS),
        ),
        annotation_prefix="example.org/",
        reasons="redacted",
        refusals="always",
        no_execute="join",
        catch_up=1.0,
        max_staleness=90.0,
        compile=CompileSettings(
            scheduler_names=frozenset({"one", "two"}),
            extra_taints=(
                Taint("sla", "990", "NoSchedule"),
                Taint("example.org/spot", "", "NoExecute"),
            ),
            max_tolerations=7,
            protected_taints=("mine", "example.org/"),
            no_execute_grace=60,
        ),
        leader_election=LeaderElection("kube-system", "lease.example.org", False),
        limits=Limits(1, 99, 16, 2, 3, 4.0, 6.0, 0.005, 8),
        logging=Logging("json", 2),
    )


def test_an_empty_list_of_scheduler_names_means_all(tmp_path: Path) -> None:
    config = load(tmp_path, HEAD + "compile: {schedulerNames: [], protectedTaints: []}")

    assert config.compile == CompileSettings(scheduler_names=frozenset(), protected_taints=())


def test_room_for_all_bodies_grows_with_the_largest_one(tmp_path: Path) -> None:
    larger = load(tmp_path, HEAD + "limits: {requestBytes: 268435456}").limits
    by_flag = loading.load(None, {"--max-request-bytes": 268435456}).limits
    smaller = load(tmp_path, HEAD + "limits: {requestBytes: 1000}").limits

    assert larger.in_flight_bytes == by_flag.in_flight_bytes == 268435456
    assert smaller.in_flight_bytes == 134217728


def test_the_weights_of_plugins_left_out_are_in_trees() -> None:
    assert DEFAULT_WEIGHTS == {
        "NodeUnschedulable": 0,
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "VolumeBinding": 0,
        "PodTopologySpread": 2,
    }


def test_a_file_may_be_json(tmp_path: Path) -> None:
    text = (
        '{"apiVersion": "leeway.scheduling/v1alpha1", "kind": "ExtenderConfiguration",'
        ' "reasons": "redacted"}'
    )
    assert load(tmp_path, text) == Config(reasons="redacted")


def test_a_null_section_is_an_absent_one(tmp_path: Path) -> None:
    text = HEAD + "listen:\ntls: {scheduler: null}\nprofiles: null\nlimits: ~\ncluster:\n"
    assert load(tmp_path, text) == Config()


def test_a_kubeconfig_is_kept(tmp_path: Path) -> None:
    assert load(tmp_path, HEAD + "cluster: {kubeconfig: admin.conf}").kubeconfig == "admin.conf"


@pytest.mark.parametrize(
    ("flag", "value", "expected"),
    [
        pytest.param(
            "--scheduler-listen", "h:9", {"listen": {"scheduler": "h:9"}}, id="--scheduler-listen"
        ),
        pytest.param("--ops-listen", "h:9", {"listen": {"ops": "h:9"}}, id="--ops-listen"),
        pytest.param(
            "--admission-listen", "h:9", {"listen": {"admission": "h:9"}}, id="--admission-listen"
        ),
        pytest.param("--cluster", ["x.yaml"], {"cluster": {"files": ["x.yaml"]}}, id="--cluster"),
        pytest.param(
            "--tls-cert-file",
            "new.crt",
            {"tls": {"scheduler": {"certFile": "new.crt"}}},
            id="--tls-cert-file",
        ),
        pytest.param(
            "--tls-private-key-file",
            "new.key",
            {"tls": {"scheduler": {"keyFile": "new.key"}}},
            id="--tls-private-key-file",
        ),
        pytest.param(
            "--client-ca-file",
            "new.ca",
            {"tls": {"scheduler": {"clientCAFile": "new.ca"}}},
            id="--client-ca-file",
        ),
        pytest.param(
            "--admission-tls-cert-file",
            "new.crt",
            {"tls": {"admission": {"certFile": "new.crt"}}},
            id="--admission-tls-cert-file",
        ),
        pytest.param(
            "--admission-tls-private-key-file",
            "new.key",
            {"tls": {"admission": {"keyFile": "new.key"}}},
            id="--admission-tls-private-key-file",
        ),
        pytest.param(
            "--feature-gates",
            {"TaintTolerationCEL": True},
            {"featureGates": {"TaintTolerationCEL": True}},
            id="--feature-gates, one by one",
        ),
        pytest.param(
            "--max-request-bytes", 77, {"limits": {"requestBytes": 77}}, id="--max-request-bytes"
        ),
        pytest.param("--refusals", "needed", {"refusals": "needed"}, id="--refusals"),
        pytest.param("--max-staleness", "5s", {"maxStaleness": "5s"}, id="--max-staleness"),
        pytest.param("--catch-up", "0", {"catchUp": "0s"}, id="--catch-up"),
        pytest.param(
            "--enable-explain", True, {"explain": {"enabled": True}}, id="--enable-explain"
        ),
        pytest.param(
            "--leader-elect", True, {"leaderElection": {"leaderElect": True}}, id="--leader-elect"
        ),
        pytest.param("--log-format", "text", {"logging": {"format": "text"}}, id="--log-format"),
        pytest.param("-v", 3, {"logging": {"verbosity": 3}}, id="-v"),
    ],
)
def test_a_flag_wins_over_the_file_and_leaves_the_rest(
    tmp_path: Path, flag: str, value: Any, expected: dict[str, Any]
) -> None:
    without = printing.to_document(load(tmp_path, EVERYTHING))
    with_flag = printing.to_document(load(tmp_path, EVERYTHING, {flag: value}))

    assert with_flag == merged(without, expected)


def merged(base: Any, change: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(change, dict):
        return change
    return base | {key: merged(base.get(key), value) for key, value in change.items()}


def test_every_flag_has_its_place_in_the_file() -> None:
    assert set(loading.PATH_OF_FLAG) == {
        "--scheduler-listen",
        "--admission-listen",
        "--ops-listen",
        "--kubeconfig",
        "--cluster",
        "--feature-gates",
        "--tls-cert-file",
        "--tls-private-key-file",
        "--client-ca-file",
        "--admission-tls-cert-file",
        "--admission-tls-private-key-file",
        "--max-request-bytes",
        "--refusals",
        "--nudges-per-second",
        "--max-staleness",
        "--catch-up",
        "--enable-explain",
        "--leader-elect",
        "--log-format",
        "-v",
    }


def test_flags_work_without_a_file() -> None:
    flags: dict[str, Any] = {"--cluster": ["a.yaml"], "--catch-up": "0", "-v": 1}

    assert loading.load(None, flags) == Config(
        cluster_files=("a.yaml",), catch_up=0.0, logging=Logging(verbosity=1)
    )


WRONG_EVERYWHERE = (
    HEAD
    + """\
listen: {scheduler: "8888", port: 5}
tls: {scheduler: {certFile: a}, ops: {}}
cluster: {kubeconfig: a, files: [b]}
featureGates: {NoSuchGate: true, TaintTolerationCEL: "yes"}
profiles:
- plugins: [{name: NoSuchPlugin}, {name: TaintToleration, weight: 101}, {weight: 1}]
- schedulerName: a
  plugins: [{name: NodeUnschedulable, weight: 5}, {name: NodeAffinity}, {name: NodeAffinity}, 7]
- schedulerName: a
  plugins: []
- 5
annotationPrefix: ""
reasons: loud
noExecute: both
catchUp: soon
maxStaleness: -1s
limits:
  {requestBytes: 0, inFlightBytes: 0, connections: 15, annotationBytes: many, bodyTimeout: 0s,
  drainTimeout: 5, writesPerSecond: 0}
compile:
  {schedulerNames: one, extraTaints: ["sla=990"], maxTolerations: 1001, protectedTaints: ["a/*"],
  noExecuteGrace: 1ms, grace: 5s}
leaderElection: {namespace: a.b, name: Not DNS, leaderElect: "yes", leaseDuration: 15s}
logging: {format: xml, verbosity: true}
color: blue
"""
)


def test_every_problem_is_told_at_once_with_its_path(tmp_path: Path) -> None:
    found = problems(tmp_path, WRONG_EVERYWHERE)

    assert [problem.split(": ")[0] for problem in sorted(found)] == sorted(
        [
            "listen.scheduler",
            "listen.port",
            "tls.scheduler.keyFile",
            "tls.ops",
            "cluster.files",
            "featureGates.NoSuchGate",
            "featureGates.TaintTolerationCEL",
            "profiles[0].schedulerName",
            "profiles[0].plugins[0].name",
            "profiles[0].plugins[1].weight",
            "profiles[0].plugins[2].name",
            "profiles[1].plugins[0].weight",
            "profiles[1].plugins[2].name",
            "profiles[1].plugins[3]",
            "profiles[2].schedulerName",
            "profiles[2].plugins",
            "profiles[3]",
            "annotationPrefix",
            "reasons",
            "noExecute",
            "catchUp",
            "maxStaleness",
            "limits.requestBytes",
            "limits.inFlightBytes",
            "limits.connections",
            "limits.annotationBytes",
            "limits.bodyTimeout",
            "limits.drainTimeout",
            "limits.writesPerSecond",
            "compile.schedulerNames",
            "compile.extraTaints",
            "compile.maxTolerations",
            "compile.protectedTaints",
            "compile.noExecuteGrace",
            "compile.grace",
            "leaderElection.namespace",
            "leaderElection.name",
            "leaderElection.leaderElect",
            "leaderElection.leaseDuration",
            "logging.format",
            "logging.verbosity",
            "color",
        ]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "profiles: [{schedulerName: a, plugins: [{name: Nope}]}]",
            "profiles[0].plugins[0].name: unknown plugin 'Nope'; known: NodeUnschedulable,"
            " TaintToleration, NodeAffinity, VolumeBinding, PodTopologySpread",
            id="an unknown plugin",
        ),
        pytest.param(
            "profiles: [{schedulerName: a, plugins: [{}]}]",
            "profiles[0].plugins[0].name: is missing",
            id="a plugin without a name",
        ),
        pytest.param(
            "profiles: [{schedulerName: a, plugins: [{name: VolumeBinding, weight: 1}]}]",
            "profiles[0].plugins[0].weight: VolumeBinding does not score, so it takes no weight",
            id="a weight for what does not score",
        ),
        pytest.param(
            "profiles: [{schedulerName: a, plugins: [{name: NodeAffinity, weight: -1}]}]",
            "profiles[0].plugins[0].weight: must be from 0 to 100, not -1",
            id="a negative weight",
        ),
        pytest.param(
            "profiles: [{schedulerName: a}, {schedulerName: a}]",
            "profiles[1].schedulerName: 'a' is configured twice",
            id="a profile twice",
        ),
        pytest.param(
            "profiles: []",
            "profiles: must name at least one profile, or be left out",
            id="no profile",
        ),
        pytest.param("profiles: {}", "profiles: must be a list, not a mapping", id="no list"),
        pytest.param(
            "profiles: [{}]", "profiles[0].schedulerName: is missing", id="a profile without a name"
        ),
        pytest.param(
            'profiles: [{schedulerName: ""}]',
            "profiles[0].schedulerName: must not be empty",
            id="an empty name",
        ),
        pytest.param(
            "colour: blue",
            "colour: unknown key; known here: annotationPrefix, apiVersion, catchUp, cluster,"
            " compile, explain, featureGates, kind, leaderElection, limits, listen, logging,"
            " maxStaleness, noExecute, nudge, profiles, reasons, refusals, tls",
            id="an unknown key",
        ),
        pytest.param(
            "tls: {admission: {certFile: a, keyFile: b, clientCAFile: c}}",
            "tls.admission.clientCAFile: unknown key; known here: certFile, keyFile",
            id="a client authority for admission",
        ),
        pytest.param(
            "limits: {requestBytes: 1099511627777}",
            "limits.requestBytes: must be from 1 to 1099511627776, not 1099511627777",
            id="a limit that is none",
        ),
        pytest.param(
            "limits: {inFlightBytes: 134217727}",
            "limits.inFlightBytes: must be at least requestBytes of 134217728: a request of that"
            " size would never be read",
            id="less for all bodies than for one",
        ),
        pytest.param(
            "limits: {connections: 15}",
            "limits.connections: must be from 16 to 1000000, not 15",
            id="fewer connections than listeners have use for",
        ),
        pytest.param(
            "cluster: {kubeconfig: a, files: [b]}",
            "cluster.files: cannot be used together with kubeconfig",
            id="two clusters",
        ),
    ],
)
def test_one_problem_in_words(tmp_path: Path, text: str, expected: str) -> None:
    assert expected in problems(tmp_path, HEAD + text)


MISSING_CERT = "tls.scheduler.certFile: is missing: TLS needs both certFile and keyFile"
MISSING_KEY = "tls.scheduler.keyFile: is missing: TLS needs both certFile and keyFile"


@pytest.mark.parametrize(
    ("tls", "expected"),
    [
        pytest.param("certFile: a", [MISSING_KEY], id="a certificate alone"),
        pytest.param("keyFile: a", [MISSING_CERT], id="a key alone"),
        pytest.param("clientCAFile: a", [MISSING_CERT, MISSING_KEY], id="a client authority alone"),
        pytest.param("certFile: a, clientCAFile: b", [MISSING_KEY], id="all but the key"),
        pytest.param("keyFile: a, clientCAFile: b", [MISSING_CERT], id="all but the certificate"),
    ],
)
def test_half_a_tls_configuration_names_the_missing_part(
    tmp_path: Path, tls: str, expected: list[str]
) -> None:
    assert sorted(problems(tmp_path, HEAD + f"tls: {{scheduler: {{{tls}}}}}")) == expected


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param(
            {"--tls-cert-file": "a"},
            "--tls-private-key-file",
            id="a certificate without a key",
        ),
        pytest.param(
            {"--tls-private-key-file": "a"}, "--tls-cert-file", id="a key without a certificate"
        ),
        pytest.param({"--client-ca-file": "a"}, "--tls-cert-file", id="a client authority alone"),
    ],
)
def test_half_a_tls_configuration_by_flags_names_the_missing_part(
    flags: dict[str, Any], expected: str
) -> None:
    part = loading.PATH_OF_FLAG[expected]
    with pytest.raises(ConfigError) as caught:
        loading.load(None, flags)

    assert any(p.startswith((f"{expected}: ", f"{part}: ")) for p in caught.value.problems)


def test_a_problem_of_a_flag_is_told_as_the_flags() -> None:
    flags: dict[str, Any] = {
        "--scheduler-listen": "nowhere",
        "--catch-up": "soon",
        "--feature-gates": {"NoSuchGate": True},
        "-v": 11,
    }
    with pytest.raises(ConfigError) as caught:
        loading.load(None, flags)

    assert sorted(problem.split(": ")[0] for problem in caught.value.problems) == [
        "--catch-up",
        "--scheduler-listen",
        "-v",
        "featureGates.NoSuchGate",
    ]


def test_a_problem_of_a_flag_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, HEAD, {"--catch-up": "soon"})

    assert [problem.split(": ")[0] for problem in caught.value.problems] == ["--catch-up"]


def test_a_flag_does_not_hide_that_the_file_is_wrong_there(tmp_path: Path) -> None:
    found = problems(tmp_path, HEAD + "listen: nowhere", {"--ops-listen": "h:1"})

    assert found == ["listen: must be a mapping, not text"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "", ["must be a mapping with apiVersion leeway.scheduling/v1alpha1"], id="empty"
        ),
        pytest.param(
            "- a\n", ["must be a mapping with apiVersion leeway.scheduling/v1alpha1"], id="a list"
        ),
        pytest.param(
            "apiVersion: leeway.scheduling/v2\nkind: ExtenderConfiguration\n",
            ["apiVersion: must be leeway.scheduling/v1alpha1"],
            id="another version",
        ),
        pytest.param(
            "reasons: redacted\n",
            [
                "apiVersion: must be leeway.scheduling/v1alpha1",
                "kind: must be ExtenderConfiguration",
            ],
            id="neither version nor kind",
        ),
        pytest.param(HEAD + "---\na: b\n", ["more than one YAML document"], id="two documents"),
    ],
)
def test_a_file_that_is_something_else(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert problems(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(HEAD + "listen: {scheduler: [\n", None, id="an open bracket"),
        pytest.param(HEAD + "a: b: c\n", "line 3: ", id="a colon too many"),
        pytest.param(HEAD + "listen: &x {}\n", "line 3: anchors are not supported", id="an anchor"),
        pytest.param(HEAD + "kind: a\n", "line 3: key 'kind' appears twice", id="a key twice"),
        pytest.param(HEAD + "\tx: 1\n", "line 3: ", id="a tab"),
    ],
)
def test_bad_yaml_is_told_with_its_line(tmp_path: Path, text: str, line: str | None) -> None:
    (problem,) = problems(tmp_path, text)

    assert problem.startswith(line or "line ")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xff\xfe\x00", id="bytes that are not UTF-8"),
        pytest.param(b"a: \x00", id="a zero byte"),
    ],
)
def test_a_file_that_is_no_text(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "config.yaml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        loading.load(file, {})

    (problem,) = caught.value.problems
    assert problem.startswith(f"{file}: ")
    assert "\n" not in problem


@pytest.mark.parametrize(
    ("name", "says"),
    [
        pytest.param("missing.yaml", "cannot be read: No such file or directory", id="no file"),
        pytest.param(".", "cannot be read: Is a directory", id="a folder"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loading.load(tmp_path / name, {})

    assert caught.value.problems == [f"{tmp_path / name}: {says}"]


def test_deep_nonsense_is_a_problem_like_any_other(tmp_path: Path) -> None:
    deep = "[" * 900 + "]" * 900
    text = (
        '{"apiVersion": "leeway.scheduling/v1alpha1", "kind": "ExtenderConfiguration",'
        f' "reasons": {deep}}}'
    )

    (problem,) = problems(tmp_path, text)
    assert problem.startswith("reasons: ")
