"""The command `leeway`; `python -m extender` is the same.

Imports next to nothing before it can end in an orderly way on Ctrl-C.
"""

import _thread
import atexit
import os
import signal
import sys
from typing import Final

_STANDARD_ERROR: Final = 2
_INTERRUPTED: Final = 130  # as shells report the end by SIGINT
_CLEAR: Final = b"\r\x1b[K"
_ending: Final = _thread.allocate_lock()
_enders: Final[list[int]] = []  # threads that have begun to end the program


def main() -> int:
    """Run one command. Commands that serve replace the handler of SIGINT by their own."""
    signal.signal(signal.SIGINT, lambda _number, _frame: _interrupt())
    # A handler runs in the main thread alone, and too late if that has just begun to wait.
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    _thread.start_new_thread(_watch, (reader,))
    from extender.cli import main as run

    return run()


def _watch(reader: int) -> None:
    """Wait for SIGINT; Python writes the number of each signal that it handles."""
    while signal.SIGINT not in os.read(reader, 1):
        pass
    _interrupt()


def _interrupt() -> None:
    """End at once with one line, whatever the program is doing.

    An exception would have to wait for threads, such as one that looks up a host name. What has to
    be cleaned up, such as keys in temporary files, is registered with `atexit`.
    """
    if _thread.get_ident() in _enders:
        return  # a second Ctrl-C
    _enders.append(_thread.get_ident())
    _ending.acquire()  # the other thread waits here for the end
    bar = _CLEAR if os.isatty(_STANDARD_ERROR) else b""  # a progress bar, and what the key printed
    os.write(_STANDARD_ERROR, bar + b"leeway: interrupted\n")
    atexit._run_exitfuncs()
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
