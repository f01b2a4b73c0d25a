"""What the doors that aiohttp serves have in common: faults as answers."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TypeVar

from aiohttp import hdrs, web

from extender.server.drain import Owed
from extender.server.refusal import RETRY_AFTER

R = TypeVar("R", bound=web.StreamResponse)
Handler = Callable[[web.Request], Awaitable[web.Response]]


async def owed(door: Owed, answer: Awaitable[R]) -> R:
    """An answer that is waited for when the listener closes."""
    door.begin()
    try:
        response = await answer
    finally:
        door.finish()
    if door.draining:
        response.force_close()
    return response


def refusal(request: web.BaseRequest, status: HTTPStatus, sentence: str) -> web.Response:
    """An answer that is no answer: a status and one sentence."""
    response = web.Response(status=status, text=sentence + "\n")
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers[hdrs.RETRY_AFTER] = str(RETRY_AFTER)
    if not request.content.is_eof():
        response.force_close()  # what is left of the body is not another request
    return response


def remote(request: web.BaseRequest) -> str:
    """Who asks."""
    return request.remote or ""
