"""Every trap: the shipped configuration comes out clean, and broken in one way it does not."""

import copy
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from extender.config.schema import Config
from extender.review.doctor import examining
from extender.review.doctor.problems import Problem
from extender.review.doctor.setup import Setup
from tests.deploy import rendering

JSON = dict[str, Any]
EXAMPLES = rendering.ROOT / "deploy/examples"
SCHEDULER = "KubeSchedulerConfiguration"
EXTENDER = "ExtenderConfiguration"
STATIC = "Pod"


def shipped() -> dict[str, JSON]:
    """What is installed beside a control plane of one's own: mutual TLS, a static pod."""
    return copy.deepcopy(_shipped())


@functools.cache
def _shipped() -> dict[str, JSON]:
    objects = rendering.kustomized(rendering.OVERLAYS / rendering.EXTENDER_SERVICE)
    return {
        SCHEDULER: rendering.scheduler_config(objects),
        EXTENDER: yaml.safe_load(rendering.extender_config(objects)),
        STATIC: rendering.loaded(rendering.STATIC_POD)[0],
        "Deployment": rendering.one(objects, "Deployment"),
    }


def beside() -> dict[str, JSON]:
    """What is installed as a second scheduler: loopback inside of one pod."""
    objects = rendering.kustomized(rendering.OVERLAYS / rendering.SECOND_SCHEDULER)
    return {
        SCHEDULER: rendering.scheduler_config(objects),
        EXTENDER: yaml.safe_load(rendering.extender_config(objects)),
        "Deployment": rendering.one(objects, "Deployment"),
    }


def examined(
    parts: dict[str, JSON], version: tuple[int, int] | None = None
) -> list[tuple[str, str, str]]:
    """Severity, check and place of every problem."""
    setup = Setup()
    for kind, document in parts.items():
        setup.add(kind, copy.deepcopy(document))
    return [(p.severity, p.check, p.where) for p in examining.examine(setup, version)]


def sources() -> dict[str, list[JSON]]:
    """Every installation that we ship, as objects."""
    overlays = {
        f"kustomize {mode}": rendering.kustomized(rendering.OVERLAYS / mode)
        for mode in rendering.MODES
    }
    charts = {f"helm {mode}": rendering.charted(mode) for mode in rendering.MODES}
    static = [*overlays["kustomize extender-service"], *rendering.loaded(rendering.STATIC_POD)]
    return overlays | charts | {"with the static pod": static}


@pytest.mark.parametrize(
    "name", ["kustomize second-scheduler", "kustomize extender-service", "with the static pod"]
)
def test_the_overlays_come_out_clean(name: str) -> None:
    setup = Setup()
    for document in sources()[name]:
        setup.add(name, document)

    assert list(examining.examine(setup)) == []
    assert len(setup.schedulers) == len(setup.extenders) == len(setup.pods) == 1


@pytest.mark.parametrize("mode", rendering.MODES)
def test_the_chart_comes_out_clean(mode: str) -> None:
    setup = Setup()
    for document in rendering.charted(mode):
        setup.add(mode, document)

    assert list(examining.examine(setup)) == []
    assert len(setup.schedulers) == len(setup.extenders) == len(setup.pods) == 1


@pytest.mark.parametrize("source", ["kustomize", "helm", "helm with cert-manager"])
def test_compile_mode_comes_out_clean(source: str) -> None:
    if source == "kustomize":
        objects = rendering.kustomized(rendering.OVERLAYS / rendering.COMPILE)
    else:
        manages = str("cert-manager" in source).lower()
        objects = rendering.charted(rendering.COMPILE, admission__certManager__enabled=manages)
    setup = Setup()
    for document in objects:
        setup.add(source, document)

    assert list(examining.examine(setup)) == []
    assert len(setup.controllers) == len(setup.pods) == len(setup.webhooks) == 1
    assert (setup.only_compiles, setup.extenders) == (True, [])
    assert [line.split(":")[0] for line in examining.skipped(setup)] == [
        *(
            [
                "the CA of 2 webhooks, because it is not in the manifests; `leeway certs"
                " --webhook` writes it"
            ]
            if "cert-manager" not in source
            else []
        ),
        "no manifest of kube-apiserver was given",
    ]


