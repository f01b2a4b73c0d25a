"""What a pod carries: who reads which of its tolerations."""

from collections.abc import Sequence

import msgspec
import pytest
from msgspec.structs import replace

from extender.errors import AnnotationError
from extender.framework.interface import Settings
from extender.framework.rules import pod_tolerations
from extender.match.gates import FeatureGates
from extender.model.core_v1 import LivePod, Pod, Toleration
from extender.native import notes
from extender.native.carried import (
    MAX_GRACE,
    MAX_RECORD,
    Record,
    annotated,
    extended_of,
    is_evicting,
    looks_like_guard,
    record_of,
    rules_key,
    tolerations_of,
)
from extender.native.extended import Extended
from extender.native.notes import Note
from extender.native.settings import CompileSettings
from tests.builders import JSON, toleration
from tests.native.building import (
    DEFAULTS,
    GRACE,
    RECORD,
    RULES,
    a_live_pod,
    a_taint,
    carried_by,
    equal,
    guard,
    live,
    live_json,
)

NATIVE_RULE = toleration("sla", "Gt", "900")
NOT_READY = "node.kubernetes.io/not-ready"
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
UNREADABLE = f"pod annotation {RECORD} is invalid: it is not a list of keys"
TOO_LONG = f"pod annotation {RECORD} is invalid: it is too long"


def a(written: JSON) -> Toleration:
    return msgspec.convert(written, Toleration)


def test_tolerations_are_sorted_by_who_reads_them() -> None:
    written = (
        equal("dedicated", "ml"),
        NATIVE_RULE,
        toleration("sla", "gt", "1"),
        toleration(expression="taint.key == 'x'"),
        guard("sla"),
        toleration("own", "Exists", effect="NoExecute", tolerationSeconds=600),
    )
    pod = carried_by(*written, rules=[equal("annotated", "1")], record=["sla"])

    assert pod.tolerations == tuple(map(a, written))
    assert pod.guards == {"sla": 4}
    assert [each.key for each in pod.own.matchers] == ["dedicated", "own"]
    assert pod.extended.tolerates(a_taint("sla", "950"))
    assert pod.extended.tolerates(a_taint("x"))
    assert pod.extended.tolerates(a_taint("annotated", "1"))
    assert not pod.extended.tolerates(a_taint("dedicated", "ml"))
    assert [n for n, _ in pod.unguarded()] == [0, 1, 2, 3, 5]
    assert pod.notes == ()


def test_a_pod_without_anything() -> None:
    pod = carried_by()

    assert (pod.tolerations, pod.guards, pod.record) == ((), {}, Record())
    assert not pod.extended
    assert pod.written == 0


def test_native_rules_come_before_those_of_the_annotation() -> None:
    pod = a_live_pod(
        equal("a", "1"),
        toleration("sla", "Gt", "900", tolerationSeconds=1),
        rules=[toleration("sla", "Gt", "900", tolerationSeconds=2)],
    )
    first = extended_of(pod, Settings(), DEFAULTS).first(a_taint("sla", "950"))

    assert first is not None
    assert first.seconds == 1


def test_pods_of_one_workload_share_their_rules() -> None:
    settings, rules = Settings(), [toleration("sla", "Gt", "900")]
    one, other = (a_live_pod(equal("a", n), rules=rules) for n in "12")

    assert rules_key(one, settings) == rules_key(other, settings)
    assert extended_of(one, settings, DEFAULTS) is extended_of(other, settings, DEFAULTS)


def test_other_rules_are_not_shared() -> None:
    settings = Settings()
    by_annotation = a_live_pod(rules=[NATIVE_RULE])
    native = a_live_pod(NATIVE_RULE)
    both = a_live_pod(NATIVE_RULE, rules=[NATIVE_RULE])
    keys = [rules_key(pod, settings) for pod in (by_annotation, native, both, a_live_pod())]

    assert len(set(keys)) == 4


