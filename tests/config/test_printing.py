"""What is printed is what would be loaded."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from extender.config import loading, printing, reading
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
from extender.match.gates import ATTRIBUTE_OF, FeatureGates
from extender.model.core_v1 import Taint
from extender.native.settings import CompileSettings
from extender.plugins import DEFAULT_WEIGHTS


def test_every_default_is_written_out() -> None:
    assert printing.to_document(Config()) == {
        "apiVersion": "leeway.scheduling/v1alpha1",
        "kind": "ExtenderConfiguration",
        "listen": {"scheduler": "127.0.0.1:8888", "ops": "127.0.0.1:8080"},
        "tls": {},
        "cluster": {},
        "featureGates": dict.fromkeys(ATTRIBUTE_OF, True),
        "annotationPrefix": "scheduling.leeway/",
        "reasons": "detailed",
        "refusals": "needed",
        "noExecute": "narrow",
        "catchUp": "50ms",
        "nudge": {"perSecond": 10},
        "explain": {"enabled": False},
        "compile": {
            "schedulerNames": ["default-scheduler"],
            "extraTaints": [],
            "maxTolerations": 64,
            "protectedTaints": [
                "node-role.kubernetes.io/",
                "karpenter.sh/",
                "ToBeDeletedByClusterAutoscaler",
                "DeletionCandidateOfClusterAutoscaler",
                "node.cloudprovider.kubernetes.io/",
            ],
            "noExecuteGrace": "30s",
        },
        "leaderElection": {
            "namespace": "leeway",
            "name": "leeway-controller",
            "leaderElect": True,
        },
        "limits": {
            "requestBytes": 134217728,
            "inFlightBytes": 134217728,
            "connections": 1024,
            "annotationBytes": 262144,
            "cacheBytes": 67108864,
            "bodyTimeout": "20s",
            "headTimeout": "5s",
            "drainTimeout": "10s",
            "writesPerSecond": 50,
        },
        "logging": {"format": "text", "verbosity": 0},
    }


def printed_and_loaded(folder: Path, config: Config) -> Config:
    file = folder / "printed.yaml"
    text = yaml.safe_dump(printing.to_document(config), sort_keys=False)
    file.write_text(text, encoding="utf-8")
    return loading.load(file, {})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("1s1ms", id="a second and a bit"),
        pytest.param("1m1ms", id="a minute and a bit"),
        pytest.param("999999999h", id="a very long time"),
        pytest.param("1000020s1ms", id="a long time and a bit"),
        pytest.param("0s", id="no time"),
    ],
)
def test_a_duration_survives(tmp_path: Path, text: str) -> None:
    config = Config(catch_up=reading.duration(text))

    assert printed_and_loaded(tmp_path, config) == config


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
ports = st.integers(0, 65535)
hosts = st.sampled_from(["127.0.0.1", "::1", "localhost", "0.0.0.0", "fe80::1%eth0"])  # noqa: S104
addresses = st.builds(Address, hosts, ports)
amounts = st.integers(0, 999_999_999)
units = st.lists(st.sampled_from(["h", "m", "s", "ms"]), min_size=1, unique=True).map(
    lambda chosen: [unit for unit in ("h", "m", "s", "ms") if unit in chosen]
)
# Whatever duration a file can say.
durations = units.flatmap(
    lambda chosen: st.tuples(*(amounts for _ in chosen)).map(
        lambda values: reading.duration(
            "".join(f"{v}{u}" for v, u in zip(values, chosen, strict=True))
        )
    )
)
weights = st.lists(st.sampled_from(sorted(DEFAULT_WEIGHTS)), min_size=1, unique=True).flatmap(
    lambda names: st.fixed_dictionaries(
        {name: st.integers(0, 100) if DEFAULT_WEIGHTS[name] else st.just(0) for name in names}
    )
)
taints = st.builds(
    Taint,
    st.sampled_from(["sla", "example.org/sla"]),
    st.sampled_from(["", "990", "v1.2"]),
    st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
)
compiling = st.builds(
    CompileSettings,
    scheduler_names=st.frozensets(texts, max_size=3),
    extra_taints=st.lists(taints, max_size=3).map(tuple),
    max_tolerations=st.integers(1, 1_000),
    protected_taints=st.lists(st.sampled_from(["sla", "example.org/"])).map(tuple),
    no_execute_grace=st.integers(0, 86_400),
)
configs = st.builds(
    Config,
    listen=st.builds(Listen, addresses, addresses, st.none() | addresses),
    scheduler_tls=st.none() | st.builds(TLSFiles, texts, texts, st.none() | texts),
    admission_tls=st.none() | st.builds(TLSFiles, texts, texts),
    cluster_files=st.lists(texts, max_size=3).map(tuple),
    gates=st.builds(FeatureGates, *(st.booleans() for _ in ATTRIBUTE_OF)),
    profiles=st.lists(
        st.builds(ProfileConfig, texts, weights), max_size=3, unique_by=lambda p: p.scheduler_name
    ).map(tuple),
    annotation_prefix=st.sampled_from(["scheduling.leeway/", "example.org/", "x/"]),
    reasons=st.sampled_from(["detailed", "redacted"]),
    no_execute=st.sampled_from(["narrow", "join"]),
    catch_up=durations,
    nudges_per_second=st.integers(0, 1_000),
    max_staleness=st.none() | durations,
    compile=compiling,
    leader_election=st.builds(
        LeaderElection,
        st.sampled_from(["leeway", "kube-system"]),
        st.sampled_from(["leeway-controller", "a.b"]),
        st.booleans(),
    ),
    limits=st.builds(
        Limits,
        st.integers(1, 1 << 39),
        st.integers(1 << 39, 1 << 40),
        st.integers(16, 1_000_000),
        st.integers(1, 1 << 40),
        st.integers(1, 1 << 40),
        durations.filter(bool),
        durations.filter(bool),
        durations,
        st.integers(1, 10_000),
    ),
    logging=st.builds(Logging, st.sampled_from(["text", "json"]), st.integers(0, 10)),
)


@given(configs)
def test_a_printed_configuration_loads_as_itself(
    tmp_path_factory: pytest.TempPathFactory, config: Config
) -> None:
    assert printed_and_loaded(tmp_path_factory.getbasetemp(), config) == config


def test_a_printed_kubeconfig_loads_as_itself(tmp_path: Path) -> None:
    config = Config(kubeconfig="admin.conf")

    assert printed_and_loaded(tmp_path, config) == config


def test_what_verdicts_depend_on_names_no_file_and_no_address() -> None:
    """It is shown to whoever reaches the ops port."""
    gates = FeatureGates(cel=False)
    config = Config(
        gates=gates,
        profiles=(ProfileConfig("own", DEFAULT_WEIGHTS),),
        annotation_prefix="a.b/",
        no_execute="join",
        kubeconfig="/secret/kubeconfig",
        scheduler_tls=TLSFiles("/secret/tls.crt", "/secret/tls.key"),
        limits=Limits(annotation_bytes=1000),
        compile=CompileSettings(max_tolerations=3),
    )
    document = printing.judging_document(config)
    loaded = loading.from_data(document)

    assert "secret" not in str(document)
    assert "listen" not in document
    assert loaded.settings() == config.settings()
    assert (loaded.profiles, loaded.compile) == (config.profiles, config.compile)