@pytest.mark.parametrize("mode", rendering.MODES)
def test_both_modes_beside_each_other_come_out_clean(mode: str) -> None:
    setup = Setup()
    for each in (mode, rendering.COMPILE):
        for document in rendering.kustomized(rendering.OVERLAYS / each):
            setup.add(each, document)

    assert list(examining.examine(setup)) == []
    assert not setup.only_compiles


def test_the_example_comes_out_clean() -> None:
    setup = Setup()
    setup.add("example", rendering.loaded(EXAMPLES / "scheduler-config.yaml")[0])

    assert list(examining.examine(setup)) == []
    assert [line.split(":")[0] for line in examining.skipped(setup)] == [
        "no ExtenderConfiguration was given",
        "no manifest of kube-scheduler was given",
    ]


def test_of_nothing_nothing_is_said() -> None:
    assert list(examining.examine(Setup())) == []
    assert len(list(examining.skipped(Setup()))) == 1


# --- Each trap ---------------------------------------------------------------------------------

Break = Callable[[JSON], object]


def at(path: str, value: Any) -> Break:
    """Set what stands at a path; `None` takes it away."""
    *parents, last = path.split(".")

    def apply(document: JSON) -> None:
        found: Any = document
        for part in parents:
            found = found[int(part)] if part.isdecimal() else found.setdefault(part, {})
        if value is None:
            found.pop(last)
        else:
            found[last] = value

    return apply


def argument(old: str, new: str) -> Break:
    """Change an argument of the scheduler's container."""

    def apply(document: JSON) -> None:
        container = document["spec"]["containers"][0]
        container["args"] = [new if each == old else each for each in container["args"] if new]

    return apply


def environment(**values: str) -> Break:
    entries = [{"name": name, "value": value} for name, value in values.items()]
    return lambda document: document["spec"]["containers"][0].update(env=entries)


PROFILE = f"{SCHEDULER}: profiles[0]"
CALLED = f"{SCHEDULER}: extenders[0]"
GATES = f"{STATIC}: Pod extended-scheduler: --feature-gates"
GATE = "--feature-gates=SchedulerPopFromBackoffQ=false"
PLUGINS = "profiles.0.plugins"
OURS = "profiles.0.plugins"


def error(check: str, where: str) -> tuple[str, str, str]:
    return "error", check, where


def warning(check: str, where: str) -> tuple[str, str, str]:
    return "warning", check, where


