"""What a running Leeway tells of itself."""

from datetime import UTC, datetime

import msgspec
import pytest

from extender import __version__
from extender.cluster.source import NoSource
from extender.review.doctor import running
from extender.review.doctor.running import Caller, Process, Status
from extender.review.doctor.scheduler import Extender, SchedulerConfiguration
from extender.server.status import Callers, Readiness

SCHEDULER = Caller("10.0.0.1", "Go-http-client/1.1", "filter", "names", 5)
AT = datetime(2026, 1, 2, tzinfo=UTC)


def checked(status: Status, *, report: str = "", ready: bool = True) -> list[tuple[str, str]]:
    found = running.check("http://here", ready=ready, report=report, status=status)
    return [(problem.severity, problem.check) for problem in found]


@pytest.mark.parametrize(
    ("callers", "expected"),
    [
        pytest.param((SCHEDULER,), [], id="called by kube-scheduler"),
        pytest.param((), [("warning", "never-called")], id="never called"),
        pytest.param(
            (msgspec.structs.replace(SCHEDULER, verb="prioritize"),),
            [("warning", "never-called")],
            id="never asked to filter",
        ),
        pytest.param(
            (msgspec.structs.replace(SCHEDULER, user_agent="curl/8"),),
            [("info", "caller")],
            id="called by a stranger",
        ),
        pytest.param(
            (SCHEDULER, msgspec.structs.replace(SCHEDULER, user_agent="curl/8")),
            [],
            id="called by a stranger too",
        ),
    ],
)
def test_who_called(callers: tuple[Caller, ...], expected: list[tuple[str, str]]) -> None:
    assert checked(Status(__version__, AT, "", callers)) == expected


@pytest.mark.parametrize(
    ("remark", "expected"),
    [
        pytest.param("3 pods wait", [], id="well"),
        pytest.param("failing: HTTP 403; 3 pods wait", [("warning", "nudges")], id="forbidden"),
    ],
)
def test_whether_pods_can_be_woken(remark: str, expected: list[tuple[str, str]]) -> None:
    ok = Readiness({"cluster": lambda: (None, "5 nodes"), "nudges": lambda: (None, remark)})
    status = Status(__version__, AT, "", (SCHEDULER,))

    assert checked(status, report=ok.report()[1]) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        pytest.param("leading", [], id="leads"),
        pytest.param("following other_1", [], id="follows"),
        pytest.param("nobody leads yet", [("error", "no-leader")], id="nobody leads"),
        pytest.param("", [("error", "no-leader")], id="says nothing"),
    ],
)
def test_a_controller_is_not_called_by_schedulers(
    state: str, expected: list[tuple[str, str]]
) -> None:
    checks = {"cluster": lambda: (None, "5 nodes"), "leader": lambda: (None, state)}
    report = Readiness({**checks, "shutdown": lambda: (None, "")}).report()[1]
    status = Status(__version__, AT)

    assert checked(status, report=report) == expected
    assert running.process_of(report, status) == Process("controller", __version__, state)


def test_an_extender_takes_part_in_no_election() -> None:
    report = Readiness({"cluster": lambda: (None, "5 nodes")}).report()[1]

    assert running.process_of(report, Status("1.0.0")) == Process("serve", "1.0.0")


def test_a_controller_that_is_not_ready_compiles_nothing() -> None:
    report = "[-]cluster failed: nodes not listed yet\n[+]leader ok\n    leading\n"
    (problem,) = running.check("x", ready=False, report=report, status=Status(__version__))

    assert problem.check == "ready"
    assert problem.fix.endswith("until then it compiles nothing")


def test_another_version() -> None:
    assert checked(Status("0.0.1", AT, "", (SCHEDULER,))) == [("info", "version")]


def test_not_ready() -> None:
    status = Status(__version__, None, "", (SCHEDULER,))
    report = "[+]cluster ok\n[-]watch failed: nodes not listed\nreadyz check failed\n"
    (problem,) = running.check("http://here", ready=False, report=report, status=status)

    assert (problem.severity, problem.check) == ("error", "ready")
    assert (problem.where, problem.why) == ("http://here/readyz: watch", "nodes not listed")


@pytest.mark.parametrize(
    ("capable", "mode", "expected"),
    [(True, "names", []), (True, "nodes", ["mode"]), (False, "names", ["mode"])],
)
def test_the_mode_of_the_calls_is_that_of_the_configuration(
    capable: bool, mode: str, expected: list[str]
) -> None:
    config = SchedulerConfiguration(extenders=(Extender(node_cache_capable=capable),))
    status = Status(callers=(msgspec.structs.replace(SCHEDULER, mode=mode),))

    assert [p.check for p in running.check_mode("x", status, config)] == expected


def test_names_that_nobody_can_look_up() -> None:
    config = SchedulerConfiguration(extenders=(Extender(node_cache_capable=True),))
    status = Status(cluster=NoSource().state().remark)

    assert [p.check for p in running.check_mode("x", status, config)] == ["no-cluster"]
    whole = SchedulerConfiguration(extenders=(Extender(),))
    assert list(running.check_mode("x", status, whole)) == []


def test_the_page_is_the_one_that_the_server_makes() -> None:
    callers = Callers(AT.timestamp)
    callers.record("10.0.0.1", b"kube-scheduler/v1.36.3", "filter", "names", "scheduler")
    page = msgspec.json.encode(callers.document("10 nodes"))

    assert msgspec.json.decode(page, type=Status) == Status(
        __version__,
        AT,
        "10 nodes",
        (Caller("10.0.0.1", "kube-scheduler/v1.36.3", "filter", "names", 1, AT, "scheduler"),),
    )
