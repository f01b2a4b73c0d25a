"""What the rules of a workload come to, and that it is what they mean."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.framework import rules
from extender.framework.interface import Settings
from extender.match import selectors, taints
from extender.model.core_v1 import Pod, Taint
from extender.model.documents import Plain
from extender.native.settings import CompileSettings
from extender.review.compiling import workloads
from extender.review.compiling.edits import Rewriting, applied, at
from extender.review.compiling.workloads import Facts
from tests.builders import JSON

SETTINGS = Settings()
COMPILED = "scheduling.leeway/compiled"
TOLERATIONS = "scheduling.leeway/tolerations"
AFFINITY = "scheduling.leeway/node-affinity"
GT_900 = {"key": "sla", "operator": "Gt", "value": "900"}
KERNEL = "kernel"


def sla(*values: str, effect: str = "NoSchedule") -> dict[Taint, int]:
    return {Taint("sla", value, effect): 1 for value in values}


def equal(value: str, effect: str = "NoSchedule") -> JSON:
    return {"key": "sla", "operator": "Equal", "value": value, "effect": effect}


def newer(version: str) -> JSON:
    term = {"matchExpressions": [{"key": KERNEL, "operator": "SemverGt", "values": [version]}]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}


def one_of(*values: str) -> JSON:
    term = {"matchExpressions": [{"key": KERNEL, "operator": "In", "values": [*values]}]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}


def a_pod(
    *own: JSON, tolerations: Sequence[JSON] = (), affinity: JSON | None = None, **spec: Any
) -> dict[str, Any]:
    written = {}
    if tolerations:
        written[TOLERATIONS] = json.dumps([*tolerations])
    if affinity is not None:
        written[AFFINITY] = json.dumps(affinity)
    pod: dict[str, Any] = {"metadata": {"name": "p", "annotations": written}, "spec": spec}
    if own:
        pod["spec"]["tolerations"] = [*own]
    return pod


def rewritten(
    pod: Plain, facts: Facts, kind: str = "Pod", compile_settings: CompileSettings | None = None
) -> Rewriting:
    return workloads.rewrite(pod, kind, facts, SETTINGS, compile_settings or CompileSettings())


def compiled(pod: Plain, facts: Facts) -> Any:
    found = rewritten(pod, facts)
    assert found.errors == ()
    return applied(pod, found.edits)


def listed(pod: Plain) -> Plain:
    return at(pod, ("spec", "tolerations"))


def test_an_equal_for_each_taint_that_a_rule_matches_behind_own_ones() -> None:
    gpu = {"key": "gpu", "operator": "Exists"}
    facts = Facts(sla("850", "960", "950") | sla("970", effect="NoExecute"))

    found = compiled(a_pod(gpu, tolerations=[{**GT_900, "tolerationSeconds": 30}]), facts)

    late = {**equal("970", "NoExecute"), "tolerationSeconds": 30}
    assert listed(found) == [gpu, equal("950"), equal("960"), late]
    assert json.loads(found["metadata"]["annotations"][COMPILED]) == {
        "tolerations": ["sla=950:NoSchedule", "sla=960:NoSchedule", "sla=970:NoExecute"]
    }


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("Deployment", ("spec", "template")),
        ("CronJob", ("spec", "jobTemplate", "spec", "template")),
    ],
)
def test_a_template_is_compiled_where_it_is(kind: str, path: tuple[str, ...]) -> None:
    workload: Plain = a_pod(tolerations=[GT_900])
    for part in reversed(path):
        workload = {part: workload}

    found = rewritten(workload, Facts(sla("950")), kind)

    assert [edit.path for edit in found.edits] == [
        (*path, "spec", "tolerations"),
        (*path, "metadata", "annotations", COMPILED),
    ]
    assert found.added == 1


@pytest.mark.parametrize("workload", [{}, {"spec": {"template": None}}, a_pod(), {"spec": None}])
def test_without_rules_nothing_is_done(workload: Plain) -> None:
    facts = Facts(sla("950"))

    assert rewritten(workload, facts) == rewritten(workload, facts, "Job") == Rewriting()


def test_a_daemon_set_needs_no_toleration_that_its_controller_adds() -> None:
    key = "node.kubernetes.io/unschedulable"
    cordon = Facts({Taint(key, "", "NoSchedule"): 1})
    pod = a_pod(tolerations=[{"key": key, "operator": "Exists"}])
    template: Plain = {"spec": {"template": pod}}

    assert rewritten(template, cordon, "DaemonSet").edits == ()
    assert rewritten(template, cordon, "Deployment").added == 1


def test_a_value_that_no_node_has_any_more_stays() -> None:
    before = compiled(a_pod(tolerations=[GT_900]), Facts(sla("950", "960")))

    after = rewritten(before, Facts(sla("950")))

    assert after.edits == ()


def test_what_no_rule_matches_any_more_goes() -> None:
    before = compiled(a_pod(tolerations=[GT_900]), Facts(sla("950", "990")))
    before["metadata"]["annotations"][TOLERATIONS] = json.dumps([{**GT_900, "value": "960"}])

    after = compiled(before, Facts(sla("950", "990")))

    assert listed(after) == [equal("990")]


def test_without_its_rules_a_pod_is_what_it_was() -> None:
    own = one_of("6.1.0")
    original = a_pod(affinity=newer("6"), tolerations=[GT_900])
    original["spec"]["affinity"] = {"nodeAffinity": own, "podAffinity": {}}
    facts = Facts(sla("950"), {KERNEL: {"6.1.0", "6.8.0"}})
    before = compiled(original, facts)
    del before["metadata"]["annotations"][TOLERATIONS]
    del before["metadata"]["annotations"][AFFINITY]

    after = compiled(before, facts)

    assert after["spec"] == {"affinity": {"nodeAffinity": own, "podAffinity": {}}}
    assert after["metadata"]["annotations"] == {}


def test_an_affinity_that_was_not_there_goes_as_a_whole() -> None:
    facts = Facts({}, {KERNEL: {"6.8.0"}})
    before = compiled(a_pod(affinity=newer("6")), facts)
    del before["metadata"]["annotations"][AFFINITY]

    assert compiled(before, facts)["spec"] == {}


def test_a_new_version_is_added_to_the_list() -> None:
    before = compiled(a_pod(affinity=newer("6")), Facts({}, {KERNEL: {"6.1.0"}}))
    assert before["spec"]["affinity"]["nodeAffinity"] == one_of("6.1.0")

    found = rewritten(before, Facts({}, {KERNEL: {"6.1.0", "6.8.0"}}))

    assert found.added == 1
    after = applied(before, found.edits)
    assert at(after, ("spec", "affinity", "nodeAffinity")) == one_of("6.1.0", "6.8.0")
    assert [each.text for each in found.warnings] == [
        "the list of versions is that of today's nodes: a node with another version needs a new"
        " compile, and --check finds it"
    ]


def test_semver_operators_of_the_native_field_are_replaced_too() -> None:
    pod = a_pod()
    pod["spec"]["affinity"] = {"nodeAffinity": newer("6")}

    found = compiled(pod, Facts({}, {KERNEL: {"6.1.0"}}))

    assert found["spec"]["affinity"]["nodeAffinity"] == one_of("6.1.0")
    recorded = json.loads(found["metadata"]["annotations"][COMPILED])
    assert recorded["nodeAffinity"]["own"] == newer("6")


def test_an_edited_affinity_is_an_error() -> None:
    facts = Facts({}, {KERNEL: {"6.1.0"}})
    pod = compiled(a_pod(affinity=newer("6")), facts)
    pod["spec"]["affinity"]["nodeAffinity"] = one_of("6.1.0", "9.9.9")

    found = rewritten(pod, facts)

    assert found.edits == ()
    assert "was changed after leeway compile wrote it" in found.errors[0].text


def test_versions_need_nodes() -> None:
    found = rewritten(a_pod(affinity=newer("6")), Facts(sla("950")))

    assert "give --cluster PATH or a kubeconfig" in found.errors[0].text


def test_a_broken_record_is_an_error() -> None:
    pod = a_pod(tolerations=[GT_900])
    pod["metadata"]["annotations"][COMPILED] = "?"

    assert "leeway compile writes it" in rewritten(pod, Facts()).errors[0].text


def test_too_many_taints_are_cut_with_a_warning() -> None:
    facts = Facts({**sla("950"), Taint("sla", "960", "NoSchedule"): 5})

    found = rewritten(
        a_pod(tolerations=[GT_900]), facts, compile_settings=CompileSettings(max_tolerations=1)
    )

    assert found.edits[0].value == [equal("960")]
    assert "more taints than compile.maxTolerations" in found.warnings[0].text


def test_a_native_rule_stays_with_a_warning() -> None:
    found = rewritten(a_pod(GT_900), Facts(sla("950")))

    assert found.edits[0].value == [GT_900, equal("950")]
    assert found.warnings[0].path == ("spec", "tolerations", 0)
    assert "carry the rule in the annotation" in found.warnings[0].text


VALUES = st.sampled_from(["850", "950", "960", "x", ""])
EFFECTS = st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
KEYS = st.sampled_from(["sla", "gpu", "node-role.kubernetes.io/control-plane"])
TAINTS = st.dictionaries(st.builds(Taint, KEYS, VALUES, EFFECTS), st.integers(0, 3), max_size=5)
RULES = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"key": KEYS, "operator": st.sampled_from(["Gt", "Lt"]), "value": VALUES},
            optional={"effect": EFFECTS},
        ),
        st.just({"operator": "Exists"}),
        st.just({"expression": "taint.value.startsWith('9')"}),
    ),
    max_size=3,
)
OWN = st.lists(st.fixed_dictionaries({"key": KEYS, "value": VALUES, "effect": EFFECTS}), max_size=2)
VERSIONS = st.frozensets(st.sampled_from(["5.15.0", "6.1.0", "6.8.0", "6.8.0-rc.1", "el9_4"]))


@given(own=OWN, written=RULES, now=TAINTS, later=TAINTS)
def test_the_plain_pod_tolerates_what_the_rules_tolerate(
    own: Sequence[JSON], written: Sequence[JSON], now: dict[Taint, int], later: dict[Taint, int]
) -> None:
    pod = a_pod(*own, tolerations=written)

    found = compiled(pod, Facts(now))

    assert rewritten(found, Facts(now)).edits == ()
    found = compiled(found, Facts(later))
    extended = _Rules(pod)
    plain = taints.compile_tolerations(
        msgspec.convert(found, Pod).spec.tolerations or (),  # type: ignore[union-attr]
        SETTINGS.gates,
        SETTINGS.programs,
        set(),
    )
    for taint in later:
        assert plain.tolerates(taint, set()) is extended.tolerates(taint)


class _Rules:
    """What the rules of a pod mean, by the plugins' own gathering of them.

    A rule that does not name the key of a protected taint does not count for it.
    """

    def __init__(self, pod: Plain) -> None:
        self._pod = msgspec.convert(pod, Pod)

    def tolerates(self, taint: Taint) -> bool:
        found = rules.pod_tolerations(self._pod, SETTINGS)
        if not CompileSettings().is_protected(taint.key):
            return found.joined.tolerates(taint, set())
        named = [each for each in found.annotated.matchers if each.key == taint.key]
        return found.native.tolerates(taint, set()) or any(
            each.tolerates(taint, set()) for each in named
        )


@given(own=st.none() | st.just(one_of("6.1.0", "6.8.0")), now=VERSIONS, later=VERSIONS)
def test_the_plain_affinity_follows_the_nodes(
    own: JSON | None, now: frozenset[str], later: frozenset[str]
) -> None:
    pod = a_pod(affinity=newer("6.1.0-rc.1"))
    if own is not None:
        pod["spec"]["affinity"] = {"nodeAffinity": own}
    facts: Mapping[str, Facts] = {
        "now": Facts({}, {KERNEL: now}),
        "later": Facts({}, {KERNEL: later}),
    }

    found = compiled(compiled(pod, facts["now"]), facts["later"])

    assert found == compiled(pod, facts["later"])
    assert rewritten(found, facts["later"]).edits == ()
    parsed = msgspec.convert(pod, Pod)
    both = rules.native_affinity(parsed), rules.annotated_affinity(parsed, SETTINGS)
    before = selectors.compile_required(None, both, SETTINGS.gates, set())
    plain = msgspec.convert(found, Pod).spec.affinity.node_affinity  # type: ignore[union-attr]
    after = selectors.compile_required(None, [plain], SETTINGS.gates, set())
    assert before is not None
    assert after is not None
    for version in later:
        labels = {KERNEL: version}
        assert after.matches("n", labels, set()) is before.matches("n", labels, set())
