from tests.builders import node_json, pod_json, taint, toleration
from tests.serving import FixedSource, names_request, nodes_request, served

SPOT = node_json("spot", taint("sla", "950"))
PLAIN = node_json("plain")


async def test_filter_by_names_answers_in_names() -> None:
    async with served(source=FixedSource(SPOT, PLAIN)) as client:
        answer = await client.ask("filter", names_request(pod_json(), "spot", "plain"))

    assert answer == {
        "Nodes": None,
        "NodeNames": ["plain"],
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": {"spot": "node(s) had untolerated taint {sla: 950}"},
        "Error": "",
    }


async def test_filter_by_nodes_answers_in_nodes() -> None:
    async with served() as client:
        pod = pod_json(toleration("sla", "Gt", "900"))
        answer = await client.ask("filter", nodes_request(pod, SPOT, PLAIN))

    assert answer["Nodes"]["items"] == [SPOT, PLAIN]
    assert answer["NodeNames"] is None
    assert answer["FailedAndUnresolvableNodes"] == {}
