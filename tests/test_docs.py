"""The documentation names everything that a user can meet, and shows what the program does."""

import argparse
import json
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import msgspec
import pytest
import yaml
from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase

from extender import cli, plugins
from extender.cli import config as config_command
from extender.cli import serve, version
from extender.cluster.source import FileSource, NoSource
from extender.config import loading, printing
from extender.config.schema import Config, Limits, Listen, ProfileConfig, TLSFiles
from extender.errors import ConfigError
from extender.framework.interface import Settings
from extender.match.cel.cache import ProgramCache
from extender.match.gates import ATTRIBUTE_OF
from extender.metrics import CacheCollector, ControllerMetrics, Metrics
from extender.metrics.tallies import CounterTally
from extender.model.core_v1 import LivePod, Node
from extender.model.documents import Plain
from extender.native import planning
from extender.native.mutation import Mutator
from extender.native.settings import CompileSettings
from extender.native.universe import TaintUniverse
from extender.review.admission import AdmissionRequest
from extender.server.call_log import CallLog
from extender.server.explain import ExplainDoor
from extender.server.hold import RefusalHold
from extender.server.ops import ops_app
from extender.server.room import Share
from extender.server.scheduler import SchedulerDoor
from extender.server.status import Callers, Readiness
from extender.server.webhook import AdmissionDoor
from extender.verbs import filter as filter_verb
from extender.verbs import preempt, prioritize
from extender.verbs.cel_budget import CelBudget
from extender.verbs.context import Context
from extender.verbs.profiles import Profiles
from extender.wire import answers

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CONFIGURATION = ROOT / "docs/configuration.md"
EXAMPLES = ROOT / "deploy/examples"
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "bench/README.md",
    ROOT / "deploy/examples/stories/README.md",
]
DECISIONS = sorted((ROOT / "docs/adr").glob("*.md"))
SECTIONS = ["Context", "Decision", "Consequences"]
MAX_DECISION_LINES = 40

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    """A page without its code blocks, whose `#` are no headings."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of one language."""
    found = _FENCE.findall(page.read_text(encoding="utf-8"))
    return [text for name, text in found if name == language]


def table(page: Path, heading: str) -> dict[str, list[str]]:
    """The first table under a heading: its rows by their first cell, without back-ticks."""
    section = re.split(rf"^#+ {re.escape(heading)}$", prose(page), flags=re.MULTILINE)[1]
    lines = re.split(r"^#+ ", section, maxsplit=1, flags=re.MULTILINE)[0].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows: dict[str, list[str]] = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        first, *rest = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1])
        rows[first.replace("`", "")] = [cell.replace("`", "") for cell in rest]
    return rows


def anchors(page: Path) -> set[str]:
    """What GitHub calls the headings of a page."""
    titles = (title.lower().replace("`", "") for title in _HEADING.findall(prose(page)))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}


# --- What there is -----------------------------------------------------------------------------


def doors() -> tuple[SchedulerDoor, web.Application, web.Application]:
    """The scheduler's, the operator's and the API server's routes."""
    registry = CollectorRegistry()
    source, callers, profiles = NoSource(), Callers(), Profiles(Config())
    door = SchedulerDoor(
        Context(source, profiles),
        RefusalHold(source, 0.05),
        CallLog(profiles, Metrics(registry), callers),
        Limits(),
        Share(1),
    )
    admission = AdmissionDoor(
        profiles.settings,
        CelBudget(profiles.settings),
        limits=Limits(),
        metrics=Metrics(CollectorRegistry()),
        mutate=_never_asked,
    )
    explain = ExplainDoor(Config(), source).handle
    ops = ops_app(
        Readiness({}),
        registry=registry,
        callers=callers,
        source=source,
        config=Config(),
        explain=explain,
    )
    return door, ops, admission.app()


async def _never_asked(_request: AdmissionRequest) -> bytes:
    raise NotImplementedError


def endpoints() -> Iterator[tuple[str, str]]:
    door, *apps = doors()
    yield from ((f"POST {path}", "scheduler") for path in door.paths)
    for listener, app in zip(("ops", "admission"), apps, strict=True):
        for route in app.router.routes():
            if route.method != "HEAD" and route.resource is not None:
                yield f"{route.method} {route.resource.canonical}", listener


