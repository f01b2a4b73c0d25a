"""`leeway` on a terminal, as a person sees it."""

import fcntl
import os
import pty
import struct
import subprocess
import termios

from tests.cli import process


def run(*arguments: str, columns: int = 100, **environment: str) -> tuple[int, str]:
    """Exit code of a command, and all that it wrote to its terminal."""
    primary, replica = pty.openpty()
    fcntl.ioctl(replica, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with subprocess.Popen(  # noqa: S603 - our own command
        [*process.MODULE, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=replica,
        stderr=replica,
        env=process.environment() | {"TERM": "xterm"} | environment,
        start_new_session=True,
    ) as started:
        os.close(replica)
        written = b""
        while True:
            try:
                piece = os.read(primary, 65_536)
            except OSError:  # Linux says so when the other side is closed
                break
            if not piece:
                break
            written += piece
    os.close(primary)
    return started.returncode, written.decode().replace("\r\n", "\n")
