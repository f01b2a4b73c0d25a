import msgspec
import pytest

from extender.errors import AllowanceError
from extender.match import taints
from extender.match.cel.cache import ProgramCache
from extender.match.findings import Finding, Noticed
from extender.match.gates import FeatureGates
from extender.match.lru import CacheBudget
from extender.match.taints import Tolerations
from extender.model.core_v1 import Taint, Toleration
from tests.vectors import Row, assert_every_row, gates_of

ALL_ON = FeatureGates()
SLA_950 = Taint("sla", "950", "NoSchedule")


def compiled(*tolerations: Toleration, gates: FeatureGates = ALL_ON) -> Tolerations:
    return taints.compile_tolerations(tolerations, gates, ProgramCache(), set())


def tolerates(toleration: Toleration, taint: Taint, gates: FeatureGates = ALL_ON) -> bool:
    return compiled(toleration, gates=gates).tolerates(taint, set())


@pytest.mark.parametrize("name", ["tolerations", "semver_tolerations"])
def test_every_toleration_matches_as_in_go(name: str) -> None:
    def ask(row: Row) -> bool:
        toleration = msgspec.convert(row["toleration"], Toleration)
        return tolerates(toleration, msgspec.convert(row["taint"], Taint), gates_of(row))

    assert_every_row(name, ask, lambda row: row["tolerates"])


@pytest.mark.parametrize(
    ("toleration", "taint", "expected"),
    [
        pytest.param(Toleration(operator="Exists"), SLA_950, True, id="Exists of everything"),
        pytest.param(Toleration(value="950"), SLA_950, True, id="an empty key is a wildcard"),
        pytest.param(Toleration("sla", "", "950"), SLA_950, True, id="no operator is Equal"),
        pytest.param(Toleration("sla", "Equal", "950"), SLA_950, True, id="equal text"),
        pytest.param(Toleration("sla", "Equal", "0950"), SLA_950, False, id="equal as numbers"),
        pytest.param(Toleration("SLA", "Exists"), SLA_950, False, id="a key of other case"),
        pytest.param(Toleration("sla", "exists"), SLA_950, False, id="an operator of other case"),
        pytest.param(Toleration("sla", "Exists", "x"), SLA_950, True, id="Exists has no value"),
        pytest.param(
            Toleration("sla", "Exists", effect="NoSchedule"), SLA_950, True, id="its effect"
        ),
        pytest.param(
            Toleration("sla", "Exists", effect="NoExecute"), SLA_950, False, id="another effect"
        ),
        pytest.param(Toleration("sla", "Gt", "949"), SLA_950, True, id="above"),
        pytest.param(Toleration("sla", "Gt", "950"), SLA_950, False, id="not above itself"),
        pytest.param(Toleration("sla", "Lt", "951"), SLA_950, True, id="below"),
        pytest.param(Toleration("sla", "Lt", "950"), SLA_950, False, id="not below itself"),
        pytest.param(Toleration("", "Gt", "900"), SLA_950, True, id="Gt of any key"),
        pytest.param(Toleration("sla", "Gt", "+900"), SLA_950, False, id="not canonical"),
        pytest.param(Toleration("sla", "SemverGt", "949.9"), SLA_950, True, id="a later version"),
        pytest.param(Toleration("sla", "SemverEq", "v950"), SLA_950, True, id="the same version"),
        pytest.param(Toleration("sla", "SemverLt", "950.0.1"), SLA_950, True, id="an earlier one"),
        pytest.param(Toleration("sla", "SemverGt", "x"), SLA_950, False, id="no version"),
    ],
)
def test_tolerates(toleration: Toleration, taint: Taint, expected: bool) -> None:
    assert tolerates(toleration, taint) is expected