TRAPS = [
    # The plugins of the profile.
    pytest.param(
        SCHEDULER,
        at(f"{PLUGINS}.multiPoint.disabled", [{"name": "NodeUnschedulable"}]),
        [error("taint-toleration", f"{PROFILE}.plugins.multiPoint.disabled")],
        id="in-tree TaintToleration is on",
    ),
    pytest.param(
        SCHEDULER,
        at(f"{PLUGINS}.score.enabled", [{"name": "TaintToleration"}]),
        [warning("taint-toleration", f"{PROFILE}.plugins.score.disabled")],
        id="in-tree TaintToleration scores",
    ),
    pytest.param(
        SCHEDULER,
        at(f"{PLUGINS}.filter.enabled", [{"name": "TaintToleration"}]),
        [error("taint-toleration", f"{PROFILE}.plugins.multiPoint.disabled")],
        id="in-tree TaintToleration is switched on again at filter",
    ),
    pytest.param(
        SCHEDULER,
        at(f"{PLUGINS}.multiPoint.disabled", [{"name": "TaintToleration"}]),
        [warning("node-unschedulable", f"{PROFILE}.plugins.multiPoint.disabled")],
        id="in-tree NodeUnschedulable is on",
    ),
    pytest.param(
        SCHEDULER,
        at(f"{PLUGINS}.score", None),
        [warning("node-affinity-score", f"{PROFILE}.plugins.score.disabled")],
        id="in-tree NodeAffinity scores",
    ),
    pytest.param(
        SCHEDULER,
        at(f"{PLUGINS}.preFilter", None),
        [warning("topology-spread", f"{PROFILE}.plugins.preFilter.disabled")],
        id="in-tree PodTopologySpread is on at preFilter",
    ),
    pytest.param(
        SCHEDULER,
        at(f"{PLUGINS}.filter", None),
        [warning("topology-spread", f"{PROFILE}.plugins.filter.disabled")],
        id="in-tree PodTopologySpread is on at filter",
    ),
    pytest.param(
        SCHEDULER,
        at(
            f"{PLUGINS}.multiPoint.disabled",
            [{"name": n} for n in ("TaintToleration", "NodeUnschedulable", "PodTopologySpread")],
        ),
        [warning("topology-spread-score", f"{PROFILE}.plugins")],
        id="in-tree PodTopologySpread is off altogether",
    ),
    pytest.param(
        SCHEDULER,
        at("profiles.0.pluginConfig", None),
        [
            warning(
                "preemption-candidates",
                f"{PROFILE}.pluginConfig[DefaultPreemption].args.minCandidateNodesPercentage",
            )
        ],
        id="no minCandidateNodesPercentage",
    ),
    pytest.param(
        SCHEDULER,
        at("profiles.0.pluginConfig.0.args.minCandidateNodesPercentage", 50),
        [
            warning(
                "preemption-candidates",
                f"{PROFILE}.pluginConfig[DefaultPreemption].args.minCandidateNodesPercentage",
            )
        ],
        id="half of the candidates",
    ),
    pytest.param(
        SCHEDULER,
        at("profiles.0.percentageOfNodesToScore", None),
        [
            warning("percentage-of-nodes", f"{PROFILE}.percentageOfNodesToScore"),
            warning("reasons-redacted", f"{EXTENDER}: reasons"),
        ],
        id="no percentageOfNodesToScore",
    ),
    pytest.param(
        SCHEDULER,
        at("profiles.0.percentageOfNodesToScore", 50),
        [
            warning("percentage-of-nodes", f"{PROFILE}.percentageOfNodesToScore"),
            warning("reasons-redacted", f"{EXTENDER}: reasons"),
        ],
        id="half of the nodes",
    ),
    pytest.param(
        SCHEDULER,
        lambda document: document["extenders"].append(
            {"urlPrefix": "https://quota.example.com", "filterVerb": "filter"}
        ),
        [warning("refusals", f"{EXTENDER}: refusals")],
        id="another extender behind ours",
    ),
    # The extender.
    pytest.param(
        SCHEDULER,
        at("extenders", []),
        [error("extender-missing", f"{SCHEDULER}: extenders")],
        id="no extender",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.preemptVerb", None),
        [error("preempt-verb", f"{CALLED}.preemptVerb")],
        id="no preemptVerb",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.preemptVerb", "preemption"),
        [error("preempt-verb", f"{CALLED}.preemptVerb")],
        id="a preemptVerb that nobody serves",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.filterVerb", None),
        [error("filter-verb", f"{CALLED}.filterVerb")],
        id="no filterVerb",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.filterVerb", "/filter"),
        [error("filter-verb", f"{CALLED}.filterVerb")],
        id="a filterVerb with a slash",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.prioritizeVerb", None),
        [warning("prioritize-verb", f"{CALLED}.prioritizeVerb")],
        id="no prioritizeVerb",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.prioritizeVerb", "score"),
        [error("prioritize-verb", f"{CALLED}.prioritizeVerb")],
        id="a prioritizeVerb that nobody serves",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.bindVerb", "bind"),
        [error("bind-verb", f"{CALLED}.bindVerb")],
        id="a bindVerb",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.urlPrefix", "https://leeway.leeway.svc:8888/scheduler"),
        [error("url-prefix", f"{CALLED}.urlPrefix")],
        id="a urlPrefix with a path",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.urlPrefix", "leeway.leeway.svc:8888"),
        [error("url-prefix", f"{CALLED}.urlPrefix")],
        id="a urlPrefix without a scheme",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.urlPrefix", "https://leeway.leeway.svc:port"),
        [error("url-prefix", f"{CALLED}.urlPrefix")],
        id="a port that is none",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.nodeCacheCapable", False),
        [warning("node-cache-capable", f"{CALLED}.nodeCacheCapable")],
        id="whole nodes",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.ignorable", True),
        [error("ignorable", f"{CALLED}.ignorable")],
        id="ignorable",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.managedResources", [{"name": "example.com/gpu"}]),
        [error("managed-resources", f"{CALLED}.managedResources")],
        id="managedResources",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.httpTimeout", None),
        [warning("http-timeout", f"{CALLED}.httpTimeout")],
        id="no httpTimeout",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.httpTimeout", "1m30s"),
        [warning("http-timeout", f"{CALLED}.httpTimeout")],
        id="a long httpTimeout",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.weight", 1),
        [warning("weight", f"{CALLED}.weight")],
        id="a weight that is not TaintToleration's",
    ),
    # The network.
    pytest.param(
        SCHEDULER,
        at("extenders.0.urlPrefix", "http://leeway.leeway.svc:8888"),
        [
            error("https-scheme", f"{CALLED}.urlPrefix"),
            error("tls-agreement", f"{CALLED}.urlPrefix"),
        ],
        id="enableHTTPS with http://",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.tlsConfig.insecure", True),
        [error("tls-insecure", f"{CALLED}.tlsConfig.insecure")],
        id="insecure",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.tlsConfig.caFile", None),
        [error("tls-insecure", f"{CALLED}.tlsConfig.caFile")],
        id="no CA",
    ),
    pytest.param(
        SCHEDULER,
        at("extenders.0.tlsConfig.certFile", None),
        [
            warning("tls-client-certificate", f"{CALLED}.tlsConfig.certFile"),
            error("tls-agreement", f"{CALLED}.tlsConfig.certFile"),
        ],
        id="no client certificate",
    ),
    pytest.param(
        STATIC,
        environment(HTTPS_PROXY="http://proxy:3128", NO_PROXY="10.0.0.0/8,.example.com"),
        [warning("proxy", f"{STATIC}: Pod extended-scheduler: env HTTPS_PROXY")],
        id="a proxy that does not know the Service",
    ),
    pytest.param(
        STATIC,
        environment(HTTPS_PROXY="http://proxy:3128", NO_PROXY="10.0.0.0/8,.svc"),
        [],
        id="a proxy with NO_PROXY for Services",
    ),
    pytest.param(
        EXTENDER,
        at("tls", None),
        [error("tls-agreement", f"{CALLED}.urlPrefix")],
        id="https:// to a listener without TLS",
    ),
    # The scheduler as a whole.
    pytest.param(
        SCHEDULER,
        at("leaderElection.resourceName", None),
        [error("leader-election", f"{SCHEDULER}: leaderElection.resourceName")],
        id="the default lease",
    ),
    pytest.param(
        SCHEDULER, at("leaderElection", {"leaderElect": False}), [], id="no leader election"
    ),
    pytest.param(
        SCHEDULER,
        at("leaderElection.resourceName", "kube-scheduler"),
        [],
        id="the lease of this name in another namespace",
    ),
    pytest.param(
        SCHEDULER,
        at("podMaxBackoffSeconds", None),
        [warning("backoff", f"{SCHEDULER}: podMaxBackoffSeconds")],
        id="no podMaxBackoffSeconds",
    ),
    pytest.param(
        SCHEDULER,
        lambda document: document["profiles"].append({"schedulerName": "default-scheduler"}),
        [
            warning("shared-extender", f"{SCHEDULER}: profiles"),
            error("self-scheduled", "Deployment: Deployment leeway: schedulerName"),
            # The second profile says nothing of its percentage.
            warning("reasons-redacted", f"{EXTENDER}: reasons"),
        ],
        id="the cluster's own profile beside ours",
    ),
    pytest.param(
        STATIC,
        argument("--secure-port=10269", GATE),
        [("info", "pop-from-backoff", GATES)],
        id="SchedulerPopFromBackoffQ is off",
    ),
    pytest.param(
        STATIC,
        at("spec.containers.0.image", "registry.k8s.io/kube-scheduler:v1.32.1"),
        [("info", "pop-from-backoff", GATES)],
        id="a scheduler that cannot end a back-off",
    ),
    pytest.param(
        STATIC,
        lambda pod: pod["spec"]["containers"][0].update(
            image="registry.k8s.io/kube-scheduler:v1.31.1",
            args=[GATE.replace("=Sch", "=SchedulerQueueingHints=true,Sch")],
        ),
        [error("pop-from-backoff", GATES)],
        id="a scheduler that does not know the gate",
    ),
    # Our own configuration.
    pytest.param(
        EXTENDER,
        at("profiles.0.schedulerName", "other"),
        [
            warning("profile-unused", f"{EXTENDER}: profiles[0].schedulerName"),
            error("nobody-enforces", f"{PROFILE}.plugins"),
        ],
        id="profiles of different names",
    ),
    pytest.param(
        EXTENDER,
        at(
            OURS,
            [
                {"name": "NodeUnschedulable"},
                {"name": "TaintToleration"},
                {"name": "NodeAffinity"},
                {"name": "PodTopologySpread", "weight": 2},
            ],
        ),
        [warning("topology-spread-weight", f"{PROFILE}.plugins.score")],
        id="soft constraints scored by both",
    ),
    pytest.param(
        EXTENDER,
        at(OURS, [{"name": "TaintToleration"}, {"name": "NodeUnschedulable"}]),
        [error("nobody-enforces", f"{PROFILE}.plugins")],
        id="spread constraints enforced by nobody",
    ),
    pytest.param(
        EXTENDER,
        at("noExecute", "join"),
        [warning("no-execute-join", f"{EXTENDER}: noExecute")],
        id="noExecute: join",
    ),
    pytest.param(
        EXTENDER,
        at("nudge.perSecond", 0),
        [warning("nudge-off", f"{EXTENDER}: nudge.perSecond")],
        id="nobody is woken",
    ),
    pytest.param(
        EXTENDER,
        at("noExecute", "never"),
        [error("readable", EXTENDER)],
        id="a configuration that does not load",
    ),
    pytest.param(
        SCHEDULER,
        at("apiVersion", "kubescheduler.config.k8s.io/v1beta3"),
        [error("readable", SCHEDULER)],
        id="a version that no scheduler reads any more",
    ),
    pytest.param(
        SCHEDULER,
        at("profiles", "all"),
        [error("readable", SCHEDULER)],
        id="a configuration of another shape",
    ),
    pytest.param(
        "Deployment",
        at("spec.template.spec.schedulerName", "extended-scheduler"),
        [error("self-scheduled", "Deployment: Deployment leeway: schedulerName")],
        id="Leeway placed by itself",
    ),
]