def test_rules_do_not_meet_what_the_plugins_keep_in_the_same_cache() -> None:
    settings, document = Settings(), live_json(rules=[NATIVE_RULE])
    joined = pod_tolerations(msgspec.convert(document, Pod), settings)
    extended = extended_of(live(document), settings, DEFAULTS)

    assert isinstance(extended, Extended)
    assert pod_tolerations(msgspec.convert(document, Pod), settings) is joined


def test_an_annotation_that_was_read_already_is_not_read_again() -> None:
    pod, settings = a_live_pod(NATIVE_RULE, rules="[]"), Settings()
    read = tuple(map(a, [equal("x", "1")]))
    extended = extended_of(pod, settings, DEFAULTS, lambda: read)

    assert annotated(pod, settings) == ()
    assert extended.tolerates(a_taint("x", "1"))
    assert extended.tolerates(a_taint("sla", "950"))


def test_an_unreadable_annotation_is_read_once() -> None:
    settings, asked = Settings(), list[str]()

    def read() -> tuple[Toleration, ...]:
        asked.append("read")
        raise AnnotationError("pod annotation x", "why")

    for _ in range(3):
        with pytest.raises(AnnotationError, match=r"^pod annotation x is invalid: why$"):
            extended_of(a_live_pod(rules="["), settings, DEFAULTS, read)

    assert asked == ["read"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        pytest.param("[", "", id="no JSON and no YAML"),
        pytest.param("{}", "must be a list", id="no list"),
        pytest.param('[{"keey": "sla"}]', "did you mean key", id="an unknown field"),
        pytest.param('[{"key": 5}]', "must be text", id="a wrong type"),
        pytest.param("[" * 100_000, "", id="deep JSON"),
        pytest.param("x" * 300_000, "", id="longer than the limit"),
    ],
)
def test_rules_that_cannot_be_read_are_a_fault(text: str, what: str) -> None:
    with pytest.raises(AnnotationError, match=f"pod annotation {RULES} is invalid: .*{what}"):
        carried_by(rules=text)


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        pytest.param(b"null", (), id="absent"),
        pytest.param(b"[]", (), id="an empty list"),
        pytest.param(b"[null]", (Toleration(),), id="a null in the list, as Go reads it"),
        pytest.param(b'[{"key": null}]', (Toleration(),), id="a null for a string"),
        pytest.param(b'[{"key": "a", "new": 1}]', (Toleration("a"),), id="an unknown field"),
    ],
)
def test_native_tolerations(native: bytes, expected: Sequence[Toleration]) -> None:
    pod = LivePod()
    pod = replace(pod, spec=replace(pod.spec, tolerations=msgspec.Raw(native)))

    assert tolerations_of(pod) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param(guard("sla"), True, id="a guard"),
        pytest.param(guard("sla", 5), True, id="whatever its seconds"),
        pytest.param(guard("sla", 0), True, id="even none"),
        pytest.param(toleration("sla", "Exists", effect="NoExecute"), False, id="without seconds"),
        pytest.param({**guard("sla"), "effect": ""}, False, id="of every effect"),
        pytest.param({**guard("sla"), "effect": "NoSchedule"}, False, id="of another effect"),
        pytest.param(equal("sla", "950", "NoExecute", 30), False, id="an Equal"),
        pytest.param(guard(""), False, id="without a key"),
    ],
)
def test_what_looks_like_a_guard(written: JSON, expected: bool) -> None:
    assert looks_like_guard(a(written)) is expected


