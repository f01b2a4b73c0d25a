from typing import Any

import pytest

from extender.framework.interface import SUCCESS, Settings, Status
from extender.framework.snapshot import HARD_TAINTS, SOFT_TAINTS, NodeInfo, Snapshot
from extender.match.findings import Finding
from extender.match.gates import FeatureGates
from extender.model.core_v1 import Pod
from extender.plugins.taint_toleration import (
    REASON_ANNOTATION_ONLY_REDACTED,
    REASON_REDACTED,
    TaintToleration,
)
from tests.builders import (
    JSON,
    PREFIX,
    a_node,
    a_pod,
    judge,
    node_json,
    question_of,
    refused,
    scorer_of,
    some_nodes,
    taint,
    toleration,
)
from tests.vectors import Row, assert_every_row, gates_of

NARROW = TaintToleration(Settings())
JOIN = TaintToleration(Settings(no_execute="join"))
REDACTED = TaintToleration(Settings(reasons="redacted"))

NO_SCHEDULE, NO_EXECUTE, PREFER = "NoSchedule", "NoExecute", "PreferNoSchedule"

Telling = tuple[dict[str, tuple[str, list[str]]], dict[str, int], dict[str, int]]


def natively(row: Row) -> Pod:
    return a_pod(*row.get("pod_tolerations", [row.get("toleration")]))


def by_annotation(row: Row) -> Pod:
    return a_pod(annotated_tolerations=row.get("pod_tolerations", [row.get("toleration")]))


CARRIERS = [
    pytest.param(natively, id="native field"),
    pytest.param(by_annotation, id="annotation"),
]


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("name", ["tolerations", "semver_tolerations"])
def test_every_toleration_matches_as_in_go(name: str, carrier: Any) -> None:
    """A hard taint refuses, a soft one counts; one of neither effect does nothing."""

    def ask(row: Row) -> bool | None:
        plugin = TaintToleration(Settings(gates=gates_of(row), no_execute="join"))
        pod, node = carrier(row), a_node("n", row["taint"])
        status = judge(plugin, pod, node)
        score = scorer_of(plugin, pod).score(node).value
        match row["taint"]["effect"]:
            case "NoSchedule" | "NoExecute":
                return status == SUCCESS if not score else None
            case "PreferNoSchedule":
                return score == 0 if status == SUCCESS else None
            case _:  # asked of the matching functions themselves in tests/match
                return bool(row["tolerates"]) if status == SUCCESS and not score else None

    assert_every_row(name, ask, lambda row: row["tolerates"])


@pytest.mark.parametrize("carrier", CARRIERS)
def test_every_pod_is_judged_and_scored_as_in_go(carrier: Any) -> None:
    """With redacted reasons, which are v1.36's own words."""

    def ask(row: Row) -> Telling:
        settings = Settings(gates=gates_of(row), no_execute="join", reasons="redacted")
        plugin = TaintToleration(settings)
        pod = carrier(row)
        nodes = some_nodes(*(node_json(node["name"], *node["taints"]) for node in row["nodes"]))
        statuses = {node.name: judge(plugin, pod, node) for node in nodes}
        feasible = [node for node in nodes if statuses[node.name] == SUCCESS]
        scorer = scorer_of(plugin, pod)
        counts = [scorer.score(node).value for node in feasible]
        names = [node.name for node in feasible]
        return (
            {name: (s.code.value, list(s.reasons)) for name, s in statuses.items()},
            dict(zip(names, counts, strict=True)),
            dict(zip(names, scorer.normalize(counts), strict=True)),
        )

    def answer(row: Row) -> Telling:
        return (
            {name: (told["status"], told["reasons"]) for name, told in row["filter"].items()},
            row["intolerable_prefer_no_schedule"],
            row["scores"],
        )

    assert_every_row("taint_score", ask, answer)


def untolerated(what: str) -> Status:
    return refused(f"node(s) had untolerated taint {{{what}}}")


def only_annotated(what: str) -> Status:
    return refused(f"node(s) had NoExecute taint {{{what}}} tolerated only by annotation")


GPU = taint("gpu", "h100")


