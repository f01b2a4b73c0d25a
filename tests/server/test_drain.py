"""A listener closes behind the last answer that is owed."""

import asyncio

import pytest

from extender.server.drain import Owed


async def test_nothing_is_owed_at_first() -> None:
    assert await Owed().wait_idle(0) == 0


async def test_it_waits_for_every_answer() -> None:
    owed = Owed()
    owed.begin()
    owed.begin()
    waiting = asyncio.create_task(owed.wait_idle(30))
    owed.finish()
    await asyncio.sleep(0)
    assert not waiting.done()
    owed.finish()

    assert await waiting == 0


async def test_it_gives_up_in_the_end_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    owed = Owed()
    owed.begin()

    assert await owed.wait_idle(0.01) == 1
    assert caplog.messages == ["gave up on 1 request(s) after 0.01 s of draining"]


async def test_after_the_last_answer_there_may_be_more() -> None:
    owed = Owed()
    owed.begin()
    owed.finish()
    owed.begin()

    assert await owed.wait_idle(0.01) == 1