@pytest.mark.parametrize(("kind", "breaks", "expected"), TRAPS)
def test_a_trap_is_found_and_nothing_else(
    kind: str, breaks: Break, expected: list[tuple[str, str, str]]
) -> None:
    parts = shipped()
    breaks(parts[kind])

    assert sorted(set(examined(parts))) == sorted(expected)


@pytest.mark.parametrize(
    ("kind", "breaks", "expected"),
    [
        pytest.param(
            SCHEDULER,
            at("extenders.0.urlPrefix", "http://127.0.0.1:9999"),
            [error("port", f"{CALLED}.urlPrefix")],
            id="a port on which nobody listens",
        ),
        pytest.param(
            SCHEDULER,
            at("extenders.0.urlPrefix", "http://leeway.leeway.svc:8888"),
            [warning("plain-http", f"{CALLED}.urlPrefix")],
            id="plain HTTP through the network",
        ),
    ],
)
def test_traps_of_loopback(kind: str, breaks: Break, expected: list[tuple[str, str, str]]) -> None:
    parts = beside()
    breaks(parts[kind])

    assert examined(parts) == expected


@pytest.mark.parametrize(
    ("version", "gates", "checks"),
    [
        pytest.param((1, 36), "", [], id="1.36"),
        pytest.param((1, 36), "SchedulerPopFromBackoffQ=false", ["pop-from-backoff"], id="off"),
        pytest.param((1, 32), "", ["pop-from-backoff"], id="1.32 has no such gate"),
        pytest.param((1, 31), "", ["queueing-hints"], id="1.31 without hints"),
        pytest.param((1, 31), "SchedulerQueueingHints=true", [], id="1.31 with hints"),
        pytest.param((1, 27), "SchedulerQueueingHints=true", ["queueing-hints"], id="1.27"),
        pytest.param(None, "", [], id="a version that nobody tells"),
    ],
)
def test_by_the_version_of_the_server(
    version: tuple[int, int] | None, gates: str, checks: list[str]
) -> None:
    parts = shipped()
    container = parts[STATIC]["spec"]["containers"][0]
    container["image"] = "mirror.example.com/kube-scheduler"
    container["args"] = [f"--feature-gates={gates}"]

    assert [check for _, check, _ in examined(parts, version)] == checks