@pytest.mark.parametrize(
    ("pod", "node", "expected"),
    [
        pytest.param(a_pod(), a_node("n"), SUCCESS, id="no taints"),
        pytest.param(Pod(), a_node("n", GPU), untolerated("gpu: h100"), id="a pod of nothing"),
        pytest.param(a_pod(), a_node("n", GPU), untolerated("gpu: h100"), id="NoSchedule"),
        pytest.param(a_pod(), a_node("n", taint("gpu")), untolerated("gpu: "), id="no value"),
        pytest.param(
            a_pod(),
            a_node("n", taint("gpu", "", NO_EXECUTE)),
            untolerated("gpu: "),
            id="NoExecute, tolerated by nobody",
        ),
        pytest.param(
            a_pod(), a_node("n", taint("gpu", "", PREFER)), SUCCESS, id="a soft taint passes"
        ),
        pytest.param(
            a_pod(), a_node("n", taint("gpu", "", "Unknown")), SUCCESS, id="no such effect"
        ),
        pytest.param(
            a_pod(toleration("gpu", "Exists")),
            a_node("n", GPU, taint("b", "2"), taint("a", "1", NO_EXECUTE)),
            untolerated("b: 2"),
            id="the first untolerated one, in the order of the node",
        ),
        pytest.param(
            a_pod(toleration("gpu", "Exists"), annotated_tolerations=[toleration("b", "Exists")]),
            a_node("n", GPU, taint("b", "2")),
            SUCCESS,
            id="each tolerated by another carrier",
        ),
        pytest.param(
            a_pod(annotated_tolerations="["),
            a_node("n"),
            refused(
                f"pod annotation {PREFIX}tolerations is invalid: line 2: did not find expected node"
                " content"
            ),
            id="an annotation that cannot be read refuses even an untainted node",
        ),
        pytest.param(
            a_pod(),
            a_node("n", taint("k{0}", "{x}")),
            untolerated("k{0}: {x}"),
            id="braces in foreign text",
        ),
    ],
)
def test_filter(pod: Pod, node: NodeInfo, expected: Status) -> None:
    assert judge(NARROW, pod, node) == expected


def test_a_refusal_carries_a_shorter_text() -> None:
    status = judge(NARROW, a_pod(), a_node("n", GPU))

    assert status.brief == ("node(s) had untolerated taint {gpu}",)


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        pytest.param(NO_SCHEDULE, REASON_REDACTED, id="NoSchedule"),
        pytest.param(NO_EXECUTE, REASON_ANNOTATION_ONLY_REDACTED, id="NoExecute by annotation"),
    ],
)
def test_redacted_reasons_name_nothing(effect: str, expected: str) -> None:
    tolerated = [toleration("gpu", "Exists", effect=NO_EXECUTE)]
    status = judge(
        REDACTED, a_pod(annotated_tolerations=tolerated), a_node("n", taint("gpu", "h100", effect))
    )

    assert status == refused(expected)
    assert status.brief == ()
    assert (REASON_REDACTED, REASON_ANNOTATION_ONLY_REDACTED) == (
        "node(s) had untolerated taint(s)",
        "node(s) had NoExecute taint(s) tolerated only by annotation",
    )


def test_a_long_taint_is_cut_in_the_reason() -> None:
    status = judge(NARROW, a_pod(), a_node("n", taint("k" * 300, "é" * 200)))

    assert status.reasons[0].startswith("node(s) had untolerated taint {" + "k" * 300 + ": é")
    assert status.reasons[0].endswith("é...")
    assert len(status.reasons[0].encode()) < 500
    assert status.brief == ("node(s) had untolerated taint {" + "k" * 300 + "}",)


# NoExecute: native yes or no, annotation matches, does not match, or does not speak of it.

SLA = taint("sla", "950", NO_EXECUTE)
YES, NO = toleration("sla", "Exists"), toleration("sla", "Lt", "900")
MATCHES, DIFFERS = toleration("sla", "Gt", "900"), toleration("sla", "Gt", "999")
UNTOLERATED = untolerated("sla: 950")
ONLY_ANNOTATED = only_annotated("sla: 950")