@pytest.mark.parametrize(
    ("operator", "value", "gate"),
    [
        ("Gt", "900", "comparison_operators"),
        ("Lt", "1000", "comparison_operators"),
        ("SemverGt", "900", "semver_operators"),
        ("SemverLt", "1000", "semver_operators"),
        ("SemverEq", "950", "semver_operators"),
    ],
)
def test_an_operator_whose_gate_is_off_never_matches(operator: str, value: str, gate: str) -> None:
    toleration = Toleration("sla", operator, value)
    other = {"comparison_operators": "semver_operators", "semver_operators": "comparison_operators"}
    noticed: Noticed = set()

    assert tolerates(toleration, SLA_950)
    assert tolerates(toleration, SLA_950, FeatureGates(**{other[gate]: False}))
    assert not tolerates(toleration, SLA_950, FeatureGates(**{gate: False}))
    # Nothing is parsed for an operator that is switched off, so nothing is noticed.
    off = FeatureGates(**{gate: False})
    high = Toleration("sla", operator, "high")
    bad = taints.compile_tolerations([high], off, ProgramCache(), noticed)
    assert not bad.tolerates(Taint("sla", "low", "NoSchedule"), noticed)
    assert noticed == set()


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param("true", True, id="everything"),
        pytest.param("taint.key == 'sla' && int(taint.value) > 900", True, id="a threshold"),
        pytest.param("taint.key == 'sla' && int(taint.value) > 950", False, id="that is missed"),
        pytest.param("taint.effect == 'NoExecute'", False, id="another effect"),
        pytest.param("int(taint.key) > 900", False, id="an error"),
        pytest.param("taint.kye == 'sla'", False, id="a field that is not there"),
        pytest.param("'sla'", False, id="no bool"),
        pytest.param("lists.range(1000000).all(i, i >= 0)", False, id="too costly"),
    ],
)
def test_an_expression_decides_alone(expression: str, expected: bool) -> None:
    beside = Toleration("other", "Exists", "", "NoExecute", None, expression)

    assert tolerates(Toleration(expression=expression), SLA_950) is expected
    assert tolerates(beside, SLA_950) is expected


def test_an_expression_whose_gate_is_off_addresses_every_taint_and_matches_none() -> None:
    noticed: Noticed = set()
    off = FeatureGates(cel=False)
    broken = [Toleration(expression="true"), Toleration(expression="1 +")]
    tolerations = taints.compile_tolerations(broken, off, ProgramCache(), noticed)

    assert tolerations.addresses(SLA_950)
    assert not tolerations.tolerates(SLA_950, noticed)
    assert noticed == set()


def test_an_expression_that_cannot_be_evaluated_is_noticed() -> None:
    noticed: Noticed = set()
    number = "int(taint.value) > 900"
    tolerations = taints.compile_tolerations(
        [Toleration(expression=number), Toleration(expression="taint")],
        ALL_ON,
        ProgramCache(),
        noticed,
    )

    assert noticed == {
        Finding(
            "toleration",
            "cel",
            "",
            "taint",
            problem="must evaluate to bool, not kubernetes.Taint",
        )
    }

    noticed.clear()
    assert tolerations.tolerates(SLA_950, noticed)
    assert noticed == set()
    assert not tolerations.tolerates(Taint("sla", "high"), noticed)
    (finding,) = noticed
    assert (finding.source, finding.kind, finding.key, finding.value) == (
        "taint",
        "cel",
        "sla",
        "high",
    )
    assert finding.expression == number
    assert finding.problem == "type conversion error from 'string' to 'int'"


def test_an_expression_that_was_dropped_meanwhile_is_compiled_again() -> None:
    programs = ProgramCache(CacheBudget(13_000))
    tolerations = taints.compile_tolerations(
        [Toleration(expression="taint.key == 'sla'")], ALL_ON, programs, set()
    )
    for number in range(20):
        programs.problem(f"{number} == 0")
    misses = programs.misses

    assert tolerations.tolerates(SLA_950, set())
    assert programs.misses == misses + 1


def test_an_expression_that_takes_too_much_work_is_a_fault_and_no_verdict() -> None:
    programs = ProgramCache()
    tolerations = taints.compile_tolerations(
        [Toleration(expression="true")], ALL_ON, programs, set()
    )
    programs.allowance = -1

    with pytest.raises(AllowanceError, match="take more work than one call may do"):
        tolerations.tolerates(SLA_950, set())


def test_an_empty_expression_counts_as_absent() -> None:
    assert tolerates(Toleration(operator="Exists", expression=""), SLA_950)


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        pytest.param(Toleration("sla", "Gt", "999"), True, id="its key, not matching"),
        pytest.param(Toleration("", "Gt", "999"), True, id="any key"),
        pytest.param(Toleration("sla", "Bogus", "", "NoSchedule"), True, id="no such operator"),
        pytest.param(Toleration("gpu", "Exists"), False, id="another key"),
        pytest.param(Toleration("sla", "Exists", "", "NoExecute"), False, id="another effect"),
        pytest.param(Toleration(expression="false"), True, id="an expression"),
    ],
)
def test_addresses(toleration: Toleration, expected: bool) -> None:
    assert compiled(toleration).addresses(SLA_950) is expected


