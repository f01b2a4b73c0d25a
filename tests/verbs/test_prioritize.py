"""prioritize tells differences, and nothing else."""

import msgspec
import pytest

from extender.config.schema import Config
from extender.errors import BadRequestError, NotSyncedError
from extender.verbs import prioritize
from extender.verbs.answer import Answer
from extender.verbs.context import Context
from extender.verbs.profiles import Profiles
from tests.builders import JSON, node_json, pod_json, preferred, requirement, taint
from tests.serving import BrokenSource, FixedSource, names_request, nodes_request

PLAIN = node_json("plain")
SOFT = node_json("soft", taint("old", "yes", "PreferNoSchedule"))
GOLD = node_json("gold", labels={"tier": "gold"})
PICKY = pod_json(affinity=preferred((1, [requirement("tier", "In", "gold")])))


def asked(request: JSON, *nodes: JSON) -> Answer:
    context = Context(FixedSource(*nodes), Profiles(Config()))
    return prioritize.answer(context, msgspec.json.encode(request))


@pytest.mark.parametrize(
    ("pod", "names", "expected"),
    [
        pytest.param(
            PICKY, ["plain", "gold"], b'[{"Host":"gold","Score":10}]', id="above the lowest"
        ),
        pytest.param(
            PICKY,
            ["gold", "soft", "plain"],
            b'[{"Host":"gold","Score":10},{"Host":"plain","Score":6}]',
            id="in the order of the request",
        ),
        pytest.param(PICKY, ["plain", "plain"], b"[]", id="all equal"),
        pytest.param(PICKY, [], b"[]", id="nobody"),
        pytest.param(pod_json(), ["plain", "gold"], b"[]", id="nothing to prefer"),
        pytest.param(
            pod_json(), ["soft", "plain"], b'[{"Host":"plain","Score":10}]', id="a soft taint"
        ),
        pytest.param(
            PICKY,
            ["new", "gold", "plain"],
            b'[{"Host":"gold","Score":10}]',
            id="an unknown name is at 0",
        ),
    ],
)
def test_names(pod: JSON, names: list[str], expected: bytes) -> None:
    answer = asked(names_request(pod, *names), PLAIN, SOFT, GOLD)

    assert answer.body == expected
    assert (answer.mode, answer.nodes, answer.passed) == ("names", len(names), len(names))


def test_whole_nodes() -> None:
    answer = asked(nodes_request(PICKY, PLAIN, GOLD, SOFT))

    assert answer.body == b'[{"Host":"plain","Score":6},{"Host":"gold","Score":10}]'
    assert (answer.mode, answer.nodes) == ("nodes", 3)


@pytest.mark.parametrize("names", [b'["a",7]', b'["\\ud800"]', b"[a]", b'["a"'])
def test_a_list_that_is_none_is_refused_though_no_name_matters(names: bytes) -> None:
    context = Context(FixedSource(PLAIN), Profiles(Config()))

    with pytest.raises(BadRequestError):
        prioritize.answer(context, b'{"Pod":{},"Nodes":null,"NodeNames":' + names + b"}")


def test_a_cluster_that_is_not_known_yet_is_a_fault() -> None:
    context = Context(BrokenSource(NotSyncedError("not yet")), Profiles(Config()))

    with pytest.raises(NotSyncedError):
        prioritize.answer(context, msgspec.json.encode(names_request(pod_json(), "plain")))
