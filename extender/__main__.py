"""The command `leeway`; `python -m extender` is the same.

Imports next to nothing before it can end in an orderly way on Ctrl-C.
"""

import atexit
import os
import signal
import sys
from types import FrameType
from typing import Final

_STANDARD_ERROR: Final = 2
_INTERRUPTED: Final = 130  # as shells report the end by SIGINT
_CLEAR: Final = b"\r\x1b[K"


def main() -> int:
    """Run one command. Commands that serve replace the handler of SIGINT by their own."""
    signal.signal(signal.SIGINT, _interrupt)
    from extender.cli import main as run

    return run()


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    """End at once with one line, whatever the program is doing.

    An exception would have to wait for threads, such as one that looks up a host name. What has to
    be cleaned up, such as keys in temporary files, is registered with `atexit`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    bar = _CLEAR if os.isatty(_STANDARD_ERROR) else b""  # a progress bar, and what the key printed
    os.write(_STANDARD_ERROR, bar + b"leeway: interrupted\n")
    atexit._run_exitfuncs()
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
