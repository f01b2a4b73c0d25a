"""A list of everything of one kind, once, page by page."""

from collections.abc import AsyncGenerator
from typing import Any, Final

from extender.cluster.api import Connection
from extender.cluster.resources import Page, Resource
from extender.errors import ApiGoneError

PAGE: Final = 500
_ATTEMPTS: Final = 3


async def pages(
    connection: Connection, resource: Resource[Any]
) -> AsyncGenerator[tuple[bytes, Page[Any]], None]:
    """Every page, as bytes and decoded; all from the beginning where the list became too old.

    Who collects must take an object again: after a new beginning each comes a second time.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        params = {**resource.params, "limit": str(PAGE)}
        try:
            while True:
                body = await connection.get(resource.path, params)
                page = resource.decode_page(body)
                yield body, page
                if not page.metadata.continue_:
                    return
                params["continue"] = page.metadata.continue_
        except ApiGoneError:
            if attempt == _ATTEMPTS:
                raise
