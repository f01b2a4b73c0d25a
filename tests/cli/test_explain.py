"""`leeway explain` as a person calls it; what it prints is in tests/golden/explain."""

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.builders import node_json, taint
from tests.cli import pages, process, terminal
from tests.cluster.apiserver import Answer, ScriptedServer, scripted
from tests.cluster.test_api import kubeconfig

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests/golden/explain"
CLUSTER = str(GOLDEN / "cluster.yaml")
PODS = str(GOLDEN / "pods.yaml")
EXAMPLE = (
    str(ROOT / "deploy/examples/pending-pod.yaml"),
    "--cluster",
    str(ROOT / "deploy/examples/cluster.yaml"),
)
WEB = ("-f", PODS, "web", "--cluster", CLUSTER)
MISTAKES = ROOT / "tests/golden/mistakes/workloads.yaml"
ADVICE = ("--cluster", str(GOLDEN / "advice.yaml"))
GATE = "TaintTolerationComparisonOperators=false"
COMPILED = ROOT / "tests/golden/compile"


def explained(*arguments: str) -> process.Ended:
    return process.run_here("explain", *arguments)


@pytest.mark.parametrize(
    ("golden", "code", "arguments"),
    [
        ("example", 1, EXAMPLE),
        ("example-node", 1, (*EXAMPLE, "--node", "spot-gold")),
        ("example-every-node", 1, (*EXAMPLE, "--all")),
        ("web", 1, WEB),
        ("web-on-a-1", 1, (*WEB, "--node", "a-1")),
        ("web-on-b-1", 1, (*WEB, "--node", "b-1")),
        ("web-on-c-1", 1, (*WEB, "--node", "c-1")),
        ("web-on-bare", 1, (*WEB, "--node", "bare")),
        ("db", 1, ("-f", PODS, "statefulset/db", "--cluster", CLUSTER)),
        ("anything", 0, ("-f", PODS, "anything", "--cluster", CLUSTER)),
        ("anything-on-c-1", 0, ("-f", PODS, "anything", "--cluster", CLUSTER, "--node", "c-1")),
        ("pending", 1, ("-n", "shop", "pending", "--cluster", CLUSTER)),
        ("advice-unquoted", 1, ("-n", "batch", "unquoted", *ADVICE)),
        ("advice-newest", 1, ("-n", "batch", "newest", *ADVICE)),
        ("advice-system-tolerations", 1, ("-n", "batch", "plain", *ADVICE)),
        ("advice-pinned", 1, ("-n", "batch", "pinned", *ADVICE)),
        ("advice-in-place", 1, ("-n", "batch", "report-7d4b9c-x2x", *ADVICE)),
        ("advice-new-pod", 1, ("-n", "batch", "fixed-7d4b9c-x2x", *ADVICE)),
        ("advice-last-attempt", 0, ("-n", "batch", "hungry", *ADVICE)),
        ("advice-gate", 1, ("-n", "batch", "hungry", *ADVICE, "--feature-gates", GATE)),
    ],
)
def test_what_is_printed(golden: str, code: int, arguments: tuple[str, ...]) -> None:
    ended = explained(*arguments)

    assert ended.out == (GOLDEN / f"{golden}.txt").read_text(encoding="utf-8")
    assert (ended.code, ended.err) == (code, "")


def test_mistakes_of_people_are_noted() -> None:
    example = str(ROOT / "deploy/examples/cluster.yaml")
    notes: list[str] = []
    for name in ("misplaced", "misplaced-twice", "misspelt", "wrong-case", "unknown-field"):
        ended = explained("-f", str(MISTAKES), name, "--cluster", example, "-o", "json")
        told = json.loads(ended.out)["notes"]
        notes += [f"{name}: {note}" for note in told if "metadata" in note or "operator" in note]

    assert notes == (MISTAKES.parent / "explain.txt").read_text(encoding="utf-8").splitlines()


