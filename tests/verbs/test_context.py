"""What a verb may judge by: the cluster, or only what the request carries."""

import msgspec
import pytest

from extender.cluster.source import NoSource
from extender.config.schema import Config
from extender.errors import NoClusterError, NotSyncedError
from extender.verbs.context import Context
from extender.verbs.profiles import Profiles
from extender.wire import extender_v1
from extender.wire.extender_v1 import FilterArgs
from tests.builders import JSON, node_json, pod_json
from tests.serving import BrokenSource, FixedSource, names_request, nodes_request

PLAIN = node_json("plain")
SPREADING = {"spec": {"topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1}]}}
WITH_VOLUMES = {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}


def by_name(pod: JSON) -> FilterArgs:
    return extender_v1.decode_filter_args(msgspec.json.encode(names_request(pod, "plain")))


def whole(pod: JSON) -> FilterArgs:
    return extender_v1.decode_filter_args(msgspec.json.encode(nodes_request(pod, PLAIN)))


def unsynced() -> Context:
    return Context(BrokenSource(NotSyncedError("not yet"), PLAIN), Profiles(Config()))


def test_names_need_a_cluster() -> None:
    with pytest.raises(NoClusterError):
        Context(NoSource(), Profiles(Config())).snapshot_for(by_name(pod_json()))
    with pytest.raises(NotSyncedError):
        unsynced().snapshot_for(by_name(pod_json()))


@pytest.mark.parametrize("pod", [pod_json(), {}, SPREADING, WITH_VOLUMES])
def test_whole_nodes_are_judged_without_a_cluster_where_there_is_none(pod: JSON) -> None:
    context = Context(NoSource(), Profiles(Config()))

    assert not context.snapshot_for(whole(pod)).nodes


@pytest.mark.parametrize("pod", [pod_json(), {}], ids=["a pod", "a pod without a spec"])
def test_whole_nodes_are_judged_before_the_cluster_is_known(pod: JSON) -> None:
    assert not unsynced().snapshot_for(whole(pod)).nodes


@pytest.mark.parametrize("pod", [SPREADING, WITH_VOLUMES], ids=["other pods", "volumes"])
def test_who_asks_of_the_cluster_waits_until_it_is_known(pod: JSON) -> None:
    with pytest.raises(NotSyncedError):
        unsynced().snapshot_for(whole(pod))


def test_what_a_request_carries_is_judged_beside_the_cluster() -> None:
    context = Context(FixedSource(PLAIN), Profiles(Config()))

    assert list(context.snapshot_for(whole(pod_json())).nodes) == ["plain"]