@pytest.mark.parametrize(
    ("native", "annotated", "narrow", "join"),
    [
        pytest.param([YES], [MATCHES], SUCCESS, SUCCESS, id="native yes, annotation matches"),
        pytest.param([YES], [DIFFERS], UNTOLERATED, SUCCESS, id="native yes, annotation differs"),
        pytest.param([YES], None, SUCCESS, SUCCESS, id="native yes, no annotation"),
        pytest.param([YES], [], SUCCESS, SUCCESS, id="native yes, annotation is empty"),
        pytest.param(
            [YES],
            [toleration("gpu", "Gt", "999")],
            SUCCESS,
            SUCCESS,
            id="native yes, annotation speaks of another key",
        ),
        pytest.param(
            [YES],
            [toleration("sla", "Gt", "999", NO_SCHEDULE)],
            SUCCESS,
            SUCCESS,
            id="native yes, annotation speaks of another effect",
        ),
        pytest.param(
            [YES],
            [toleration("", "Gt", "999", NO_EXECUTE)],
            UNTOLERATED,
            SUCCESS,
            id="native yes, annotation speaks of every key",
        ),
        pytest.param(
            [YES],
            [DIFFERS, MATCHES],
            SUCCESS,
            SUCCESS,
            id="native yes, one of the annotation's matches",
        ),
        pytest.param(
            [YES],
            [DIFFERS, toleration("", "Exists", effect=NO_EXECUTE)],
            SUCCESS,
            SUCCESS,
            id="native yes, another of the annotation's matches everything",
        ),
        pytest.param(
            [YES],
            [toleration("sla", "Gt", "high")],
            UNTOLERATED,
            SUCCESS,
            id="native yes, the annotation's value does not parse",
        ),
        pytest.param(
            [YES],
            [toleration("sla", "Bogus", "")],
            UNTOLERATED,
            SUCCESS,
            id="native yes, the annotation's operator does not exist",
        ),
        pytest.param(
            [YES],
            [{"expression": "int(taint.value) > 990"}],
            UNTOLERATED,
            SUCCESS,
            id="native yes, the annotation's expression is false",
        ),
        pytest.param(
            [YES],
            [{"expression": "taint.value > 900"}],
            UNTOLERATED,
            SUCCESS,
            id="native yes, the annotation's expression does not compile",
        ),
        pytest.param(
            [YES],
            [{"expression": "int(taint.value) > 900"}],
            SUCCESS,
            SUCCESS,
            id="native yes, the annotation's expression is true",
        ),
        pytest.param(
            [YES],
            [{"expression": ""}],
            UNTOLERATED,
            SUCCESS,
            id="native yes, an empty expression leaves an empty toleration: Equal nothing",
        ),
        pytest.param(
            [YES],
            [{"operator": "Exists", "expression": ""}],
            SUCCESS,
            SUCCESS,
            id="native yes, an empty expression counts as absent",
        ),
        pytest.param([NO], [MATCHES], ONLY_ANNOTATED, SUCCESS, id="native no, annotation matches"),
        pytest.param([], [MATCHES], ONLY_ANNOTATED, SUCCESS, id="no native, annotation matches"),
        pytest.param(
            [toleration("sla", "Exists", effect=NO_SCHEDULE)],
            [MATCHES],
            ONLY_ANNOTATED,
            SUCCESS,
            id="native of another effect, annotation matches",
        ),
        pytest.param([NO], [DIFFERS], UNTOLERATED, UNTOLERATED, id="native no, annotation differs"),
        pytest.param([NO], None, UNTOLERATED, UNTOLERATED, id="native no, no annotation"),
        pytest.param(
            [],
            [toleration("gpu", "Exists")],
            UNTOLERATED,
            UNTOLERATED,
            id="no native, annotation speaks of another key",
        ),
        pytest.param(
            [],
            [{"expression": "true"}],
            ONLY_ANNOTATED,
            SUCCESS,
            id="no native, annotation has an expression",
        ),
        pytest.param(
            [{"expression": "true"}],
            [MATCHES],
            SUCCESS,
            SUCCESS,
            id="native has an expression, annotation matches",
        ),
    ],
)
def test_noexecute(native: list[Any], annotated: list[Any], narrow: Status, join: Status) -> None:
    pod = a_pod(*native, annotated_tolerations=annotated)
    node = a_node("n", SLA)

    assert judge(NARROW, pod, node) == narrow
    assert judge(JOIN, pod, node) == join


REDACTIONS = {
    UNTOLERATED: refused("node(s) had untolerated taint(s)"),
    ONLY_ANNOTATED: refused("node(s) had NoExecute taint(s) tolerated only by annotation"),
    SUCCESS: SUCCESS,
}