def test_an_annotation_that_cannot_be_read_is_the_cause_of_a_refusal() -> None:
    example = str(ROOT / "deploy/examples/cluster.yaml")
    whole = explained("-f", str(MISTAKES), "numbers", "--cluster", example)
    one = explained("-f", str(MISTAKES), "numbers", "--cluster", example, "--node", "cordoned")

    reason = (
        "pod annotation scheduling.leeway/tolerations is invalid:"
        ' [0].value must be text: write "900"'
    )
    assert f"refused  annotation  {reason}  " in whole.out
    assert "NodeUnschedulable" not in whole.out
    assert one.out.startswith("Job shop/numbers on node cordoned: refused by annotation\n")


@pytest.mark.parametrize(
    ("golden", "code", "arguments"),
    [
        pytest.param("report", 0, ("-n", "batch", "report"), id="behind"),
        pytest.param("inference", 0, ("-n", "serving", "inference"), id="compiled, with a guard"),
        pytest.param("archive", 0, ("-n", "batch", "archive"), id="narrowed"),
        pytest.param("typo", 1, ("-n", "lab", "typo"), id="refused"),
        pytest.param(
            "agent", 0, ("-f", str(COMPILED / "cluster.yaml"), "daemonset/agent"), id="never"
        ),
    ],
)
def test_what_compile_mode_makes_of_a_pod(
    golden: str, code: int, arguments: tuple[str, ...]
) -> None:
    ended = explained(*arguments, "--cluster", str(COMPILED / "cluster.yaml"))

    assert ended.out == (COMPILED / f"explain-{golden}.txt").read_text(encoding="utf-8")
    assert (ended.code, ended.err) == (code, "")


def test_what_compile_mode_makes_of_a_pod_as_data(tmp_path: Path) -> None:
    config = tmp_path / "leeway.yaml"
    config.write_text(
        "apiVersion: leeway.scheduling/v1alpha1\nkind: ExtenderConfiguration\n"
        "compile: {schedulerNames: [another]}\n",
        encoding="utf-8",
    )
    pod = ("-n", "batch", "report", "--cluster", str(COMPILED / "cluster.yaml"))
    made = json.loads(explained(*pod, "-o", "json").out)["compilation"]
    as_yaml = yaml.safe_load(explained(*pod, "-o", "yaml").out)
    another = json.loads(explained(*pod, "-o", "json", "--config", str(config)).out)

    assert (made["state"], made["openByTolerations"], made["openByRules"]) == ("behind", 1, 2)
    assert made["tolerations"][2] == {
        "key": "node.kubernetes.io/sla",
        "operator": "Equal",
        "value": "980",
        "effect": "NoSchedule",
        "tolerationSeconds": None,
        "text": "node.kubernetes.io/sla=980:NoSchedule",
        "missing": True,
        "origin": "rule",
        "why": "from `node.kubernetes.io/sla Gt 900` (annotation)",
        "rule": "node.kubernetes.io/sla Gt 900",
        "carrier": "annotation",
    }
    assert as_yaml["compilation"] == made
    assert "compilation" not in another


def test_the_page_shows_what_is_printed() -> None:
    shown = [pair for pair in pages.shown("docs/explain.md") if pair[1]]

    assert len(shown) >= 2
    for command, output in shown:
        assert pages.printed(command) == output, command


def test_data_in_two_forms() -> None:
    as_json = json.loads(explained(*WEB, "-o", "json").out)
    as_yaml = yaml.safe_load(explained(*WEB, "-o", "yaml", "--node", "b-1").out)

    assert (as_json["kind"], as_json["pod"]["kind"]) == ("Explanation", "Deployment")
    assert as_json["apiVersion"] == "leeway.scheduling/v1alpha1"
    assert as_json["derivation"] is None
    assert as_yaml["derivation"]["node"] == "b-1"


def test_a_page_for_a_ticket() -> None:
    ended = explained(*EXAMPLE, "-o", "html")

    assert (ended.code, ended.err) == (1, "")
    assert ended.out.startswith("<!DOCTYPE html>\n<html lang=")
    assert "Nearest fix: 1 change, and it passes on spot-gold" in ended.out


