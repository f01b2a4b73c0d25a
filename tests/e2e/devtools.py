"""Chromium's DevTools protocol over its WebSocket: pages as a person, and a log as a developer."""

import asyncio
import base64
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from tests.builders import JSON

PATIENCE = 20.0
_POLL_SECONDS = 0.02
_KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}
# What a page that works never writes.
_BAD_NEWS = {"error", "warning", "assert"}


class DevToolsError(Exception):
    """Chromium refuses a command, or a page does not come to what a test waits for."""


class Browser:
    """A connection to a running Chromium."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[JSON]] = {}
        self._tabs: dict[str, Tab] = {}

    async def call(self, method: str, session: str | None = None, **params: Any) -> JSON:
        """The answer to one command."""
        number = next(self._numbers)
        message: JSON = {"id": number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_str(json.dumps(message))
        async with asyncio.timeout(PATIENCE):
            told: JSON = await answer
            return told

    async def listen(self) -> None:
        """Hand out answers and events, until the connection ends."""
        async for message in self._socket:
            told = json.loads(message.data)
            if "id" not in told:
                if tab := self._tabs.get(told.get("sessionId", "")):
                    tab.hear(told["method"], told["params"])
                continue
            waiting = self._answers.pop(told["id"])
            if waiting.cancelled():
                continue
            if "error" in told:
                waiting.set_exception(DevToolsError(told["error"]["message"]))
            else:
                waiting.set_result(told["result"])

    @contextlib.asynccontextmanager
    async def tab(self, *, scripts: bool = True) -> AsyncIterator["Tab"]:
        """A tab that shares nothing with others: no cache, no cookies, no permissions."""
        context = (await self.call("Target.createBrowserContext"))["browserContextId"]
        try:
            made = await self.call(
                "Target.createTarget", url="about:blank", browserContextId=context
            )
            attached = await self.call(
                "Target.attachToTarget", targetId=made["targetId"], flatten=True
            )
            tab = self._tabs[attached["sessionId"]] = Tab(self, attached["sessionId"], context)
            for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
                await tab.call(f"{domain}.enable")
            await tab.call("Emulation.setScriptExecutionDisabled", value=not scripts)
            await tab.size(1200, 900)
            yield tab
        finally:
            await self.call("Target.disposeBrowserContext", browserContextId=context)


class Tab:
    """One page, what was asked of servers for it, and whatever went wrong in it."""

    def __init__(self, browser: Browser, session: str, context: str) -> None:
        self._browser = browser
        self._session = session
        self._context = context
        self._loads = 0
        self.requests: list[str] = []
        self.problems: list[str] = []

    async def call(self, method: str, **params: Any) -> JSON:
        """The answer to one command about this tab."""
        return await self._browser.call(method, self._session, **params)

    def hear(self, method: str, params: JSON) -> None:
        """Keep what an event says."""
        match method:
            case "Page.loadEventFired":
                self._loads += 1
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Log.entryAdded" if params["entry"]["level"] in _BAD_NEWS:
                self.problems.append(params["entry"]["text"])
            case "Runtime.consoleAPICalled" if params["type"] in _BAD_NEWS:
                self.problems.append(f"console: {params['args']}")
            case "Runtime.exceptionThrown":
                self.problems.append(f"exception: {params['exceptionDetails']}")
            case "Page.javascriptDialogOpening":
                self.problems.append(f"dialog: {params['message']}")
            case "Audits.issueAdded" if "ContentSecurityPolicy" in params["issue"]["code"]:
                self.problems.append(f"policy: {params['issue']['details']}")

    async def go(self, url: str) -> None:
        """Open an address, and wait until its page is complete."""
        async with self.loading():
            answer = await self.call("Page.navigate", url=url)
            if failed := answer.get("errorText"):
                raise DevToolsError(f"{url}: {failed}")

    @contextlib.asynccontextmanager
    async def loading(self) -> AsyncIterator[None]:
        """What is done inside makes the tab load another page."""
        before = self._loads
        yield
        async with asyncio.timeout(PATIENCE):
            while self._loads == before:  # noqa: ASYNC110 - counted by events
                await asyncio.sleep(_POLL_SECONDS)

    async def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        answer = await self.call(
            "Runtime.evaluate",
            expression=script,
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        if failed := answer.get("exceptionDetails"):
            raise DevToolsError(f"{script[:200]}: {failed.get('exception', failed)}")
        return answer["result"].get("value")

    async def until(self, script: str) -> None:
        """Wait until an expression holds."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not await self.run(script):  # noqa: ASYNC110 - the page has no event for it
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError:
            raise DevToolsError(f"never true: {script}") from None

    async def text(self, selector: str = "body") -> str:
        """What a person reads there."""
        return str(await self.run(f"document.querySelector({json.dumps(selector)}).innerText"))

    async def click(self, selector: str) -> None:
        """Press the mouse in the middle of an element, which must be the one on top there."""
        found = json.dumps(selector)
        where = "{block: 'center', behavior: 'instant'}"
        await self.run(f"document.querySelector({found}).scrollIntoView({where})")
        x, y, hit = await self.run(
            f"(() => {{const it = document.querySelector({found}), b = it.getBoundingClientRect();"
            " const x = b.x + b.width / 2, y = b.y + b.height / 2;"
            " const top = document.elementFromPoint(x, y);"
            " return [x, y, it.contains(top)]})()"
        )
        assert hit, f"something covers {selector}"
        for kind in ("mousePressed", "mouseReleased"):
            await self.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
            )

    async def write(self, text: str) -> None:
        """Type into what has the focus."""
        await self.call("Input.insertText", text=text)

    async def press(self, key: str) -> None:
        """Press a key, and let it go."""
        event: JSON = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
        typed = {"text": "\r"} if key == "Enter" else {"text": key} if key == " " else {}
        await self.call("Input.dispatchKeyEvent", type="keyDown", **event, **typed)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    async def size(self, width: int, height: int) -> None:
        """Make the window this large, in CSS pixels."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def prefer(self, scheme: str) -> None:
        """Set the person's preference: dark or light. Motion is never wanted in a test."""
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        await self.call("Emulation.setEmulatedMedia", features=features)

    async def permit(self, origin: str, permissions: Sequence[str]) -> None:
        """Let pages of an origin do this without a question."""
        await self._browser.call(
            "Browser.grantPermissions",
            origin=origin,
            permissions=list(permissions),
            browserContextId=self._context,
        )

    async def picture(self, *, whole: bool = False) -> bytes:
        """What is to be seen now, or the whole page, as PNG."""
        answer = await self.call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=whole
        )
        return base64.b64decode(answer["data"])


@contextlib.asynccontextmanager
async def connected(profile: Path) -> AsyncIterator[Browser]:
    """A connection to the Chromium that has this profile."""
    port, path = (profile / "DevToolsActivePort").read_text(encoding="utf-8").split()
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"ws://127.0.0.1:{port}{path}", max_msg_size=0) as socket,
    ):
        browser = Browser(socket)
        listening = asyncio.create_task(browser.listen())
        try:
            yield browser
        finally:
            listening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await listening