@pytest.mark.parametrize(
    ("native", "annotated", "narrow"),
    [
        ([YES], [MATCHES], SUCCESS),
        ([YES], [DIFFERS], UNTOLERATED),
        ([NO], [MATCHES], ONLY_ANNOTATED),
        ([NO], [DIFFERS], UNTOLERATED),
    ],
)
def test_noexecute_redacted(native: list[Any], annotated: list[Any], narrow: Status) -> None:
    pod = a_pod(*native, annotated_tolerations=annotated)

    assert judge(REDACTED, pod, a_node("n", SLA)) == REDACTIONS[narrow]


@pytest.mark.parametrize("plugin", [NARROW, JOIN], ids=["narrow", "join"])
@pytest.mark.parametrize(
    ("native", "annotated", "expected"),
    [
        pytest.param([YES], [MATCHES], SUCCESS, id="both"),
        pytest.param([YES], [DIFFERS], SUCCESS, id="native only"),
        pytest.param([NO], [MATCHES], SUCCESS, id="annotation only"),
        pytest.param([], [MATCHES], SUCCESS, id="no native"),
        pytest.param([NO], [DIFFERS], untolerated("sla: 950"), id="neither"),
        pytest.param([YES], [{"expression": "false"}], SUCCESS, id="an expression takes nothing"),
    ],
)
def test_noschedule_joins_both_lists_in_either_mode(
    plugin: TaintToleration, native: list[Any], annotated: list[Any], expected: Status
) -> None:
    pod = a_pod(*native, annotated_tolerations=annotated)

    assert judge(plugin, pod, a_node("n", taint("sla", "950"))) == expected


def test_narrowing_looks_at_each_taint_for_itself() -> None:
    pod = a_pod(
        toleration("a", "Exists"), annotated_tolerations=[toleration("", "Exists", effect="")]
    )
    first, second = taint("a", "1", NO_EXECUTE), taint("b", "2", NO_EXECUTE)

    assert judge(NARROW, pod, a_node("n", first)) == SUCCESS
    assert judge(NARROW, pod, a_node("n", taint("c"), first, second)) == only_annotated("b: 2")
    assert judge(JOIN, pod, a_node("n", taint("c"), first, second)) == SUCCESS


def test_a_refusal_by_annotation_has_a_shorter_text_too() -> None:
    pod = a_pod(annotated_tolerations=[toleration("", "Exists")])

    assert judge(NARROW, pod, a_node("n", SLA)).brief == (
        "node(s) had NoExecute taint {sla} tolerated only by annotation",
    )


@pytest.mark.parametrize(
    ("gates", "rule"),
    [
        pytest.param(
            FeatureGates(comparison_operators=False), toleration("sla", "Gt", "900"), id="integers"
        ),
        pytest.param(
            FeatureGates(semver_operators=False), toleration("sla", "SemverGt", "900"), id="semver"
        ),
    ],
)
def test_an_operator_whose_gate_is_off_tolerates_nothing(gates: FeatureGates, rule: Any) -> None:
    node = a_node("n", taint("sla", "950"))
    soft = a_node("n", taint("sla", "950", PREFER))
    off = TaintToleration(Settings(gates=gates))

    for pod in (a_pod(rule), a_pod(annotated_tolerations=[rule])):
        assert judge(NARROW, pod, node) == SUCCESS
        assert judge(off, pod, node) == untolerated("sla: 950")
        assert scorer_of(NARROW, pod).score(soft).value == 0
        assert scorer_of(off, pod).score(soft).value == 1


@pytest.mark.parametrize(
    "rule", [{"expression": "true"}, {"operator": "Exists", "expression": "1"}]
)
def test_an_expression_is_no_empty_toleration_when_its_gate_is_off(rule: JSON) -> None:
    plugin = TaintToleration(Settings(gates=FeatureGates(cel=False)))
    node = a_node("n", taint("sla"))

    assert judge(plugin, a_pod(rule), node) == untolerated("sla: ")
    assert judge(plugin, a_pod(annotated_tolerations=[rule]), node) == untolerated("sla: ")


def test_same_state_same_text() -> None:
    """kube-scheduler wakes a refused pod whenever the text changes."""
    rules = [toleration("a", "Gt", "5"), toleration("b", "Exists"), toleration("c", "Lt", "5")]
    node = a_node("n", taint("a", "1"), taint("b"), taint("c", "9"))

    texts = {judge(NARROW, a_pod(*order), node).reasons for order in (rules, rules[::-1], rules)}
    assert texts == {("node(s) had untolerated taint {a: 1}",)}
    bad = a_pod(annotated_tolerations='[{"keey": 1}]')
    assert len({judge(NARROW, bad, node).reasons for _ in range(3)}) == 1


