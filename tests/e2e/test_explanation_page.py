"""The file that `leeway explain -o html` writes, in a real browser."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.builders import PREFIX
from tests.cli import process
from tests.e2e import axe, devtools
from tests.e2e.chromium import Chromium
from tests.e2e.controlplane import ROOT
from tests.e2e.devtools import Browser

EXAMPLES = ROOT / "deploy" / "examples"
# Counts elements by name: text that became an element would change it.
CENSUS = """Array.from(document.querySelectorAll('*')).reduce(
    (seen, each) => ({...seen, [each.localName]: (seen[each.localName] || 0) + 1}), {})"""
TURNING = r"[\u200e\u200f\u202a-\u202e\u2066-\u2069]"
HOSTILE = (
    "<script>window.ran = true</script>",
    "\"><img src=x onerror='window.ran = true'>",
    "'\"`&lt;&amp;</pre></td></table></main>",
    "\u202eevil\u2066\u200f",
    "</style><svg onload='window.ran = true'>",
)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """One browser for all tests here."""
    browser = Chromium(tmp_path_factory.mktemp("chromium"))
    asyncio.run(browser.start())
    try:
        yield browser
    finally:
        asyncio.run(browser.stop())


@pytest.fixture
async def browser(chromium: Chromium) -> AsyncIterator[Browser]:
    async with devtools.connected(chromium.profile) as connection:
        yield connection


def explained(folder: Path, pod: Path, cluster: Path) -> str:
    """The address of the explanation of a pod, as a file."""
    ended = process.run_here("explain", str(pod), "--cluster", str(cluster), "-o", "html")
    assert ended.err == ""
    page = folder / "page.html"
    page.write_text(ended.out, encoding="utf-8")
    return page.as_uri()


@pytest.fixture
def example(tmp_path: Path) -> str:
    return explained(tmp_path, EXAMPLES / "pending-pod.yaml", EXAMPLES / "cluster.yaml")


async def test_it_says_why_without_a_script_or_a_request(browser: Browser, example: str) -> None:
    async with browser.tab(scripts=False) as tab:
        await tab.go(example)
        text = await tab.text()

    assert "batch/nightly-report" in text
    assert "spot-gold" in text
    assert "949" in text
    assert tab.requests == [example]
    assert tab.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_it_is_accessible(browser: Browser, example: str, scheme: str) -> None:
    async with browser.tab() as tab:
        await tab.prefer(scheme)
        await tab.go(example)

        assert await axe.grave_findings(tab) == []


async def test_it_is_dark_for_who_prefers_that(browser: Browser, example: str) -> None:
    seen = {}
    async with browser.tab() as tab:
        for scheme in ("light", "dark"):
            await tab.prefer(scheme)
            await tab.go(example)
            seen[scheme] = await tab.run("getComputedStyle(document.body).backgroundColor")

    assert seen["light"] != seen["dark"]


async def test_a_narrow_window_does_not_scroll_sideways(browser: Browser, example: str) -> None:
    async with browser.tab() as tab:
        await tab.size(360, 740)
        await tab.go(example)

        assert await tab.run("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize(
    "text", [*HOSTILE, "x<b>" * 50_000], ids=["script", "img", "tags", "bidi", "svg", "long"]
)
async def test_text_of_others_stays_text(browser: Browser, tmp_path: Path, text: str) -> None:
    census = []
    async with browser.tab() as tab:
        for value in (text, "harmless"):
            await tab.go(explained(tmp_path, *_carriers(tmp_path, value)))
            census.append(await tab.run(CENSUS))

            # Marks of direction are shown as escapes: they could turn a text around.
            assert not await tab.run(f"/{TURNING}/.test(document.body.textContent)")

        assert await tab.run("window.ran") is None
    assert census[0] == census[1]
    assert tab.problems == []


def _carriers(folder: Path, text: str) -> tuple[Path, Path]:
    """A pod and a node with this text where texts of others are shown."""
    taint = {"key": "example.com/sla", "value": text, "effect": "NoSchedule"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "node-a", "labels": {"zone": text}},
        "spec": {"taints": [taint]},
    }
    rules = [{"key": "example.com/sla", "operator": "Gt", "value": "5", "effect": "NoSchedule"}]
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "waits", "annotations": {f"{PREFIX}tolerations": json.dumps(rules)}},
        "spec": {"nodeSelector": {"zone": f"not {text}"}, "containers": []},
    }
    files = folder / "pod.json", folder / "node.json"
    for file, document in zip(files, (pod, node), strict=True):
        file.write_text(json.dumps(document), encoding="utf-8")
    return files
