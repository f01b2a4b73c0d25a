import pytest

from extender.cluster.api import ApiServer
from extender.control.pod_writer import PodWriter
from extender.native.patches import Operation
from tests.cluster.apiserver import Answer, anonymous, scripted
from tests.control.building import GOLD, equal, pod_of

ADD: list[Operation] = [
    {"op": "test", "path": "/metadata/uid", "value": "uid-1"},
    {"op": "add", "path": "/spec/tolerations/1", "value": equal("950")},
]
REFUSAL = '{"kind":"Status","message":"denied","details":{"name":"web-0"},"code":422}'


@pytest.mark.parametrize(
    ("answer", "outcome", "message"),
    [
        pytest.param(Answer(422, '{"details":{}}'), "lost", "", id="a test that does not hold"),
        pytest.param(Answer(409, "{}"), "lost", "", id="a conflict"),
        pytest.param(Answer(422, REFUSAL), "refused", "denied", id="validation refuses"),
        pytest.param(Answer(403, '{"message":"no"}'), "refused", "no", id="admission refuses"),
        pytest.param(Answer(404, "{}"), "gone", "", id="the pod is gone"),
        pytest.param(
            Answer(500, '{"message":"failed calling webhook"}'),
            "failed",
            "failed calling webhook",
            id="a webhook fails over this pod",
        ),
    ],
)
async def test_what_the_api_server_says(answer: Answer, outcome: str, message: str) -> None:
    async with scripted() as server:
        server.put("pods", pod_of(GOLD))
        server.on_patch(answer)
        writer = PodWriter(ApiServer(anonymous(server)))
        written = await writer.write("default/web-0", ADD)
        await writer.close()

    assert (written.outcome, written.code, written.message) == (outcome, answer.status, message)


@pytest.mark.parametrize("status", [401, 408, 429, 502, 503, 504])
async def test_faults_that_have_nothing_to_do_with_the_pod(status: int) -> None:
    async with scripted() as server:
        server.on_patch(Answer(status))
        writer = PodWriter(ApiServer(anonymous(server)))
        written = await writer.write("default/web-0", ADD)
        await writer.close()

    assert (written.outcome, written.code) == ("unavailable", status)


@pytest.mark.parametrize(("status", "outcome"), [(400, "refused"), (500, "failed")])
async def test_an_answer_that_is_no_status_is_told_in_its_own_words(
    status: int, outcome: str
) -> None:
    async with scripted() as server:
        server.on_patch(Answer(status, "<html>"))
        writer = PodWriter(ApiServer(anonymous(server)))
        written = await writer.write("default/web-0", ADD)
        await writer.close()

    assert written.outcome == outcome
    assert "<html>" in written.message


async def test_what_was_written_is_read_back() -> None:
    async with scripted() as server:
        server.put("pods", pod_of(GOLD))
        writer = PodWriter(ApiServer(anonymous(server)))
        written = await writer.write("default/web-0", ADD)
        await writer.close()

        assert server.patches[0].content_type == "application/json-patch+json"
    assert (written.outcome, written.code) == ("written", 200)
    assert written.pod is not None
    assert b'"950"' in bytes(written.pod.spec.tolerations)


async def test_nobody_at_home() -> None:
    async with scripted() as server:
        writer = PodWriter(ApiServer(anonymous(server)))
    written = await writer.write("default/web-0", ADD)

    assert (written.outcome, written.code) == ("unavailable", 0)