def test_findings_of_pod_and_node() -> None:
    pod = a_pod(
        toleration("sla", "Gt", "0900"),
        toleration("sla", "Gt", "900"),
        annotated_tolerations=[toleration("cni", "SemverGt", "x"), toleration("cni", "Exists")],
    )
    question = question_of(NARROW, pod)
    high = Finding("taint", "integer", "sla", "high")

    assert question.findings == {
        Finding("toleration", "integer", "sla", "0900"),
        Finding("toleration", "semver", "cni", "x"),
    }
    assert question.filter(a_node("n", taint("sla", "high"))).findings == {high}
    assert question.filter(a_node("n", taint("sla", "901"))).findings == frozenset()
    assert question.filter(a_node("n", taint("sla", "high", NO_EXECUTE))).findings == {high}
    scorer = scorer_of(NARROW, pod)
    assert scorer.findings == question.findings
    assert scorer.score(a_node("n", taint("sla", "high", PREFER))).findings == {high}


def test_nothing_is_noticed_of_a_taint_that_is_tolerated() -> None:
    pod = a_pod(toleration("sla", "Gt", "900"), toleration("sla", "Exists"))
    status = judge(NARROW, pod, a_node("n", taint("sla", "high")))

    assert status == SUCCESS
    assert status.findings == set()


# Scores.


@pytest.mark.parametrize(
    ("pod", "node", "expected"),
    [
        pytest.param(a_pod(), a_node("n"), 0, id="no taints"),
        pytest.param(
            a_pod(),
            a_node("n", taint("a", "", PREFER), taint("b", "", PREFER), taint("c")),
            2,
            id="soft taints are counted, hard ones are not",
        ),
        pytest.param(
            a_pod(toleration("a", "Exists", effect=PREFER)),
            a_node("n", taint("a", "", PREFER), taint("b", "", PREFER)),
            1,
            id="unless they are tolerated",
        ),
        pytest.param(
            a_pod(annotated_tolerations=[toleration("a", "Exists")]),
            a_node("n", taint("a", "", PREFER)),
            0,
            id="by annotation too",
        ),
        pytest.param(
            a_pod(toleration("a", "Exists", effect=NO_SCHEDULE)),
            a_node("n", taint("a", "", PREFER)),
            1,
            id="not by a toleration of another effect",
        ),
        pytest.param(
            a_pod(toleration("sla", "Gt", "900"), toleration("v", "SemverLt", "2")),
            a_node("n", taint("sla", "950", PREFER), taint("v", "1.9", PREFER)),
            0,
            id="by comparison",
        ),
        pytest.param(
            a_pod({"expression": "taint.key == 'a' && taint.effect == 'PreferNoSchedule'"}),
            a_node("n", taint("a", "", PREFER), taint("b", "", PREFER)),
            1,
            id="by an expression",
        ),
    ],
)
def test_score(pod: Pod, node: NodeInfo, expected: int) -> None:
    assert scorer_of(NARROW, pod).score(node).value == expected


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        pytest.param([], [], id="no nodes"),
        pytest.param([0, 0], [100, 100], id="no taints"),
        pytest.param([0, 1, 2, 3], [100, 67, 34, 0], id="upstream's integer division"),
        pytest.param([5], [0], id="the worst has 0, also when it is alone"),
        pytest.param([2, 0, 2], [0, 100, 0], id="in the order given"),
    ],
)
def test_normalize(counts: list[int], expected: list[int]) -> None:
    assert scorer_of(NARROW, a_pod()).normalize(counts) == expected


def test_an_annotation_that_cannot_be_read_has_no_scores() -> None:
    status = NARROW.pre_score(a_pod(annotated_tolerations="{}"), Snapshot())

    assert status == refused(
        f"pod annotation {PREFIX}tolerations is invalid: must be a list,"
        " not a mapping: begin each entry with a dash"
    )


def test_it_reads_the_taints_of_a_node_and_nothing_else() -> None:
    assert question_of(NARROW, a_pod()).facet is HARD_TAINTS
    assert scorer_of(NARROW, a_pod()).facet is SOFT_TAINTS