def a_large_cluster(folder: Path) -> str:
    """5,000 nodes and 20,000 pods, as kubectl dumps them."""
    nodes = [
        {
            "kind": "Node",
            **node_json(
                f"node-{i:04}",
                taint("sla", str(500 + i % 500)),
                labels={"kubernetes.io/hostname": f"node-{i:04}", "zone": "abc"[i % 3]},
            ),
        }
        for i in range(5_000)
    ]
    pods = [
        {
            "kind": "Pod",
            "metadata": {"name": f"web-{i}", "namespace": "shop", "labels": {"app": "web"}},
            "spec": {"nodeName": f"node-{i % 4999:04}"},
            "status": {"phase": "Running"},
        }
        for i in range(20_000)
    ]
    file = folder / "cluster.json"
    file.write_text(json.dumps({"kind": "List", "items": [*nodes, *pods]}), encoding="utf-8")
    return str(file)


def test_a_large_cluster_is_told_in_a_few_lines(tmp_path: Path) -> None:
    """Spread over hostnames has as many domains as there are nodes."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pod = {
        "kind": "Pod",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": {"app": "web"},
            "annotations": {
                "scheduling.leeway/tolerations": '[{"key":"sla","operator":"Gt","value":"998"}]'
            },
        },
        "spec": {"topologySpreadConstraints": [constraint]},
    }
    file = tmp_path / "pod.json"
    file.write_text(json.dumps(pod), encoding="utf-8")
    cluster = a_large_cluster(tmp_path)
    all_nodes = explained(str(file), "--cluster", cluster)
    one = explained(str(file), "--cluster", cluster, "--node", "node-0499")

    assert (all_nodes.code, one.code) == (0, 1)
    assert "passes on 1 of 5000 nodes" in all_nodes.out
    assert "and 4989 more" in one.out
    for ended in (all_nodes, one):
        assert len(ended.out.splitlines()) < 60


def test_a_patch_that_is_told_works(tmp_path: Path) -> None:
    patch = json.loads(explained(*EXAMPLE, "-o", "json").out)["fix"]["patch"]
    pod = yaml.safe_load(Path(EXAMPLE[0]).read_text(encoding="utf-8"))
    pod["metadata"]["annotations"] |= patch["metadata"]["annotations"]
    file = tmp_path / "pod.yaml"
    file.write_text(yaml.safe_dump(pod), encoding="utf-8")

    assert explained(str(file), *EXAMPLE[1:]).code == 0


def test_a_pod_from_standard_input() -> None:
    ended = subprocess.run(  # noqa: S603 - our own command
        [*process.MODULE, "explain", "-", *EXAMPLE[1:]],
        input=Path(EXAMPLE[0]).read_text(encoding="utf-8"),
        capture_output=True,
        text=True,
        check=False,
        env=process.environment(),
    )

    assert ended.stdout == (GOLDEN / "example.txt").read_text(encoding="utf-8")


def test_a_pod_and_its_cluster_from_the_same_standard_input() -> None:
    dump = Path(CLUSTER).read_text(encoding="utf-8")
    named = process.run_here("explain", "-n", "shop", "pending", "--cluster", "-", given=dump)
    golden = (GOLDEN / "pending.txt").read_text(encoding="utf-8")
    chosen = process.run_here("explain", "-f", "-", "pending", "--cluster", "-", given=dump)

    assert (named.code, named.out) == (1, golden)
    assert chosen.code == 1
    assert "Pod shop/pending" in chosen.out


def test_names_alone_and_everything() -> None:
    anything = ("-f", PODS, "anything", "--cluster", CLUSTER)
    names = explained(*anything, "-o", "name")
    as_data = json.loads(explained(*anything, "-o", "json").out)["verdicts"]
    one = explained(*anything, "-o", "name", "--node", "c-1")

    assert names.out.split() == [
        f"node/{each['node']}" for each in as_data if each["code"] == "Success"
    ]
    assert one.out == "node/c-1\n"
    assert explained(*EXAMPLE, "-o", "wide").out == explained(*EXAMPLE, "--all").out


def test_a_pod_that_kubectl_printed_has_its_owner() -> None:
    documents = yaml.safe_load_all((GOLDEN / "advice.yaml").read_text(encoding="utf-8"))
    pod = next(each for each in documents if each["metadata"]["name"].startswith("fixed-"))
    ended = subprocess.run(  # noqa: S603 - our own command
        [*process.MODULE, "explain", "-", *ADVICE],
        input=yaml.safe_dump(pod),
        capture_output=True,
        text=True,
        check=False,
        env=process.environment(),
    )

    assert ended.stdout == (GOLDEN / "advice-new-pod.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("golden", "arguments"),
    [
        ("example", (*EXAMPLE[1:], EXAMPLE[0])),
        ("pending", ("-n", "shop", "--cluster", CLUSTER, "pending")),
        ("web", ("-f", PODS, "--cluster", CLUSTER, "web")),
    ],
)
def test_the_pod_may_stand_behind_the_cluster(golden: str, arguments: tuple[str, ...]) -> None:
    expected = (GOLDEN / f"{golden}.txt").read_text(encoding="utf-8")

    assert explained(*arguments).out == expected


def test_gates_and_the_configuration_count(tmp_path: Path) -> None:
    file = tmp_path / "leeway.yaml"
    file.write_text(
        "apiVersion: leeway.scheduling/v1alpha1\nkind: ExtenderConfiguration\n"
        "profiles: [{schedulerName: another}]\n",
        encoding="utf-8",
    )
    off = explained(*EXAMPLE, "--feature-gates", GATE, "--node", "spot-gold")
    foreign = explained(*EXAMPLE, "--config", str(file))

    assert "feature gate TaintTolerationComparisonOperators is off" in off.out
    assert foreign.code == 0
    assert "only the node-affinity annotation is judged here" in foreign.out


def test_on_a_terminal_it_is_coloured_and_fits() -> None:
    code, text = terminal.run("explain", *EXAMPLE, columns=90)
    plain_code, plain = terminal.run("explain", *EXAMPLE, columns=90, NO_COLOR="1")

    assert code == plain_code == 1
    assert "\x1b[31mrefused\x1b[0m" in text
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 90


def test_foreign_text_does_not_paint_the_terminal(tmp_path: Path) -> None:
    node = node_json("n", taint("k", "\x1b[31mred"))
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(node | {"kind": "Node"}), encoding="utf-8")
    _, text = terminal.run("explain", EXAMPLE[0], "--cluster", str(file), NO_COLOR="1")

    assert "\\x1b[31mred" in text
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "which pod? Give a file, '-', the name of a pod, or KIND/NAME"),
        (("nowhere.yaml",), "nowhere.yaml: no such file; to name a pod of the cluster"),
        ((EXAMPLE[0],), "which cluster? $KUBECONFIG is not set, and there is no"),
        (("-n", "shop", "x"), "which cluster? $KUBECONFIG is not set, and there is no"),
        (
            ("-n", "shop", "pendingg", "--cluster", CLUSTER),
            f"there is no pod shop/pendingg in {CLUSTER}; did you mean pending?",
        ),
        (
            ("-n", "shop", "zzz", "--cluster", CLUSTER),
            f"there is no pod shop/zzz in {CLUSTER}",
        ),
        (
            (PODS, "--cluster", CLUSTER),
            f"{PODS}: contains deployment/web, statefulset/db, pod/anything; choose one:"
            f" leeway explain -f {PODS} NAME",
        ),
        (
            ("-f", PODS, "x", "--cluster", CLUSTER),
            f"{PODS}: contains no x, only deployment/web, statefulset/db, pod/anything",
        ),
        (
            (EXAMPLE[2], "--cluster", CLUSTER),
            f"{EXAMPLE[2]}: contains no pod and no workload; supported kinds: Pod, PodTemplate,",
        ),
        ((*EXAMPLE, "--node", "spot-gld"), "node 'spot-gld' is not in the cluster; did you mean"),
        ((EXAMPLE[0], "--cluster", "nowhere"), "nowhere: cannot be read: No such file"),
        ((EXAMPLE[0], "--kubeconfig", "nowhere"), "kubeconfig nowhere does not exist; give"),
    ],
)
def test_what_cannot_be_explained_is_one_sentence(arguments: tuple[str, ...], problem: str) -> None:
    ended = explained(*arguments)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"leeway: {problem}")
    assert len(ended.err.splitlines()) == 1


# --- A live cluster ----------------------------------------------------------------------------


async def asked(server: ScriptedServer, folder: Path, *arguments: str) -> process.Ended:
    file = kubeconfig(folder, server)
    return await asyncio.to_thread(explained, *arguments, "--kubeconfig", file)


def stocked(server: ScriptedServer) -> None:
    """The cluster of the golden files."""
    resources = {
        "Node": "nodes",
        "Pod": "pods",
        "PersistentVolume": "persistentvolumes",
        "PersistentVolumeClaim": "persistentvolumeclaims",
    }
    for item in yaml.safe_load(Path(CLUSTER).read_text(encoding="utf-8"))["items"]:
        server.put(resources[item["kind"]], item)


async def test_a_pod_of_a_live_cluster(tmp_path: Path) -> None:
    async with scripted() as server:
        stocked(server)
        ended = await asked(server, tmp_path, "-n", "shop", "pending")

    assert ended.out == (GOLDEN / "pending.txt").read_text(encoding="utf-8")
    assert server.kinds("pods") == server.kinds("persistentvolumes") == []


def at_home(folder: Path, kubeconfig: str) -> Path:
    """The kubeconfig with another context, where kubectl looks for it."""
    document = yaml.safe_load(Path(kubeconfig).read_text(encoding="utf-8"))
    context = {"cluster": "there", "user": "me", "namespace": "shop"}
    document["contexts"].append({"name": "shopping", "context": context})
    file = folder / ".kube/config"
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    return file


async def test_a_pod_of_the_context_and_the_kubeconfig_of_the_environment(tmp_path: Path) -> None:
    async with scripted() as server:
        stocked(server)
        file = at_home(tmp_path, kubeconfig(tmp_path, server))

        def ask(*arguments: str, environment: str = "", home: str = "") -> process.Ended:
            return process.run("explain", *arguments, KUBECONFIG=environment, HOME=home)

        named = await asyncio.to_thread(
            ask, "pod/pending", "--context", "shopping", environment=f"/nowhere:{file}"
        )
        own = await asyncio.to_thread(ask, "pending", "-n", "shop", home=str(tmp_path))
        slip = await asyncio.to_thread(ask, "x", "--context", "shoping", home=str(tmp_path))

    golden = (GOLDEN / "pending.txt").read_text(encoding="utf-8")
    assert (named.out, own.out) == (golden, golden)
    assert slip.err == (
        f"leeway: kubeconfig {file}: there is no context 'shoping'; did you mean shopping?\n"
    )


async def test_what_compile_mode_makes_of_a_live_pod(tmp_path: Path) -> None:
    text = (COMPILED / "cluster.yaml").read_text(encoding="utf-8")
    async with scripted() as server:
        for item in yaml.safe_load_all(text):
            if item["kind"] in ("Node", "Pod"):
                server.put(f"{item['kind'].lower()}s", item)
        ended = await asked(server, tmp_path, "-n", "batch", "report")
    golden = (COMPILED / "explain-report.txt").read_text(encoding="utf-8")

    # A server lists nodes by name.
    assert ended.out.partition("Compile mode")[2] == golden.partition("Compile mode")[2] != ""
    assert server.kinds("pods") == []  # the one pod, and no list of all


async def test_a_file_against_a_live_cluster_reads_what_it_must(tmp_path: Path) -> None:
    async with scripted() as server:
        stocked(server)
        ended = await asked(server, tmp_path, "-f", PODS, "web")

    assert ended.out == (GOLDEN / "web.txt").read_text(encoding="utf-8")
    assert server.kinds("pods") == server.kinds("storageclasses") == ["list"]


async def test_a_pod_that_is_not_there_and_rights_that_are_missing(tmp_path: Path) -> None:
    async with scripted() as server:
        stocked(server)
        missing = await asked(server, tmp_path, "-n", "shop", "zzz")
        server.on_list("nodes", Answer(403, "nodes is forbidden"))
        forbidden = await asked(server, tmp_path, "-n", "shop", "pending")

    assert (missing.code, forbidden.code) == (2, 2)
    assert missing.err == "leeway: pods \"zzz\" not found: there is no namespace 'shop'\n"
    assert forbidden.err == "leeway: nodes is forbidden\n"
    assert len(missing.err.splitlines()) == len(forbidden.err.splitlines()) == 1


def test_the_quick_start_of_the_readme_is_real() -> None:
    (command, output), *_ = [pair for pair in pages.shown("README.md") if "explain" in pair[0]]

    assert pages.printed(command.removeprefix(".venv/bin/")) == output