def test_what_does_not_parse_is_noticed_on_both_sides() -> None:
    noticed: Noticed = set()
    tolerations = taints.compile_tolerations(
        [
            Toleration("sla", "Gt", "0900"),
            Toleration("sla", "Lt", "900"),
            Toleration("kernel", "SemverGt", "6_1"),
            Toleration("kernel", "SemverLt", "6.1"),
        ],
        ALL_ON,
        ProgramCache(),
        noticed,
    )

    assert noticed == {
        Finding("toleration", "integer", "sla", "0900"),
        Finding("toleration", "semver", "kernel", "6_1"),
    }

    noticed.clear()
    for taint in (Taint("sla", "high"), Taint("kernel", "el9_4"), Taint("gpu", "high")):
        assert not tolerations.tolerates(taint, noticed)
    assert noticed == {
        Finding("taint", "integer", "sla", "high"),
        Finding("taint", "semver", "kernel", "el9_4"),
    }


def test_equal_and_exists_parse_nothing() -> None:
    noticed: Noticed = set()
    tolerations = taints.compile_tolerations(
        [Toleration("sla", "Exists", "high"), Toleration("sla", "Equal", "high")],
        ALL_ON,
        ProgramCache(),
        noticed,
    )

    assert tolerations.tolerates(Taint("sla", "0x"), noticed)
    assert noticed == set()


def test_joined_lists_tolerate_what_either_tolerates() -> None:
    gpu, sla = compiled(Toleration("gpu", "Exists")), compiled(Toleration("sla", "Exists"))
    joined = gpu.joined(sla)

    assert joined.tolerates(SLA_950, set())
    assert joined.tolerates(Taint("gpu"), set())
    assert not joined.tolerates(Taint("disk"), set())
    assert taints.Tolerations(()).joined(gpu) is gpu
    assert gpu.joined(taints.Tolerations(())) is gpu
    assert not taints.Tolerations(()).tolerates(SLA_950, set())


def test_equal_expressions_are_evaluated_once() -> None:
    programs = ProgramCache()
    text = "taint.key == 'gpu'"
    rules = [Toleration(expression=text), Toleration("sla", "Gt", "1", "", None, text)]
    tolerations = taints.compile_tolerations(rules, ALL_ON, programs, set())
    before = programs.hits

    assert not tolerations.tolerates(SLA_950, set())
    assert programs.hits == before + 1


@pytest.mark.parametrize("first", [0, 1])
def test_what_is_noticed_does_not_depend_on_the_order_of_the_rules(first: int) -> None:
    both = [Toleration("sla", "Gt", "900"), Toleration("sla", "Equal", "high")]
    tolerations = compiled(both[first], both[1 - first])
    noticed: Noticed = set()

    assert tolerations.tolerates(Taint("sla", "high"), noticed)
    assert noticed == set()
    assert not tolerations.tolerates(Taint("sla", "low"), noticed)
    assert noticed == {Finding("taint", "integer", "sla", "low")}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        pytest.param([], 0, id="nothing"),
        pytest.param([Toleration("a", "Gt", str(i)) for i in range(100)], 1, id="one key"),
        pytest.param([Toleration(str(i), "Exists") for i in range(1, 100)], 1, id="many keys"),
        pytest.param([Toleration("", "Gt", str(i)) for i in range(100)], 1, id="any key"),
        pytest.param([Toleration("a"), Toleration("", "Lt", "1")], 2, id="a key and any key"),
        pytest.param(
            [Toleration("a"), *[Toleration(expression=f"{i} == 0") for i in range(3)]],
            4,
            id="each expression",
        ),
    ],
)
def test_how_many_look_ups_a_taint_takes(rules: list[Toleration], expected: int) -> None:
    assert compiled(*rules).lookups == expected


def test_of_many_thresholds_only_the_widest_is_compared() -> None:
    above = compiled(*[Toleration("sla", "Gt", str(900 + i)) for i in range(1_000)])
    below = compiled(*[Toleration("sla", "Lt", str(900 - i)) for i in range(1_000)])

    assert [above.tolerates(Taint("sla", v), set()) for v in ("900", "901")] == [False, True]
    assert [below.tolerates(Taint("sla", v), set()) for v in ("900", "899")] == [False, True]
