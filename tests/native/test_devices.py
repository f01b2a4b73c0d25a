"""The taints of devices, and what rules come to over them."""

from hypothesis import given
from hypothesis import strategies as st

from extender.framework.interface import Settings
from extender.match import taints
from extender.model import nulls
from extender.model.core_v1 import Taint, Toleration
from extender.model.resource_v1 import DeviceTaintRule, ResourceSlice
from extender.native import devices
from extender.native.devices import MAX_TOLERATIONS, Completed
from tests.builders import JSON

KEY = "example.com/vram"
GT_24 = Toleration(KEY, "Gt", "24")


def vram(value: object, effect: str = "NoSchedule") -> Taint:
    return Taint(KEY, str(value), effect)


def a_slice(generation: int = 1, **by_device: Taint) -> ResourceSlice:
    found: list[JSON] = [
        {"name": name, "taints": [{"key": t.key, "value": t.value, "effect": t.effect}]}
        for name, t in by_device.items()
    ]
    pool = {"name": "pool", "generation": generation}
    return nulls.convert({"spec": {"driver": "d", "pool": pool, "devices": found}}, ResourceSlice)


def a_rule(selector: JSON | None) -> DeviceTaintRule:
    taint = {"key": KEY, "value": "40", "effect": "NoExecute"}
    return nulls.convert({"spec": {"deviceSelector": selector, "taint": taint}}, DeviceTaintRule)


def complete(known: dict[Taint, int], *own: Toleration, rule: Toleration = GT_24) -> Completed:
    settings = Settings()
    return devices.complete(own, devices.rules_of((rule,), settings), known, settings)


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    found = devices.devices([a_slice(2, new=vram(30)), a_slice(1, old=vram(8))])
    assert found == {("d", "pool", "new"): {vram(30)}}


def test_taints_that_only_inform_keep_nobody_away() -> None:
    found = devices.devices([a_slice(a=vram(30, "None"), b=vram(30, "Unheard"))])
    assert set(found.values()) == {frozenset()}


def test_rules_taint_the_devices_that_they_select() -> None:
    slices = [a_slice(a=vram(30), b=vram(8))]
    more = vram(40, "NoExecute")
    for selector, tainted in (
        (None, set()),
        ({}, {"a", "b"}),
        ({"driver": "d", "device": "a"}, {"a"}),
        ({"pool": "other"}, set()),
    ):
        found = devices.devices(slices, [a_rule(selector)])
        assert {name for (_, _, name), has in found.items() if more in has} == tainted


def test_taints_are_counted_by_device() -> None:
    found = devices.devices([a_slice(a=vram(30), b=vram(30), c=vram(8))])
    assert devices.counts(found) == {vram(30): 2, vram(8): 1}


def test_a_rule_adds_what_it_matches_and_nothing_else() -> None:
    done = complete({vram(30): 1, vram(8): 1})
    assert done == Completed((), (Toleration(KEY, "Equal", "30", "NoSchedule"),))
    assert done.added == 1


def test_seconds_come_with_no_execute_only() -> None:
    rule = Toleration(KEY, "Gt", "24", toleration_seconds=60)
    done = complete({vram(30): 1, vram(30, "NoExecute"): 1}, rule=rule)
    assert [(t.effect, t.toleration_seconds) for t in done.tolerations] == [
        ("NoExecute", 60),
        ("NoSchedule", None),
    ]


def test_the_taints_on_most_devices_come_first_when_room_runs_out() -> None:
    known = {vram(value): value for value in range(25, 45)}
    own = Toleration("other", "Exists")
    done = complete(known, own)
    assert len(done.tolerations) == MAX_TOLERATIONS
    assert done.tolerations[0] == own
    assert done.left_out == tuple(vram(value) for value in range(25, 30))


TAINTS = st.builds(
    vram,
    st.one_of(st.integers(20, 30), st.just("many")),
    st.sampled_from(["NoSchedule", "NoExecute"]),
)
RULES = st.builds(Toleration, st.just(KEY), st.sampled_from(["Gt", "Lt"]), st.just("25"))


@given(st.lists(TAINTS, max_size=MAX_TOLERATIONS, unique=True), RULES)
def test_plain_tolerations_mean_what_the_rules_mean(known: list[Taint], rule: Toleration) -> None:
    settings, counted = Settings(), dict.fromkeys(known, 1)
    done = complete(counted, rule=rule)
    plain = taints.compile_tolerations(done.tolerations, settings.gates, settings.programs, set())
    meant = taints.compile_tolerations([rule], settings.gates, settings.programs, set())
    for taint in known:
        assert plain.tolerates(taint, set()) == meant.tolerates(taint, set())


@given(st.lists(TAINTS, unique=True), RULES)
def test_completing_again_adds_nothing(known: list[Taint], rule: Toleration) -> None:
    counted = dict.fromkeys(known, 1)
    done = complete(counted, rule=rule)
    again = complete(counted, *done.tolerations, rule=rule)
    assert (again.tolerations, again.added) == (done.tolerations, 0)