def test_without_our_configuration_every_profile_is_taken_for_ours() -> None:
    parts = shipped()
    del parts[EXTENDER]
    parts[SCHEDULER]["profiles"].append({"schedulerName": "plain"})

    assert (
        "error",
        "taint-toleration",
        f"{SCHEDULER}: profiles[1].plugins.multiPoint.disabled",
    ) in (examined(parts))


def test_a_profile_that_is_not_ours_keeps_its_plugins() -> None:
    parts = shipped()
    parts[SCHEDULER]["profiles"].append({"schedulerName": "plain", "percentageOfNodesToScore": 100})

    assert [check for _, check, _ in examined(parts)] == ["shared-extender"]


def test_of_several_extenders_ours_is_told_by_its_url() -> None:
    parts = shipped()
    parts[SCHEDULER]["extenders"].insert(
        0, {"urlPrefix": "http://quota.example.com/v1", "filterVerb": "check"}
    )

    assert examined(parts) == []
    parts[SCHEDULER]["extenders"][1]["ignorable"] = True
    assert examined(parts) == [error("ignorable", f"{SCHEDULER}: extenders[1].ignorable")]


def test_extenders_that_nobody_can_tell_apart_are_all_checked() -> None:
    parts = shipped()
    del parts[EXTENDER]
    parts[SCHEDULER]["extenders"] = [{"urlPrefix": "http://127.0.0.1:1"}] * 2

    checks = [check for _, check, where in examined(parts) if "extenders[1]" in where]
    assert "filter-verb" in checks