def config_keys() -> dict[str, Plain]:
    """Every key of a file that says everything, with its default where it has one."""
    files = TLSFiles("tls.crt", "tls.key", "ca.crt")
    listen = Config().listen
    full = Config(
        listen=Listen(admission=listen.ops),
        scheduler_tls=files,
        admission_tls=replace(files, client_ca_file=None),
        kubeconfig="kubeconfig",
        profiles=(ProfileConfig("extended-scheduler", plugins.DEFAULT_WEIGHTS),),
        max_staleness=1.0,
    )
    from_files = replace(full, kubeconfig=None, cluster_files=("cluster.yaml",))
    keys = dict.fromkeys(
        key for config in (full, from_files) for key, _ in flattened(printing.to_document(config))
    )
    return keys | dict(flattened(printing.to_document(Config())))


def flattened(value: Plain, path: str = "") -> Iterator[tuple[str, Plain]]:
    """The leaves of a document, each under its path."""
    match value:
        case dict():
            for key, inner in value.items():
                yield from flattened(inner, f"{path}.{key}" if path else key)
        case list() if any(isinstance(item, dict) for item in value):
            for item in value:
                yield from flattened(item, f"{path}[]")
        case _:
            yield path, value


def flags() -> set[str]:
    """Every option of every command."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers()
    for command in (serve, config_command, version):
        command.add_to(commands)
    return set(options(parser))


def options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from options(inner)


def commands(parser: argparse.ArgumentParser, path: str = "leeway") -> Iterator[str]:
    """Every command that does something, by what a person types."""
    below = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not below:
        yield path
    for action in below:
        for name, inner in action.choices.items():
            yield from commands(inner, f"{path} {name}")


def reasons() -> Iterator[str]:
    """Every reason constant of the plugins and the wire, with its particulars as a pattern."""
    found = [
        import_module(f"extender.plugins.{m.name}") for m in pkgutil.iter_modules(plugins.__path__)
    ]
    for module in (answers, *found):
        for name, value in vars(module).items():
            if name.startswith("REASON"):
                named = re.sub(r"\{(\w+)\}", r"<\1>", value)
                yield named.format("<key>: <value>") if "{}" in named else named


# --- The tables --------------------------------------------------------------------------------


def test_every_plugin_has_its_row_in_the_order_of_judging() -> None:
    built = [each.build_filter(Settings()).name for each in plugins.PLUGINS]
    rows = table(README, "Plugins")

    assert list(rows) == built
    assert {name: int(row[2].replace("-", "0")) for name, row in rows.items()} == dict(
        plugins.DEFAULT_WEIGHTS
    )


def test_every_endpoint_has_its_row() -> None:
    rows = table(ROOT / "docs/endpoints.md", "The table")

    assert {endpoint: row[0] for endpoint, row in rows.items()} == dict(endpoints())


def test_every_metric_has_its_row_with_type_and_labels() -> None:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    registry.register(CacheCollector(lambda: ()))
    programs = ProgramCache()
    metrics.watch_programs(programs)
    metrics.watch_caches(programs.budget)
    controller = ControllerMetrics(registry)
    controller.watch_compiled(dict)
    rows = table(ROOT / "docs/metrics.md", "The table")
    types = {
        family.name + ("_total" if family.type == "counter" else ""): family.type
        for family in registry.collect()
    }
    labels = {
        metric._name + ("_total" if metric._type == "counter" else ""): list(metric._labelnames)
        for metric in (*vars(metrics).values(), *vars(controller).values())
        if isinstance(metric, MetricWrapperBase)
    } | {
        tally.name + ("_total" if isinstance(tally, CounterTally) else ""): list(tally.labels)
        for tally in metrics.tallies
    }

    assert {name: row[0] for name, row in rows.items()} == types
    assert {name: rows[name][1].replace("-", "").split(", ") for name in labels} == {
        name: each or [""] for name, each in labels.items()
    }


def test_every_configuration_key_has_its_row_with_its_default() -> None:
    rows = table(CONFIGURATION, "Keys")
    keys = config_keys()

    assert set(rows) == set(keys)
    for key, default in keys.items():
        if default is not None:
            assert rows[key][0] == in_yaml(default), key


def in_yaml(value: Plain) -> str:
    """A value as a file has it, on one line."""
    match value:
        case bool():
            return str(value).lower()
        case list():
            return f"[{', '.join(map(in_yaml, value))}]"
        case _:
            return str(value)


def test_every_flag_has_its_row_with_its_key() -> None:
    rows = table(CONFIGURATION, "Flags")
    documented = {
        flag.split(" ")[0].removesuffix(","): row[0]
        for first, row in rows.items()
        for flag in first.split(", ")
    }
    keys = config_keys()

    assert set(documented) == flags()
    assert {flag: key for flag, key in documented.items() if key != "-"} == dict(
        loading.PATH_OF_FLAG
    )
    for path in loading.PATH_OF_FLAG.values():
        assert any(key == path or key.startswith(path + ".") for key in keys), path


def test_every_command_has_its_row_in_the_order_of_the_help() -> None:
    assert list(table(ROOT / "docs/commands.md", "The table")) == list(commands(cli.parser()))


@pytest.mark.parametrize("command", ["diff", "doctor", "scan", "test"])
def test_every_flag_of_a_command_has_its_row(command: str) -> None:
    (commands,) = (a for a in cli.parser()._actions if isinstance(a, argparse._SubParsersAction))
    rows = table(ROOT / f"docs/{command}.md", "Flags")

    assert {flag.split(" ")[0] for first in rows for flag in first.split(", ")} == set(
        options(commands.choices[command])
    )


def test_every_feature_gate_has_its_row() -> None:
    rows = table(CONFIGURATION, "Feature gates")

    assert set(rows) == set(ATTRIBUTE_OF)
    assert {gate: row[0] for gate, row in rows.items()} == {
        gate: ", ".join(each.name for each in plugins.PLUGINS if gate in each.gates)
        for gate in ATTRIBUTE_OF
    }


def test_every_reason_has_its_row_word_for_word() -> None:
    rows = set(table(ROOT / "docs/reasons.md", "The table"))

    of_annotations = {
        "pod annotation <name> is invalid: <what>",
        'persistentvolume "<volume>" annotation <name> is invalid: <what>',
    }

    assert rows - of_annotations == set(reasons())


def test_every_make_target_has_its_row() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z0-9-]+):.*##", makefile, re.MULTILINE)

    assert {f"make {target}" for target in targets} <= set(
        table(ROOT / "CONTRIBUTING.md", "Commands")
    )


def test_every_decision_is_listed_short_and_of_one_form() -> None:
    listed = re.findall(r"docs/adr/([\w-]+\.md)", prose(ROOT / "ARCHITECTURE.md"))

    assert sorted(set(listed)) == [decision.name for decision in DECISIONS]
    for number, decision in enumerate(DECISIONS, start=1):
        text = decision.read_text(encoding="utf-8")
        assert decision.name.startswith(f"{number:04}-")
        assert text.startswith(f"# {number:04}. ")
        assert re.match(r"# .+\n\nStatus: (accepted|superseded by .+)[.;]", text), decision.name
        sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert sections == SECTIONS or (not sections and "\nStatus: superseded by " in text)
        assert len(text.splitlines()) <= MAX_DECISION_LINES, decision.name


# --- Links and blocks --------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_local_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.findall(prose(page)):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_blocks_parse(page: Path) -> None:
    for text in blocks(page, "json"):
        json.loads(text)
    for text in blocks(page, "yaml"):
        assert list(yaml.safe_load_all(text))
    for text in blocks(page, "python"):
        compile(text, page.name, "exec")


@pytest.mark.parametrize(
    ("page", "file"),
    [
        (ROOT / "docs/scheduler.md", EXAMPLES / "scheduler-config.yaml"),
        (CONFIGURATION, EXAMPLES / "extender-config.yaml"),
    ],
    ids=["scheduler", "extender"],
)
def test_a_configuration_is_shown_as_it_is_shipped(page: Path, file: Path) -> None:
    assert file.read_text(encoding="utf-8") in blocks(page, "yaml")


# --- What the program answers ------------------------------------------------------------------


@pytest.fixture(scope="module")
def context() -> Context:
    source = FileSource([str(EXAMPLES / "cluster.yaml")])
    return Context(source, Profiles(Config()), refusals="always")


def test_the_filter_answer_of_the_readme_is_real(context: Context) -> None:
    answer = filter_verb.answer(context, (EXAMPLES / "filter-batch.json").read_bytes())
    pretty = json.dumps(json.loads(answer.body), indent=4) + "\n"

    assert blocks(README, "json") == [pretty]


@pytest.mark.parametrize("threshold", ["950", "700"])
def test_the_changed_tolerations_of_the_readme_are_real(context: Context, threshold: str) -> None:
    body = (EXAMPLES / "filter-batch.json").read_text(encoding="utf-8")
    answer = filter_verb.answer(context, body.replace("900", threshold).encode())
    pretty = json.dumps(json.loads(answer.body), indent=4).splitlines()
    shown = "\n".join(line for line in pretty if "spot" in line)

    assert any(
        f"s/900/{threshold}/" in text and shown in text for text in blocks(README, "console")
    )


def test_the_scores_and_the_victims_of_the_readme_are_real(context: Context) -> None:
    scores = prioritize.answer(context, (EXAMPLES / "prioritize-web.json").read_bytes())
    victims = preempt.answer(context, (EXAMPLES / "preempt-batch.json").read_bytes())
    shown = "".join(blocks(README, "console")).splitlines()

    assert scores.body.decode() in shown
    assert victims.body.decode() in shown


def test_the_shipped_scheduler_configuration_calls_what_there_is() -> None:
    text = (EXAMPLES / "scheduler-config.yaml").read_text(encoding="utf-8")
    extender = yaml.safe_load(text)["extenders"][0]
    verbs = {extender[key] for key in ("filterVerb", "prioritizeVerb", "preemptVerb")}

    assert {f"POST /{verb}" for verb in verbs} == {
        endpoint for endpoint, listener in endpoints() if listener == "scheduler"
    }
    assert extender["weight"] == plugins.DEFAULT_WEIGHTS["TaintToleration"]


def test_the_problems_of_the_wrong_configuration_are_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = next(text for text in blocks(CONFIGURATION, "yaml") if "TaintTolerations" in text)
    monkeypatch.chdir(tmp_path)
    Path("wrong.yaml").write_text(wrong, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        loading.load(Path("wrong.yaml"), {"--catch-up": "soon"})
    shown = blocks(CONFIGURATION, "console")[0].splitlines()[1:]

    assert shown == [f"leeway: {problem}" for problem in caught.value.problems]


def test_the_compiled_pod_of_the_documentation_is_real() -> None:
    shown = [yaml.safe_load(text) for text in blocks(ROOT / "docs/compile-mode.md", "yaml")]
    pod, waiting, bound = shown[:3]
    settings, compile_settings, taints = Settings(), CompileSettings(), TaintUniverse()
    for value in ("800", "950", "990"):
        taint = {"key": "node.kubernetes.io/sla", "value": value, "effect": "NoExecute"}
        taints.put(f"node-{value}", msgspec.convert({"spec": {"taints": [taint]}}, Node))
    created = Mutator(settings, compile_settings).created(live(pod), taints)
    added = [operation["value"] for operation in created.operations if "value" in operation]
    pod["spec"] |= {"tolerations": waiting["tolerations"], "nodeName": "node-950"}
    plan = planning.plan(live(pod), taints, settings, compile_settings)
    guards = [msgspec.to_builtins(each) for each in plan.guards]

    assert [each for each in added if each] == waiting["tolerations"]
    assert [*waiting["tolerations"], *guards] == bound["spec"]["tolerations"]
    assert bound["metadata"]["annotations"] == {
        "scheduling.leeway/guarded-keys": json.dumps(plan.record)
    }


def live(pod: Plain) -> LivePod:
    """A pod as the API server sends it."""
    return msgspec.json.decode(msgspec.json.encode(pod), type=LivePod)


def test_the_shipped_configuration_loads() -> None:
    config = loading.load(EXAMPLES / "extender-config.yaml", {})

    assert [profile.scheduler_name for profile in config.profiles] == ["extended-scheduler"]


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_the_rules_of_example_pods_can_be_read(page: Path, context: Context) -> None:
    for text in blocks(page, "yaml"):
        for document in yaml.safe_load_all(text):
            if document.get("kind") == "Pod":
                body = msgspec.json.encode({"Pod": document, "NodeNames": ["spot-gold"]})
                assert b"is invalid" not in filter_verb.answer(context, body).body
