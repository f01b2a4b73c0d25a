"""`leeway doctor`, through its real command line."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from extender import review
from tests.cli import pages, process, terminal
from tests.cluster.apiserver import ScriptedServer, scripted
from tests.cluster.test_api import kubeconfig
from tests.deploy import rendering
from tests.test_docs import table

EXAMPLE = "deploy/examples/scheduler-config.yaml"


def doctor(*arguments: str, given: str = "") -> process.Ended:
    return process.run_here("doctor", *arguments, given=given, cwd=pages.ROOT)


def broken(old: str, new: str) -> str:
    text = (pages.ROOT / EXAMPLE).read_text(encoding="utf-8")
    assert old in text
    return text.replace(old, new)


# --- Files -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("command", "output"), pages.shown("docs/doctor.md"))
def test_the_output_of_the_page_is_real(command: str, output: str) -> None:
    assert pages.printed(command) == output


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        pytest.param("ignorable: false", "ignorable: false", 0, id="no problems found"),
        pytest.param("ignorable: false", "ignorable: true", 1, id="an error"),
        pytest.param("weight: 3", "weight: 1", 3, id="a warning"),
        pytest.param("weight: 3", "weight: [", 2, id="no YAML"),
    ],
)
def test_the_exit_code_tells_how_bad_it_is(old: str, new: str, code: int) -> None:
    given = broken(old, new)
    ended = process.run("doctor", "-", given=given, cwd=pages.ROOT)

    assert ended == doctor("-", given=given)
    assert ended.code == code
    assert ended.err.startswith("leeway: -: line ") if code == 2 else ended.err == ""


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_the_same_as_data(form: str) -> None:
    ended = doctor("-o", form, "-", given=broken("weight: 3", "weight: 1"))
    page = yaml.safe_load(ended.out)

    assert ended.code == 3
    assert page["summary"] == {"error": 0, "warning": 1, "info": 0}
    assert page["problems"] == [
        {
            "severity": "warning",
            "check": "weight",
            "where": "standard input: extenders[0].weight",
            "why": "with 1 instead of 3, soft taints and preferred terms weigh more or less than"
            " they do in-tree",
            "fix": "set it to 3, the weight of in-tree TaintToleration",
        }
    ]


def test_rendered_manifests_are_taken_whole() -> None:
    objects = rendering.charted(rendering.SECOND_SCHEDULER)
    ended = doctor("-", given=yaml.safe_dump_all(objects))

    assert ended.code == 0, ended.out
    assert "no manifest of kube-scheduler" not in ended.out
    assert "no ExtenderConfiguration" not in ended.out


def test_on_a_terminal_it_is_coloured_and_fits(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(broken("ignorable: false", "ignorable: true"))
    code, text = terminal.run("doctor", str(file), columns=90)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)

    assert code == 1
    assert "\x1b[31merror\x1b[0m" in text
    assert max(map(len, plain.splitlines())) <= 90
    assert plain.splitlines()[-1] == "1 error, 0 warnings, 0 info"


def test_no_color(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(broken("ignorable: false", "ignorable: true"))

    assert "\x1b" not in terminal.run("doctor", str(file), NO_COLOR="1")[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param([], "which cluster? $KUBECONFIG is not set", id="nothing"),
        pytest.param(["missing.yaml"], "missing.yaml: cannot be read", id="no such file"),
        pytest.param(["configmap/x"], "which cluster?", id="a ConfigMap of no cluster"),
        pytest.param([EXAMPLE, "--as", "jane"], "which cluster?", id="rights in no cluster"),
        pytest.param(
            ["--kubeconfig", "missing"], "missing does not exist", id="no such kubeconfig"
        ),
        pytest.param(
            ["--extender", "https://h"], "give http://HOST:PORT", id="not an ops listener"
        ),
        pytest.param(["--listener", "h"], "--listener: ", id="not an address"),
        pytest.param(
            ["--listener", "127.0.0.1:1"], "--listener 127.0.0.1:1: ", id="nobody listens"
        ),
        pytest.param(
            ["--extender", "http://127.0.0.1:1"], "ConnectionRefusedError", id="nobody serves"
        ),
    ],
)
def test_what_cannot_be_looked_at_is_a_sentence(arguments: list[str], sentence: str) -> None:
    ended = doctor(*arguments)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("leeway: ")
    assert sentence in ended.err


def test_every_check_has_its_row_with_its_severities() -> None:
    folder = Path(review.__file__).parent / "doctor"
    source = "".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.py")))
    found: dict[str, set[str]] = {}
    for severity, check in re.findall(r'Problem\(\s*"(\w+)"[^,]*,\s*f?"([\w{}-]+)"', source):
        for name in ("filter", "prioritize", "preempt") if check == "{verb}-verb" else ("",):
            found.setdefault(check.replace("{verb}", name), set()).add(severity)
    rows = table(pages.ROOT / "docs/doctor.md", "The checks")

    assert list(rows) == sorted(found)
    for check, severities in found.items():
        assert severities <= set(rows[check][0].split(", ")), check


# --- A cluster ---------------------------------------------------------------------------------


@pytest.fixture
async def cluster() -> AsyncIterator[ScriptedServer]:
    async with scripted() as server:
        objects = rendering.kustomized(rendering.OVERLAYS / rendering.SECOND_SCHEDULER)
        for each in objects:
            if each["kind"] == "ConfigMap":
                server.config_maps[f"leeway/{each['metadata']['name']}"] = each["data"]
        yield server


async def asked(server: ScriptedServer, folder: Path, *arguments: str) -> process.Ended:
    file = kubeconfig(folder, server)
    return await asyncio.to_thread(doctor, "--kubeconfig", file, *arguments)


MAPS = ("-n", "leeway", "configmap/leeway-scheduler-config", "configmap/leeway-config")


async def test_the_config_maps_of_a_cluster(cluster: ScriptedServer, tmp_path: Path) -> None:
    ended = await asked(cluster, tmp_path, *MAPS)

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[-1] == "no problems found"
    assert len(cluster.reviews) == 16


async def test_one_key_of_a_config_map(cluster: ScriptedServer, tmp_path: Path) -> None:
    source = "configmap/leeway-scheduler-config:scheduler-config.yaml"
    cluster.config_maps["leeway/leeway-scheduler-config"]["other"] = "kind: [\n"

    assert (await asked(cluster, tmp_path, "-n", "leeway", source)).code == 0
    assert (await asked(cluster, tmp_path, *MAPS[:3])).code == 1
    ended = await asked(cluster, tmp_path, "-n", "leeway", source + "x")
    assert ended.code == 2
    assert ended.err.endswith("scheduler-config: it has no key 'scheduler-config.yamlx'\n")


async def test_rights_that_are_missing(cluster: ScriptedServer, tmp_path: Path) -> None:
    user = "system:serviceaccount:leeway:leeway"
    cluster.forbidden = {("list pods", user), ("watch pods", user), ("list nodes", "")}
    ended = await asked(cluster, tmp_path, "--as", user, "-o", "json")
    page = json.loads(ended.out)

    assert ended.code == 1
    assert [(p["check"], p["where"]) for p in page["problems"]] == [("rights", "pods")]
    assert page["problems"][0]["why"].startswith(f"{user} may not list, watch it")


async def test_rights_of_the_scheduler(cluster: ScriptedServer, tmp_path: Path) -> None:
    cluster.forbidden = {("update leases", "jane"), ("list nodes", "joe")}
    ended = await asked(cluster, tmp_path, *MAPS, "--scheduler-as", "jane", "-o", "json")
    page = json.loads(ended.out)

    assert ended.code == 1
    assert [(p["check"], p["where"]) for p in page["problems"]] == [
        ("scheduler-rights", "update leases.coordination.k8s.io extended-scheduler in leeway")
    ]


async def test_an_old_server(cluster: ScriptedServer, tmp_path: Path) -> None:
    cluster.minor = "31"
    manifest = tmp_path / "pod.yaml"
    text = rendering.STATIC_POD.read_text(encoding="utf-8")
    manifest.write_text(text.replace(":v1.36.3", ""))
    ended = await asked(cluster, tmp_path, str(manifest), "-o", "json")

    assert [p["check"] for p in json.loads(ended.out)["problems"]] == ["queueing-hints"]


async def test_who_may_not_wake_pods_is_warned(cluster: ScriptedServer, tmp_path: Path) -> None:
    cluster.forbidden = {("patch pods", "")}
    ended = await asked(cluster, tmp_path, *MAPS, "-o", "json")

    assert ended.code == 3
    assert [(p["check"], p["where"]) for p in json.loads(ended.out)["problems"]] == [
        ("nudge-rights", "patch pods/status")
    ]


async def test_a_version_that_nobody_may_ask_for_is_no_fault(
    cluster: ScriptedServer, tmp_path: Path
) -> None:
    cluster.minor = "forbidden"

    assert (await asked(cluster, tmp_path, *MAPS)).code == 0


async def test_a_server_that_does_not_answer_is_a_sentence(
    cluster: ScriptedServer, tmp_path: Path
) -> None:
    await cluster.stop()
    ended = await asked(cluster, tmp_path, *MAPS)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"leeway: cannot connect to {cluster.url}: Connection refused; check that the API server"
        " runs, and that your context is the right one\n"
    )


# --- A running Leeway --------------------------------------------------------------------------


def visited(server: process.Serving, *arguments: str) -> tuple[int, Any]:
    url = "http://{}:{}".format(*server.ops)
    ended = doctor("--extender", url, "-o", "json", *arguments)
    assert ended.err == ""
    return ended.code, json.loads(ended.out)


def test_a_leeway_that_nobody_calls(tmp_path: Path) -> None:
    with process.serving(tmp_path, "--cluster", "deploy/examples/cluster.yaml") as server:
        code, page = visited(server)

    assert code == 3
    assert [(p["severity"], p["check"]) for p in page["problems"]] == [("warning", "never-called")]


def test_a_leeway_that_is_called_in_another_mode(tmp_path: Path) -> None:
    with process.serving(tmp_path, "--cluster", "deploy/examples/cluster.yaml") as server:
        body = json.loads((pages.ROOT / "deploy/examples/filter-batch.json").read_text())
        server.ask("filter", body)
        code, page = visited(server)
        assert code == 0
        (caller,) = page["callers"]
        assert (caller["verb"], caller["mode"], caller["calls"]) == ("filter", "names", 1)

        config = tmp_path / "config.yaml"
        config.write_text(broken("nodeCacheCapable: true", "nodeCacheCapable: false"))
        code, page = visited(server, str(config))
        assert code == 3
        assert "mode" in [p["check"] for p in page["problems"]]

        ended = doctor("--extender", "http://{}:{}".format(*server.ops))
        assert re.search(r"^127\.0\.0\.1 .* filter  names  1 ", ended.out, re.MULTILINE)