@pytest.mark.parametrize(
    ("tolerations", "more", "expected"),
    [
        pytest.param([guard("sla")], {"record": ["sla"]}, {"sla": 0}, id="recorded"),
        pytest.param([guard("sla")], {}, {}, id="not recorded: it is the user's"),
        pytest.param([guard("sla")], {"record": ["x"]}, {}, id="another one is recorded"),
        pytest.param([guard("sla")], {"record": []}, {}, id="an empty record"),
        pytest.param(
            [guard("sla")], {"remembered": ["sla"]}, {"sla": 0}, id="the record is gone, but known"
        ),
        pytest.param([], {"record": ["sla"]}, {}, id="recorded, but not there"),
        pytest.param(
            [equal("sla", "1", "NoExecute"), guard("x"), guard("sla")],
            {"record": ["sla", "x"]},
            {"x": 1, "sla": 2},
            id="several, each with its place",
        ),
        pytest.param(
            [guard("a"), guard(NOT_READY, 300), guard("b")],
            {"record": "["},
            {"a": 0, "b": 2},
            id="an unreadable record: whatever looks so, but not the system's",
        ),
        pytest.param(
            [guard(OUT_OF_SERVICE)],
            {"record": [OUT_OF_SERVICE]},
            {OUT_OF_SERVICE: 0},
            id="a condition of the node that a rule names",
        ),
        pytest.param(
            [guard(OUT_OF_SERVICE)],
            {"record": "[", "remembered": [OUT_OF_SERVICE]},
            {OUT_OF_SERVICE: 0},
            id="the same with an unreadable record, but known",
        ),
    ],
)
def test_guards(tolerations: list[JSON], more: JSON, expected: dict[str, int]) -> None:
    assert carried_by(*tolerations, **more).guards == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('["a", "b"]', Record(frozenset("ab"), '["a", "b"]'), id="a list of keys"),
        pytest.param("[]", Record(frozenset(), "[]"), id="an empty list"),
        pytest.param('["a", "a"]', Record(frozenset("a"), '["a", "a"]'), id="a key twice"),
        pytest.param("", Record(text="", problem=UNREADABLE), id="empty"),
        pytest.param("null", Record(text="null", problem=UNREADABLE), id="null"),
        pytest.param("[null]", Record(text="[null]", problem=UNREADABLE), id="a null in it"),
        pytest.param("[1]", Record(text="[1]", problem=UNREADABLE), id="a number in it"),
        pytest.param('["a"', Record(text='["a"', problem=UNREADABLE), id="cut off"),
        pytest.param('{"a": 1}', Record(text='{"a": 1}', problem=UNREADABLE), id="a map"),
        pytest.param("- a", Record(text="- a", problem=UNREADABLE), id="YAML is not ours"),
        pytest.param(
            "[" * 60_000, Record(text="[" * 60_000, problem=UNREADABLE), id="60,000 lists deep"
        ),
        pytest.param('["\ud800"]', Record(text='["\ud800"]', problem=UNREADABLE), id="surrogates"),
        pytest.param(
            '["\\ud800"]', Record(text='["\\ud800"]', problem=UNREADABLE), id="escaped surrogates"
        ),
        pytest.param(
            "x" * 262_144, Record(text="x" * 262_144, problem=TOO_LONG), id="256 KiB of anything"
        ),
        pytest.param(
            '["' + "k" * (MAX_RECORD - 4) + '"]',
            Record(frozenset({"k" * (MAX_RECORD - 4)}), '["' + "k" * (MAX_RECORD - 4) + '"]'),
            id="the longest that is read",
        ),
        pytest.param(
            '["' + "k" * (MAX_RECORD - 3) + '"]',
            Record(text='["' + "k" * (MAX_RECORD - 3) + '"]', problem=TOO_LONG),
            id="one more",
        ),
    ],
)
def test_record(text: str, expected: Record) -> None:
    pod = LivePod()
    pod = replace(pod, metadata=replace(pod.metadata, annotations={RECORD: text}))

    assert record_of(pod, Settings()) == expected


def test_a_record_under_another_prefix() -> None:
    pod = a_live_pod(annotations={"example.org/guarded-keys": '["a"]'})

    assert record_of(pod, Settings(annotation_prefix="example.org/")).keys == {"a"}
    assert record_of(pod, Settings()) == Record()


