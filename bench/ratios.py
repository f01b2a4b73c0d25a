"""The cases of the table, measured: Leeway beside the floors and beside an extender in Go.

Clusters are served by an API server that Leeway watches, as in production; whole nodes need no
cluster, and the cluster of spread constraints comes from a file.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bench import answers, golang, processes, spreading
from bench.asks import VERBS
from bench.cases import Refusals, Scripts
from bench.cluster import make_nodes, slim
from bench.events import Events
from bench.golang import GoClient, NoGoError
from bench.processes import Child
from bench.results import GO_CLIENT, RAW
from bench.rounds import FULL, GO, LEAN, Contest, Kept, RawClient, Step, figures
from bench.workloads import mixed_rules, refused_rules, unopinionated_rules

Progress = Callable[[str], None]
AGREEING_WORKLOADS: Final = 5


@dataclass(frozen=True, slots=True)
class Size:
    """How much is measured."""

    nodes: int = 5_000
    small: int = 1_000
    whole: int = 1_000
    pods: int = 10_000
    rounds: int = 9
    calls: int = 20
    refused: int = 500
    seed: int = 1


@dataclass
class Ratios:
    """Measures part by part, round by round."""

    folder: Path
    size: Size
    progress: Progress = print
    with_go_client: bool = True
    kept: dict[str, dict[str, Kept]] = field(default_factory=dict)
    not_measured: list[str] = field(default_factory=list)
    _scripts: dict[int, Scripts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parts: dict[str, Callable[[ExitStack], None]] = {
            "names": self._names,
            "refused": self._refused,
            "expressions": self._expressions,
            "spread": self._spread,
            "whole": self._whole,
            "go": self._go,
        }

    def measure(self, part: str) -> None:
        """All rounds of one part."""
        self.progress(f"measuring: {part}")
        with ExitStack() as stack:
            self.parts[part](stack)

    def results(self) -> dict[str, Any]:
        """Figures by case, in the order in which they were measured."""
        found = {}
        for name, clients in self.kept.items():
            goal = next(iter(clients.values())).case.goal
            found[name] = {client: figures(kept) for client, kept in clients.items()}
            found[name]["goal"] = {"of": goal.of, "at_most": goal.at_most, "unit": goal.unit}
        return found

    def _scripts_of(self, nodes: int) -> Scripts:
        """Kept, so that nobody asks about the workloads of another part."""
        made = Scripts(nodes, self.size.whole, self.size.seed)
        return self._scripts.setdefault(nodes, made)

    def _names(self, stack: ExitStack) -> None:
        for nodes in (self.size.small, self.size.nodes):
            with ExitStack() as inner:
                scripts = self._scripts_of(nodes)
                server, _ = self._watching(inner, nodes)
                self._rounds(inner, server, lambda: scripts.names_round(self.size.calls))  # noqa: B023 - called at once
                if nodes == self.size.nodes:
                    self._rounds(inner, server, lambda: scripts.new_rules_round(self.size.calls))  # noqa: B023 - called at once

    def _refused(self, stack: ExitStack) -> None:
        server, api = self._watching(stack, self.size.nodes)
        events = stack.enter_context(closing(Events(api.addresses[0])))
        refusals = Refusals(self._scripts_of(self.size.nodes), self.size.refused)
        each = max(1, self.size.refused // self.size.rounds)
        for step in refusals.round(events.one, asked=self.size.refused):
            if step.before is None:  # ask about every pod once, before anything is counted
                server.connection.post("/filter", step.asks[0].body)
        self._rounds(stack, server, lambda: refusals.round(events.one, asked=each))

    def _expressions(self, stack: ExitStack) -> None:
        server, _ = self._watching(stack, self.size.nodes, taint_sets=self.size.nodes)
        scripts = self._scripts_of(self.size.nodes)
        self._rounds(stack, server, lambda: scripts.expression_round(self.size.calls))

    def _spread(self, stack: ExitStack) -> None:
        file = spreading.write_cluster(self.folder, self.size.nodes, seed=self.size.seed)
        server = stack.enter_context(processes.leeway("--cluster", str(file)))
        scripts = self._scripts_of(self.size.nodes)
        self._rounds(stack, server, lambda: scripts.spread_round(max(1, self.size.calls // 2)))

    def _whole(self, stack: ExitStack) -> None:
        server = stack.enter_context(processes.leeway())
        scripts, calls = self._scripts_of(self.size.nodes), max(1, self.size.calls // 4)
        self._rounds(stack, server, lambda: scripts.whole_round(calls), with_go_client=False)

    def _go(self, stack: ExitStack) -> None:
        try:
            program = golang.build("go_extender")
        except NoGoError as exc:
            self._say(f"an extender in Go: {exc}")
            return
        server, _ = self._watching(stack, self.size.nodes)
        nodes = list(map(slim, make_nodes(self.size.nodes, seed=self.size.seed)))
        file = self.folder / "go-extender-nodes.json"
        file.write_text(json.dumps({"kind": "NodeList", "items": nodes}), encoding="utf-8")
        rival = stack.enter_context(processes.started([str(program), "--nodes", str(file)]))
        scripts = self._scripts_of(self.size.nodes)
        must_agree(server, rival, scripts)
        self._rounds(stack, server, lambda: scripts.go_round(self.size.calls), rival)

    def _watching(
        self, stack: ExitStack, nodes: int, *, taint_sets: int = 0
    ) -> tuple[Child, Child]:
        size = self.size
        api = stack.enter_context(
            processes.apiserver(nodes, pods=size.pods, taint_sets=taint_sets, seed=size.seed)
        )
        return stack.enter_context(processes.watching(self.folder, api)), api

    def _rounds(
        self,
        stack: ExitStack,
        server: Child,
        steps: Callable[[], Iterator[Step]],
        rival: Child | None = None,
        *,
        with_go_client: bool = True,
    ) -> None:
        """Measure with the raw client, then with kube-scheduler's own one."""
        others = {floor: stack.enter_context(processes.floor()) for floor in (LEAN, FULL)}
        if rival is not None:
            others[GO] = rival
        contests = {RAW: Contest(server, others)}
        if (
            with_go_client
            and self.with_go_client
            and (client := self._go_client(stack)) is not None
        ):
            contests[GO_CLIENT] = Contest(server, others, client)
        for number in range(1 + self.size.rounds):
            for contest in contests.values():
                contest.run(steps())
                if not number:
                    contest.kept.clear()  # a round to warm up
        for name, contest in contests.items():
            for case, kept in contest.kept.items():
                self.kept.setdefault(case, {})[name] = kept

    def _go_client(self, stack: ExitStack) -> GoClient | None:
        try:
            return stack.enter_context(golang.client())
        except NoGoError as exc:
            self._say(f"kube-scheduler's own client: {exc}")
            return None

    def _say(self, what: str) -> None:
        """Loudly, and once."""
        if what not in self.not_measured:
            self.not_measured.append(what)
            self.progress(f"NOT MEASURED: {what}")


def must_agree(server: Child, rival: Child, scripts: Scripts) -> None:
    """The extender in Go gives the lean answer that is due, also where no node passes."""
    client = RawClient()
    for rules in (mixed_rules, unopinionated_rules, refused_rules) * AGREEING_WORKLOADS:
        workload = scripts.new_workload(rules)
        for verb in VERBS:
            ask = scripts.names.ask(verb, workload.pod())
            ours, theirs = (client.call(each, ask)[1] or b"" for each in (server, rival))
            if json.loads(answers.lean(verb, ours, ask.names)) != json.loads(theirs):
                raise SystemExit(f"the extender in Go disagrees: {verb} {workload.rules}")
