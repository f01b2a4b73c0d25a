"""Has the API server of a bench send events."""

import json
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Final

# An event has reached Leeway by then; kube-scheduler asks 1 to 3 ms after one.
HEARD_SECONDS: Final = 0.002


@dataclass(slots=True)
class Events:
    """The events of one API server."""

    address: str
    _connection: HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self._connection = HTTPConnection(self.address, timeout=600)

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def one(self) -> None:
        """A taint of a node changes, and Leeway has surely heard of it."""
        self._connection.request("POST", "/change")
        self._connection.getresponse().read()
        time.sleep(HEARD_SECONDS)

    def begin(self, rate: float, seconds: float) -> None:
        """Send so many a second for so long, meanwhile; 0: as many as are taken."""
        self._connection.request("POST", f"/events?rate={rate}&seconds={seconds}")

    def end(self) -> int:
        """How many were sent."""
        answer = json.loads(self._connection.getresponse().read())
        return int(answer["sent"])

    def expire(self) -> None:
        """Have every watch list anew."""
        self._connection.request("POST", "/expire")
        self._connection.getresponse().read()
