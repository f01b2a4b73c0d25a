"""The defaults, which are promises."""

import pytest

from extender.config.schema import Address, Config, LeaderElection, Limits, Listen
from extender.match.gates import FeatureGates
from extender.native.settings import CompileSettings


def test_the_defaults_are_those_of_the_documentation() -> None:
    config = Config()

    assert str(config.listen.scheduler) == "127.0.0.1:8888"
    assert str(config.listen.ops) == "127.0.0.1:8080"
    assert config.listen.admission is None
    assert (config.scheduler_tls, config.admission_tls) == (None, None)
    assert (config.kubeconfig, config.cluster_files, config.profiles) == (None, (), ())
    assert config.gates == FeatureGates(True, True, True, True)
    assert config.annotation_prefix == "scheduling.leeway/"
    assert (config.reasons, config.no_execute) == ("detailed", "narrow")
    assert config.refusals == "needed"
    assert (config.catch_up, config.max_staleness) == (0.05, None)
    assert config.limits == Limits(
        134217728, 134217728, 1024, 262144, 67108864, 20.0, 5.0, 10.0, 50
    )
    assert config.compile == CompileSettings(
        frozenset({"default-scheduler"}),
        (),
        64,
        (
            "node-role.kubernetes.io/",
            "karpenter.sh/",
            "ToBeDeletedByClusterAutoscaler",
            "DeletionCandidateOfClusterAutoscaler",
            "node.cloudprovider.kubernetes.io/",
        ),
        30,
    )
    assert config.leader_election == LeaderElection("leeway", "leeway-controller", True)
    assert (config.logging.format, config.logging.verbosity) == ("text", 0)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        pytest.param(Address("127.0.0.1", 80), "127.0.0.1:80", id="IPv4"),
        pytest.param(Address("::1", 80), "[::1]:80", id="IPv6 in brackets"),
        pytest.param(Address("localhost", 0), "localhost:0", id="a name"),
    ],
)
def test_an_address_is_written_as_it_is_read(address: Address, text: str) -> None:
    assert str(address) == text


def test_plugins_are_told_what_concerns_them() -> None:
    gates = FeatureGates(semver_operators=False)
    config = Config(
        listen=Listen(),
        gates=gates,
        annotation_prefix="example.org/",
        reasons="redacted",
        no_execute="join",
        limits=Limits(annotation_bytes=99, cache_bytes=1_000),
    )

    settings = config.settings()
    assert settings.gates == gates
    assert settings.annotation_prefix == "example.org/"
    assert settings.annotation_bytes == 99
    assert (settings.reasons, settings.no_execute) == ("redacted", "join")
    assert settings.caches.max_bytes == 1_000
    assert settings.programs.budget is settings.caches
