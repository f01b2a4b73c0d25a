"""What holds of every answer: one list for every node, one verdict in both modes."""

import http.client
import json
from collections.abc import Iterator
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extender.config.schema import Config
from tests.builders import JSON, pod_json
from tests.properties.core_strategies import nodes, pod_parts
from tests.serving import ShiftingSource, names_request, nodes_request, served_in_thread

EXAMPLES = settings(max_examples=100)
UNKNOWN = "node(s) not yet known to the extender"


class Asked:
    """A server whose cluster a test can set, and a connection to it."""

    def __init__(self, source: ShiftingSource, url: str) -> None:
        parts = urlsplit(url)
        self.source = source
        self.connection = http.client.HTTPConnection(str(parts.hostname), parts.port)

    def ask(self, verb: str, body: object) -> Any:
        self.connection.request("POST", f"/{verb}", json.dumps(body))
        response = self.connection.getresponse()
        answer = response.read()
        assert response.status == 200, answer
        return json.loads(answer)


@pytest.fixture(scope="module", params=["narrow", "join"])
def server(request: pytest.FixtureRequest) -> Iterator[Asked]:
    no_execute: Literal["narrow", "join"] = request.param
    source = ShiftingSource()
    with served_in_thread(Config(no_execute=no_execute), source) as addresses:
        asked = Asked(source, addresses.scheduler)
        yield asked
        asked.connection.close()


pods = pod_parts().map(
    lambda parts: pod_json(
        *parts["tolerations"], **{key: parts[key] for key in parts if key != "tolerations"}
    )
)


def names_of(cluster: list[JSON]) -> list[str]:
    return [node["metadata"]["name"] for node in cluster]


@EXAMPLES
@given(pod=pods, cluster=nodes(), strangers=st.integers(0, 2), data=st.data())
def test_every_node_lands_in_exactly_one_list(
    server: Asked, pod: JSON, cluster: list[JSON], strangers: int, data: st.DataObject
) -> None:
    server.source.show(*cluster)
    unknown = [f"stranger-{i}" for i in range(strangers)]
    asked = data.draw(st.permutations([*names_of(cluster), *unknown]))
    answer = server.ask("filter", names_request(pod, *asked))
    kept, refused = answer["NodeNames"], answer["FailedAndUnresolvableNodes"]

    assert answer["Nodes"] is None
    assert answer["FailedNodes"] == {}
    if answer["Error"]:
        assert answer["Error"] == f"{strangers} {UNKNOWN}"
        assert (kept, refused) == ([], {})
    else:
        assert kept == [name for name in asked if name not in refused]
        assert set(refused) <= set(asked)
        assert all(0 < len(reason.encode()) < 500 for reason in refused.values())


@EXAMPLES
@given(pod=pods, cluster=nodes())
def test_both_modes_give_the_same_verdicts_and_scores(
    server: Asked, pod: JSON, cluster: list[JSON]
) -> None:
    server.source.show(*cluster)
    names = names_of(cluster)
    by_name = server.ask("filter", names_request(pod, *names))
    whole = server.ask("filter", nodes_request(pod, *cluster))
    name_scores = server.ask("prioritize", names_request(pod, *names))
    node_scores = server.ask("prioritize", nodes_request(pod, *cluster))

    assert names_of(whole["Nodes"]["items"]) == by_name["NodeNames"]
    assert whole["Nodes"]["items"] == [
        node for node in cluster if node["metadata"]["name"] in by_name["NodeNames"]
    ]
    assert whole["FailedAndUnresolvableNodes"] == by_name["FailedAndUnresolvableNodes"]
    assert (whole["Error"], by_name["Error"]) == ("", "")
    assert node_scores == name_scores
    hosts = [each["Host"] for each in name_scores]
    assert hosts == [name for name in names if name in hosts]  # in the order of the request
    assert all(0 < each["Score"] <= 10 for each in name_scores)
    assert len(hosts) < len(names)  # the lowest are left out
    assert all(0 <= each["Score"] <= 10 for each in name_scores)


@EXAMPLES
@given(pod=pods, cluster=nodes(), data=st.data())
def test_preempt_keeps_exactly_the_candidates_with_victims_that_filter_passes(
    server: Asked, pod: JSON, cluster: list[JSON], data: st.DataObject
) -> None:
    server.source.show(*cluster)
    names = names_of(cluster)
    uids = st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True)
    victims = {
        name: {"Pods": [{"UID": uid} for uid in data.draw(uids)], "NumPDBViolations": index}
        for index, name in enumerate([*names, "stranger"])
    }
    passing = server.ask("filter", names_request(pod, *names))["NodeNames"]
    kept = server.ask("preempt", {"Pod": pod, "NodeNameToMetaVictims": victims})

    expected = {name: victims[name] for name in passing if victims[name]["Pods"]}
    assert kept == {"NodeNameToMetaVictims": expected}