def test_every_problem_says_why_and_what_to_do() -> None:
    for case in TRAPS:
        kind, breaks, _ = case.values
        parts = shipped()
        breaks(parts[kind])  # type: ignore[operator,index]
        setup = Setup()
        for name, document in parts.items():
            setup.add(name, document)
        problems: list[Problem] = list(examining.examine(setup))
        assert all(p.why and p.fix and not p.why.endswith(".") for p in problems)


def test_the_checks_are_all_broken_somewhere() -> None:
    """No check without a row above: read from the source, so that a new one needs a row."""
    import re

    folder = Path(examining.__file__).parent
    named = {
        name
        for file in folder.glob("*.py")
        # These have all of their cases in tests of their own.
        if file.name not in ("certificates.py", "rights.py", "running.py", "network.py")
        and file.name not in ("webhooks.py", "whitelists.py", "compile_mode.py", "leader.py")
        for name in re.findall(
            r'Problem\(\s*"(?:error|warning|info)",\s*"([a-z-]+)"', file.read_text()
        )
    }
    broken = {check for case in TRAPS for _, check, _ in case.values[2]}  # type: ignore[union-attr]

    assert named - broken <= {"port", "plain-http", "queueing-hints"}


# --- Compile mode: the parts together; each has its own tests -------------------------------------

