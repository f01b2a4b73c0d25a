"""Legal requests that are as hard on memory as they can be: nothing in them comes twice.

Each kind fills another cache: rules, label keys, selectors, expressions, names, whole nodes. The
API server would admit every one of these pods.
"""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from bench import hostile_pods, workloads
from bench.asks import VERBS, Ask, Names, Whole
from bench.cases import ACTIONS, HOST, ZONE
from bench.cluster import JSON, KERNEL, SLA, encoded, make_node, name_of
from bench.workloads import PREFIX, Rules
from tests.match.cel import hostile

FEW_NAMES: Final = 200
ALL_EVERY: Final = 10
# The API server takes 256 KiB of annotations; these stay below it.
ANNOTATION_BYTES: Final = 250 * 1024
WHOLE_NODES: Final = 50


@dataclass
class Traffic:
    """Makes requests, one kind at a time."""

    nodes: int
    seed: int = 1
    _made: int = 0
    _chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._all = Names([name_of(number) for number in range(self.nodes)], self._chance)
        self._huge_pods = hostile_pods.cases()
        self.kinds: Mapping[str, Callable[[], Ask]] = {
            "native affinity of many terms": lambda: self._named(self._native_affinity),
            "long node selectors": lambda: self._named(self._node_selector),
            "annotation of 250 KiB, tolerations": lambda: self._named(self._long_tolerations),
            "annotation of 250 KiB, affinity": lambda: self._named(self._long_affinity),
            "thousands of native tolerations": lambda: self._named(self._native_tolerations),
            "new expressions": lambda: self._named(self._expressions),
            "new regular expressions": lambda: self._named(self._patterns),
            "new spread selectors": lambda: self._named(self._spread_selectors),
            "new topology keys": lambda: self._named(self._topology_keys),
            "pods of a megabyte and a half": lambda: self._named(self._huge),
            "new label keys": lambda: self._named(self._label_keys),
            "new labels and namespaces of pods": lambda: self._named(self._strangers),
            "unknown names": self._unknown_names,
            "whole nodes": self._whole_nodes,
            "thousands of spread constraints": lambda: self._named(self._many_constraints),
            "spread over every label": lambda: self._named(self._every_label),
            "spread selectors of 50,000 values": lambda: self._named(self._large_selector),
        }

    def _number(self) -> int:
        self._made += 1
        return self._made

    def _pod(self, rules: Rules | None = None) -> JSON:
        app = f"app-{self._number():07}"
        text = workloads.Workload(app, rules or Rules()).pod()
        made: JSON = json.loads(text)
        return made

    def _verb(self) -> str:
        return VERBS[self._made % 2]

    def _named(self, make: Callable[[], JSON]) -> Ask:
        pod = encoded(make())
        names = self._all
        if self._made % ALL_EVERY:
            first = self._chance.randrange(self.nodes)
            count = min(FEW_NAMES, self.nodes)
            some = [name_of((first + each) % self.nodes) for each in range(count)]
            names = Names(some, self._chance)
        return names.ask(self._verb(), pod)

    def _native_affinity(self) -> JSON:
        pod = self._pod()
        number = self._made
        terms = [
            {"matchExpressions": [_in(KERNEL, f"5.{number}.{term}"), _in(ZONE, f"z-{number}")]}
            for term in range(1_000)
        ]
        preferred = [{"weight": 1 + term % 100, "preference": terms[term]} for term in range(500)]
        pod["spec"]["affinity"] = {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
                "preferredDuringSchedulingIgnoredDuringExecution": preferred,
            }
        }
        return pod

    def _node_selector(self) -> JSON:
        pod = self._pod()
        values = range(2_000)
        pod["spec"]["nodeSelector"] = {f"l-{each}": f"v-{self._made}-{each}" for each in values}
        return pod

    def _long_tolerations(self) -> JSON:
        pod = self._pod()
        made = [
            {"key": SLA, "operator": "Gt", "value": str(self._made * 10_000 + each)}
            for each in range(ANNOTATION_BYTES // 85)
        ]
        return _annotated(pod, "tolerations", made)

    def _long_affinity(self) -> JSON:
        pod = self._pod()
        expressions = [
            {"key": KERNEL, "operator": "SemverGt", "values": [f"5.{self._made}.{each}"]}
            for each in range(ANNOTATION_BYTES // 135)
        ]
        terms = [{"matchExpressions": [each]} for each in expressions]
        required = {"nodeSelectorTerms": terms}
        return _annotated(
            pod, "node-affinity", {"requiredDuringSchedulingIgnoredDuringExecution": required}
        )

    def _native_tolerations(self) -> JSON:
        pod = self._pod()
        pod["spec"]["tolerations"] = [
            {"key": f"k-{self._made}-{each}", "operator": "Equal", "value": f"v-{each}"}
            for each in range(5_000)
        ]
        return pod

    def _expressions(self) -> JSON:
        made = [
            {"expression": f"taint.key == 'k-{self._number()}' || taint.value == 'v-{each}'"}
            for each in range(20)
        ]
        return self._pod(Rules(made))

    def _patterns(self) -> JSON:
        """As large as they may be and too large in turns, 100 and 300 of them."""
        number = self._number()
        letters, count = 200 if number % 2 else 16, 300 if number % 4 < 2 else 100
        made = hostile.patterns(count, letters, first=1_000 * number)
        return self._pod(Rules([{"expression": each} for each in made]))

    def _spread_selectors(self) -> JSON:
        values = [f"app-{self._made}-{each}" for each in range(500)]
        selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": values}]}
        return self._spreading([HOST, ZONE], selector)

    def _topology_keys(self) -> JSON:
        keys = [f"example.com/label-{self._chance.randrange(10)}", f"example.com/{self._made}"]
        return self._spreading(keys, {"matchLabels": {"app": f"app-{self._made}"}})

    def _many_constraints(self) -> JSON:
        """The API server takes one of a kind for each key; no node has these."""
        keys = [f"example.com/k-{self._made}-{each}" for each in range(3_000)]
        return self._spreading(keys, {"matchLabels": {"app": f"app-{self._made}"}})

    def _every_label(self) -> JSON:
        """As many keys as nodes have, and a selector that means every pod of a namespace."""
        values = [f"app-{self._made}-{each}" for each in range(10)]
        selector = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": values}]}
        keys = [HOST, ZONE, KERNEL, "kubernetes.io/os", "kubernetes.io/arch"]
        pod = self._spreading([*keys, *(f"example.com/label-{i}" for i in range(10))], selector)
        pod["metadata"]["namespace"] = f"team-{self._made % 50}"
        return pod

    def _large_selector(self) -> JSON:
        values = [f"v-{self._made}-{each}" for each in range(50_000)]
        selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": values}]}
        return self._spreading([ZONE], selector)

    def _spreading(self, keys: list[str], selector: JSON) -> JSON:
        action = ACTIONS[VERBS[(self._made + 1) % 2]]
        constraints = [
            {
                "maxSkew": 1 + self._made % 10,
                "topologyKey": key,
                "whenUnsatisfiable": action,
                "labelSelector": selector,
                "nodeTaintsPolicy": "Honor",
            }
            for key in keys
        ]
        return self._pod(Rules([{"operator": "Exists"}], constraints=constraints))

    def _huge(self) -> JSON:
        """The pods that are as large as can be, in turn."""
        found = next(self._huge_pods, None)
        if found is None:
            self._huge_pods = hostile_pods.cases()
            found = next(self._huge_pods)
        _, made = found
        pod = self._pod()
        for part in ("labels", "annotations"):
            pod["metadata"][part] |= made["metadata"][part]
        pod["spec"] |= made["spec"]
        return pod

    def _label_keys(self) -> JSON:
        """Each key is a column of its own; that is 18 KiB of pod."""
        keys = [f"example.com/k-{self._number()}" for _ in range(200)]
        terms = [{"matchExpressions": [{"key": key, "operator": "DoesNotExist"}]} for key in keys]
        preferred = [{"weight": 1, "preference": term} for term in terms[:100]]
        affinity = {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
            "preferredDuringSchedulingIgnoredDuringExecution": preferred,
        }
        return self._pod(Rules((), affinity))

    def _strangers(self) -> JSON:
        pod = self._pod()
        pod["metadata"]["namespace"] = f"team-{self._made}"
        pod["metadata"]["labels"] = {f"l-{self._made}-{each}": f"v-{each}" for each in range(500)}
        pod["spec"]["schedulerName"] = f"scheduler-{self._made}"
        return pod

    def _unknown_names(self) -> Ask:
        first = self._number() * 10_000
        unknown = [f"unknown-{first + each:012}-{'x' * 40}" for each in range(2_000)]
        names = Names([name_of(0), *unknown], self._chance)
        rules = Rules([{"operator": "Exists"}])
        return names.ask(self._verb(), encoded(self._pod(rules)))

    def _whole_nodes(self) -> Ask:
        nodes = {}
        for each in range(WHOLE_NODES):
            node = make_node(self._number() % 100_000, self._chance)
            node["metadata"]["labels"] |= {f"example.com/w-{self._made}": f"v-{each}"}
            taint = {"key": f"t-{self._made}", "value": str(each), "effect": "NoSchedule"}
            node["spec"]["taints"].append(taint)
            kept = {key: node[key] for key in ("metadata", "spec", "status")}
            nodes[node["metadata"]["name"]] = encoded(kept)
        rules = workloads.mixed_rules(self._number())
        return Whole(nodes, self._chance).ask(self._verb(), encoded(self._pod(rules)))


def _in(key: str, value: str) -> JSON:
    return {"key": key, "operator": "In", "values": [value]}


def _annotated(pod: JSON, name: str, value: object) -> JSON:
    pod["metadata"]["annotations"][PREFIX + name] = json.dumps(value)
    return pod
