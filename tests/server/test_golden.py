"""The golden bodies over real HTTP, asked of the golden cluster as `--cluster` reads it."""

from pathlib import Path

import pytest

from extender.cluster.source import FileSource
from tests.serving import connected, served, whole

GOLDEN = Path(__file__).parent.parent / "golden"
NAMES = sorted(path.name.removesuffix(".request.json") for path in GOLDEN.glob("*.request.json"))


def body(name: str, part: str) -> bytes:
    return (GOLDEN / f"{name}.{part}.json").read_bytes().removesuffix(b"\n")


@pytest.mark.parametrize("name", NAMES)
async def test_a_golden_request_has_its_golden_answer(name: str) -> None:
    source = FileSource([str(GOLDEN / "cluster.json")])
    async with served(source=source) as client, connected(client.scheduler) as connection:
        await connection.send(whole(name.split("-")[0], body(name, "request")))
        reply = await connection.reply()

    assert reply.status == 200
    assert reply.body == body(name, "answer")


def test_there_are_golden_requests_for_every_verb() -> None:
    assert {name.split("-")[0] for name in NAMES} == {"filter", "prioritize", "preempt"}