def test_an_unreadable_record_is_told() -> None:
    assert carried_by(record="[").notes == (Note(notes.RULE_INVALID, UNREADABLE),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("0", 0, id="no guard"),
        pytest.param("1", 1, id="a second"),
        pytest.param("86400", MAX_GRACE, id="a day"),
    ],
)
def test_grace_of_the_pod(text: str, expected: int) -> None:
    pod = carried_by(annotations={GRACE: text})

    assert (pod.grace, pod.notes) == (expected, ())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("86401", id="more than a day"),
        pytest.param("-1", id="negative"),
        pytest.param("-0", id="minus zero"),
        pytest.param("030", id="a leading zero"),
        pytest.param("+30", id="a plus"),
        pytest.param(" 30", id="a space"),
        pytest.param("30s", id="a unit"),
        pytest.param("1e3", id="an exponent"),
        pytest.param("٣٠", id="other digits"),
        pytest.param("", id="empty"),
        pytest.param("9" * 100_000, id="100,000 digits"),
    ],
)
def test_a_grace_that_is_none_leaves_the_default(text: str) -> None:
    pod = carried_by(
        annotations={GRACE: text}, compile_settings=CompileSettings(no_execute_grace=7)
    )
    message = (
        f"pod annotation {GRACE} is invalid: it must be a whole number from 0 to 86400; the"
        " default of 7 s applies"
    )

    assert pod.grace == 7
    assert pod.notes == (Note(notes.GRACE_INVALID, message),)


def test_everything_unreadable_is_told_at_once() -> None:
    pod = carried_by(annotations={GRACE: "x"}, record="x")

    assert [each.reason for each in pod.notes] == [notes.GRACE_INVALID, notes.RULE_INVALID]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param(toleration("sla", "Exists"), True, id="of every effect"),
        pytest.param(toleration("sla", "Exists", effect="NoExecute"), True, id="of NoExecute"),
        pytest.param(guard("sla", 5), True, id="with seconds"),
        pytest.param(toleration("", "Exists"), True, id="of every key"),
        pytest.param(toleration("sla", "Exists", effect="NoSchedule"), False, id="of NoSchedule"),
        pytest.param(toleration("x", "Exists"), False, id="of another key"),
        pytest.param(equal("sla", "950", "NoExecute"), False, id="an Equal"),
        pytest.param(toleration("sla", "Exists", expression="false"), False, id="an expression"),
    ],
)
def test_own_exists(written: JSON, expected: bool) -> None:
    own = carried_by(equal("a", "1"), written).own_exists()

    assert bool(own & {"sla", ""}) is expected


def test_a_guard_is_no_exists_of_ones_own() -> None:
    assert not carried_by(guard("sla"), record=["sla"]).own_exists()
    assert not carried_by(rules=[toleration("sla", "Exists")]).own_exists()


@pytest.mark.parametrize(
    ("effect", "expected"), [("NoExecute", True), ("", True), ("NoSchedule", False)]
)
def test_is_evicting(effect: str, expected: bool) -> None:
    assert is_evicting(a(equal("sla", "1", effect))) is expected


def test_written_counts_what_a_rule_matches_whoever_wrote_it() -> None:
    tolerations = [
        equal("sla", "950"),
        equal("sla", "960", "NoExecute", 5),
        toleration("sla", "", "970"),
        equal("sla", "850"),
        equal("x", "950"),
        toleration("sla", "Exists"),
        guard("sla"),
        NATIVE_RULE,
    ]

    assert carried_by(*tolerations, record=["sla"]).written == 3
    assert carried_by(*tolerations[:-1], record=["sla"]).written == 0


def test_a_gate_that_is_off_leaves_own_tolerations_alone() -> None:
    settings = Settings(gates=FeatureGates(comparison_operators=False))
    pod = carried_by(NATIVE_RULE, equal("sla", "950"), settings=settings)

    assert not pod.extended.tolerates(a_taint("sla", "950"))
    assert pod.own.tolerates(a_taint("sla", "950"), set())
    assert pod.written == 0