CONTROLLER = "Deployment leeway-controller"


def compiling(*leave_out: str, **more: JSON) -> Setup:
    """What is installed for compile mode, without some kinds, and with more."""
    objects = rendering.kustomized(rendering.OVERLAYS / rendering.COMPILE)
    setup = Setup()
    for each in [*objects, *more.values()]:
        if each["kind"] not in leave_out:
            setup.add("x", copy.deepcopy(each))
    return setup


def found(setup: Setup) -> list[tuple[str, str]]:
    return [(p.check, p.where) for p in examining.examine(setup)]


def test_a_controller_without_webhooks() -> None:
    setup = compiling("MutatingWebhookConfiguration")
    missing = [("webhook-missing", f"x: {CONTROLLER}")] * 2

    assert found(setup) == missing
    setup.pods.clear()  # nobody knows what else was installed
    assert found(setup) == []
    assert "the mutating webhooks, because" in next(iter(examining.skipped(setup)))
    setup.webhooks_listed = True
    assert found(setup) == [("webhook-missing", "cluster")] * 2


def test_webhooks_of_files_do_not_stand_for_those_of_the_cluster() -> None:
    setup = compiling()
    setup.webhooks_listed = True

    assert found(setup) == [("webhook-missing", "cluster")] * 2


def test_a_controller_whose_configuration_is_not_known() -> None:
    setup = compiling("ConfigMap")

    assert found(setup) == []
    assert setup.controller == (f"x: {CONTROLLER}", Config())
    assert next(iter(examining.skipped(setup))).startswith("no configuration of the controller")
    setup.pods.clear()
    assert setup.controller is None
    setup.answering = "http://here"
    assert setup.controller == ("http://here", Config())


def test_a_whitelist_is_in_the_way_of_compiled_tolerations_alone() -> None:
    name = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
    metadata = {"name": "tenant", "annotations": {name: '[{"key": "a", "operator": "Exists"}]'}}
    namespace: JSON = {"kind": "Namespace", "metadata": metadata}
    container = {"command": ["kube-apiserver", "--enable-admission-plugins=NodeRestriction"]}
    off = {"kind": "Pod", "metadata": {"name": "api"}, "spec": {"containers": [container]}}

    assert found(compiling(one=namespace)) == [("toleration-whitelist", "namespaces: tenant")]
    assert found(compiling(one=namespace, two=off)) == []
    assert list(examining.skipped(compiling(two=off)))[1:] == []
    alone = Setup()
    alone.add("x", namespace)
    assert found(alone) == []


def test_a_workload_in_the_files_needs_a_gate() -> None:
    gate = "TaintTolerationComparisonOperators"
    config: JSON = {"apiVersion": "leeway.scheduling/v1alpha1", "kind": EXTENDER, "compile": {}}
    rules = {"scheduling.leeway/tolerations": '[{"key": "a", "operator": "Gt", "value": "1"}]'}
    setup = Setup()
    setup.add("x", config | {"featureGates": {gate: False}})
    template: JSON = {"metadata": {"annotations": rules}, "spec": {}}
    setup.add("x", {"kind": "Job", "metadata": {"name": "j"}, "spec": {"template": template}})

    assert found(setup) == [("gate-off", f"x: featureGates.{gate}")]
