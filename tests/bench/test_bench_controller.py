"""The bench of compile mode counts and judges as its page says. No timings."""

import pytest

from bench import bench_controller, compile_apiserver, controller_scale, controller_turns
from bench.compile_apiserver import PatchError
from bench.controller_turns import GUARDS, PLAIN, RULES, Histories
from extender.control.rate import TokenBucket
from tests.builders import JSON, toleration
from tests.e2e.compiling import RECORD, SLA


def seen(name: str, *tolerations: JSON, node: str = "", guarded: bool = False) -> JSON:
    annotations = {RECORD: "[]"} if guarded else {}
    spec = {"tolerations": list(tolerations), **({"nodeName": node} if node else {})}
    return {"object": {"metadata": {"name": name, "annotations": annotations}, "spec": spec}}


EQUAL = toleration(SLA, "Equal", "950", "NoSchedule")
GUARD = toleration(SLA, "Exists", "", "NoExecute", tolerationSeconds=30)
OTHER = toleration("node.kubernetes.io/not-ready", "Exists", "", "NoExecute")


def test_writes_are_counted_at_creation_and_later() -> None:
    histories = Histories()
    for event in (
        seen("hooked", OTHER, EQUAL),
        seen("hooked", OTHER, EQUAL, node="n1"),
        seen("hooked", OTHER, EQUAL, GUARD, node="n1", guarded=True),
        seen("late", OTHER),
        seen("late", OTHER, EQUAL),
        seen("late", OTHER, EQUAL, node="n1"),
    ):
        histories.see(event)

    assert histories.are_bound(2)
    assert 0 < histories.pods["hooked"].bound < histories.pods["hooked"].guarded
    assert not histories.pods["late"].guarded
    assert controller_turns.written(histories.pods.values(), hooked=True) == {
        "at_creation": [0, 1],
        "later": [1, 1],
        "writes": [1, 2],
    }


@pytest.mark.parametrize("gap", [0.0, 0.004, 0.03])
async def test_the_part_of_the_limit_is_what_the_controllers_bucket_waits(gap: float) -> None:
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds + 1e-9  # a clock that stands still would be slept on for ever

    bucket, bound, waited = TokenBucket(50, clock=lambda: now, sleep=sleep), [], []
    for number in range(200):
        bound.append(number * gap)
        now = max(now, bound[-1])
        await bucket.take()
        waited.append(now - bound[-1])

    assert controller_turns.limit_delays(bound, 50) == pytest.approx(waited, abs=1e-6)


def test_pods_a_second_leave_the_first_tenth_out() -> None:
    bound = [0.0, *(100 + number / 10 for number in range(9))]

    assert controller_turns.pods_a_second(bound) == pytest.approx(10)


def test_a_stand_in_takes_the_patches_that_fit() -> None:
    (path, pod), *_ = compile_apiserver.ruled_pods(1, 5).items()
    uid = {"op": "test", "path": "/metadata/uid", "value": pod["metadata"]["uid"]}
    add = {"op": "add", "path": "/spec/tolerations/1", "value": EQUAL}
    record = {"op": "add", "path": f"/metadata/annotations/{RECORD.replace('/', '~1')}"}

    new = compile_apiserver.patched(pod, [uid, add, {**record, "value": "[]"}])

    assert path == "/api/v1/namespaces/team-0/pods/ruled-00000"
    assert new["spec"]["tolerations"] == [*pod["spec"]["tolerations"], EQUAL]
    assert new["metadata"]["annotations"] == {**pod["metadata"]["annotations"], RECORD: "[]"}
    with pytest.raises(PatchError):
        compile_apiserver.patched(pod, [{**uid, "value": "another"}, add])


def test_a_counter_is_read_by_its_labels() -> None:
    text = 'a_total{kind="guard",code="200"} 3.0\nanother_total{kind="guard"} 1.0\n'

    assert controller_scale.counted(text, "a_total") == {'kind="guard",code="200"': 3}


def test_the_table_says_which_goals_are_met() -> None:
    cost = {"cpu": 1.0, "rss": 90.0}
    writes = {title: {"writes": [goal, goal]} for title, goal in bench_controller.GOALS.items()}
    writes["NoExecute, with the webhook"] = {"writes": [2, 3]}
    rates = {PLAIN: [100.0, 100.0], RULES: [98.0, 97.0], GUARDS: [96.0, 95.0]}
    burst = {"pods": 2, "writes_per_second": 50, "late": [0.1, 0.2], "by_the_limit": [0.0, 0.1]}
    found = {
        "kubernetes": "v1.36.3",
        "nodes": 1,
        "few": 1,
        "pods": 2,
        "rounds": 2,
        "writes": writes,
        "bursts": [burst],
        "rates": {bench_controller.LIFTED: rates},
        "scale": {
            "nodes": 1,
            "pods": 2,
            "ruled": 1,
            "peak": 91.0,
            "empty cluster": cost,
            "listed": {"seconds": 1, **cost},
            "written": {"seconds": 1, "writes": 1, **cost},
            "churn": {"seconds": 1, "writes": 0, "events": 67, **cost},
        },
    }

    rows = [line.split(" | ") for line in bench_controller.table(found).splitlines()[4:]]
    judged = [[row[1], row[3].strip(" |")] for row in rows if row[2]]

    assert judged == [
        *(["0", "met"], ["1", "met"], ["1", "met"], ["2 to 3", "missed"], ["2", "met"]),
        *(["0.97", "met"], ["0.95", "missed"]),
    ]
    assert "| 2 pods at once, 50 writes/s: bind to guard, p50 / max | 200 / 200 ms |" in (
        bench_controller.table(found)
    )
