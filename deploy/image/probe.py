"""Ask the Leeway of this container a question, from inside of it.

Fed to the image's own interpreter beside the server, so it shares the server's user, file system
and network, and no port has to be published. What does not hold ends it with a sentence.
"""

import errno
import http.client
import json
import time
from pathlib import Path
from typing import Any

USER = "65532"
# Not 127.0.0.1: only a listener on all addresses answers here.
HOST = "127.0.0.2"
SCHEDULER_PORT, OPS_PORT = 8888, 8080
START_SECONDS = 30

TAINTED = {
    "metadata": {"name": "spot-1"},
    "spec": {"taints": [{"key": "sla", "value": "800", "effect": "NoSchedule"}]},
}
UNTAINTED = {"metadata": {"name": "steady-1"}, "spec": {}}
POD = {
    "metadata": {"name": "plain", "namespace": "default", "uid": "1"},
    "spec": {"containers": [{"name": "main", "image": "main"}]},
}


def check(holds: bool, otherwise: object) -> None:
    """Stop unless it holds."""
    if not holds:
        raise SystemExit(f"probe: {otherwise}")


def call(port: int, method: str, path: str, body: object = None) -> bytes:
    """Send one request and return the body of its answer, which must be a success."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
    response = connection.getresponse()
    text = response.read()
    connection.close()
    check(response.status == 200, f"{path} answers {response.status}: {text!r}")
    return text


def check_live() -> None:
    """The ops listener answers, sooner or later."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            call(OPS_PORT, "GET", "/livez")
        except OSError as exc:
            check(time.monotonic() < deadline, f"/livez on port {OPS_PORT}: {exc}")
            time.sleep(0.1)
        else:
            return


def check_privileges() -> None:
    """The server has the user, and no way to become another."""
    lines = Path("/proc/1/status").read_text().splitlines()
    status = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
    for name in ("Uid", "Gid"):
        check(status[name] == [USER] * 4, f"{name} is {status[name]}")
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        check(int(status[name][0], 16) == 0, f"{name} is {status[name]}")
    check(status["NoNewPrivs"] == ["1"], "new privileges are possible")


def check_root_is_read_only() -> None:
    """Anybody may write to /tmp, so nothing but a read-only root can be what prevents it."""
    try:
        Path("/tmp/written").touch()  # noqa: S108 - it is not to succeed
    except OSError as exc:
        check(exc.errno == errno.EROFS, exc)
    else:
        check(False, "the root file system can be written")


def check_filter() -> None:
    """For a pod without tolerations the tainted node is refused and the other one comes back.

    Who is refused is named when no node passes.
    """
    both = filtered(TAINTED, UNTAINTED)
    check(both["Nodes"]["items"] == [UNTAINTED], both)
    tainted = filtered(TAINTED)
    check(list(tainted["FailedAndUnresolvableNodes"]) == ["spot-1"], tainted)


def filtered(*nodes: object) -> dict[str, Any]:
    """The answer about these nodes."""
    question = {"Pod": POD, "Nodes": {"items": nodes}, "NodeNames": None}
    answer: dict[str, Any] = json.loads(call(SCHEDULER_PORT, "POST", "/filter", question))
    check(not answer["Error"], answer)
    return answer


check_live()
check_privileges()
check_root_is_read_only()
check_filter()