def test_a_taint_refuses_all_pods_in_the_same_words() -> None:
    nodes = some_nodes(node_json("a", taint("sla", "1")), node_json("b", taint("sla", "1")))
    statuses = [judge(NARROW, a_pod(toleration(key)), node) for key in "xy" for node in nodes]

    assert statuses == [refused("node(s) had untolerated taint {sla: 1}")] * 4
    assert judge(REDACTED, a_pod(), nodes[0]) == refused(REASON_REDACTED)


def test_a_batch_is_asked_about_a_taint_once() -> None:
    settings = Settings()
    expression = 'taint.key == "sla"'
    pod = a_pod(annotated_tolerations=[{"expression": expression}])
    nodes = some_nodes(
        *(node_json(f"n{i}", taint("sla", "1"), taint(f"other-{i}")) for i in range(5))
    )
    question: Any = question_of(TaintToleration(settings), pod)
    before = settings.programs.hits
    statuses = question.filter_all(nodes)

    assert statuses == [refused(f"node(s) had untolerated taint {{other-{i}: }}") for i in range(5)]
    assert settings.programs.hits - before == 6


def test_a_batch_that_takes_more_effort_than_is_left_is_not_begun() -> None:
    settings = Settings()
    pod = a_pod(toleration("a"), toleration("b"))
    nodes = some_nodes(
        *(node_json(f"n{i}", taint("sla"), taint("soft", "", PREFER)) for i in range(5))
    )
    question: Any = question_of(TaintToleration(settings), pod)
    scorer: Any = scorer_of(TaintToleration(settings), pod)
    settings.budget.left = 4

    assert question.filter_all(nodes) is None
    assert scorer.score_all(nodes) is None
    assert settings.budget.left == 4

    settings.budget.left = 10
    assert len(question.filter_all(nodes)) == 5
    assert settings.budget.left == 5
    assert len(scorer.score_all(nodes)) == 5
    assert settings.budget.left == 0


def test_a_batch_tells_what_it_noticed_of_the_taint_that_refuses() -> None:
    pod = a_pod(toleration("sla", "Gt", "5"), toleration("sla", "Equal", "odd"))
    nodes = some_nodes(
        node_json("passes", taint("sla", "odd")),
        node_json("refused", taint("sla", "odd"), taint("sla", "even"), taint("sla", "not read")),
        node_json("plain", taint("gpu")),
    )
    question: Any = question_of(NARROW, pod)
    even = frozenset({Finding("taint", "integer", "sla", "even")})
    statuses = question.filter_all(nodes)

    no = [refused(f"node(s) had untolerated taint {{{each}}}") for each in ("sla: even", "gpu: ")]
    assert statuses == [SUCCESS, *no]
    assert [status.findings for status in statuses] == [set(), even, set()]


@pytest.mark.parametrize("carrier", ["native", "annotated"])
@pytest.mark.parametrize(
    ("operator", "values", "passing"),
    [
        ("Gt", [str(600 + i) for i in range(5_000)], "900"),
        ("Lt", [str(600 - i) for i in range(5_000)], "500"),
        ("Equal", [f"v{i}" for i in range(5_000)], "v7"),
        ("SemverGt", [f"600.{i}" for i in range(5_000)], "601"),
        ("SemverEq", [f"600.{i}" for i in range(5_000)], "v600.07"),
    ],
)
def test_a_taint_costs_one_look_up_however_many_tolerations_there_are(
    operator: str, values: list[str], passing: str, carrier: str
) -> None:
    settings = Settings(annotation_bytes=1 << 20)
    rules = [toleration("sla", operator, value) for value in values]
    pod = a_pod(*rules) if carrier == "native" else a_pod(annotated_tolerations=rules)
    taints = [[taint("sla", value), taint("sla", value, PREFER)] for value in (passing, "no", "!")]
    nodes = some_nodes(*(node_json(f"n{i}", *each) for i, each in enumerate(taints)))
    settings.budget.left = 2 * len(nodes)
    question: Any = question_of(TaintToleration(settings), pod)
    scorer: Any = scorer_of(TaintToleration(settings), pod)

    assert [status is SUCCESS for status in question.filter_all(nodes)] == [True, False, False]
    assert [score.value for score in scorer.score_all(nodes)] == [0, 1, 1]
    assert settings.budget.left == 0
