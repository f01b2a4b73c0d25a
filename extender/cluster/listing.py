"""Lists all objects of one resource, page by page."""

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
    """Every page, raw and decoded; starts over if the server has dropped the list's version.

    Callers must accept an object twice: after a restart all pages come again.
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
