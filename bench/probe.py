"""Watches a server from outside for pauses. Run by `bench.bench_watch`.

It asks for /livez every millisecond and notes how long the answer took, and what the server
computed meanwhile, from the line `begin` on its input to the line `look`: then it says the longest.
In between it does not ask, so that it is not what the server is busy with.
"""

import json
import select
import socket
import sys
from time import perf_counter
from typing import Final

from bench.client import cpu_seconds
from bench.rounds import MS

TICK_SECONDS: Final = 0.001
PAUSE_GOAL_MS: Final = 20.0
REQUEST: Final = b"GET /livez HTTP/1.1\r\nHost: bench\r\n\r\n"
MAX_ANSWER: Final = 65_536


def watch(asked: socket.socket, pid: int) -> dict[str, float]:
    """Ask until a line comes in; the longest answer."""
    longest = computing = 0.0
    over = 0
    while not select.select([sys.stdin], [], [], TICK_SECONDS)[0]:
        since, cpu = perf_counter(), cpu_seconds(pid)
        asked.sendall(REQUEST)
        if not asked.recv(MAX_ANSWER):
            raise SystemExit("the ops listener hung up")
        waited, computed = perf_counter() - since, cpu_seconds(pid) - cpu
        longest = max(longest, waited * MS)
        computing = max(computing, min(waited, computed) * MS)
        over += waited * MS > PAUSE_GOAL_MS
    return {"longest": longest, "computing": computing, "over_goal": over}


def main() -> None:
    """Take turns of a line that begins and a line that ends, until the input ends."""
    (host, port), pid = sys.argv[1].rsplit(":", 1), int(sys.argv[2])
    asked = socket.create_connection((host, int(port)), timeout=120)
    while sys.stdin.readline():
        print("{}", flush=True)
        seen = watch(asked, pid)
        if not sys.stdin.readline():
            return
        print(json.dumps(seen), flush=True)


if __name__ == "__main__":
    main()
