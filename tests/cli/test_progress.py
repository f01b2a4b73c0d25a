"""The progress bar, with a clock that the test holds."""

import io

from extender.cli.progress import Progress
from tests.cluster.apiserver import Clock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def shown(self) -> str:
        """What stands on the line now."""
        return self.getvalue().rpartition("\r\x1b[K")[2]


def test_a_pipe_stays_empty() -> None:
    pipe = io.StringIO()
    progress = Progress(pipe)
    progress.begin("pods", 5)
    progress.advance()
    progress.end()

    assert pipe.getvalue() == ""


def test_a_total_that_is_known_or_becomes_known() -> None:
    screen, clock = Terminal(), Clock()
    progress = Progress(screen, clock)
    progress.begin("pods")
    assert screen.shown() == f"{'pods':<24} [{'.' * 30}] 0"
    clock.now += 1
    progress.advance(50, remaining=100)
    assert screen.shown() == f"{'pods':<24} [{'#' * 10}{'.' * 20}] 50/150"
    clock.now += 1
    progress.advance(200)
    assert screen.shown() == f"{'pods':<24} [{'#' * 30}] 250/250"


def test_it_is_not_drawn_more_often_than_anybody_can_see() -> None:
    screen, clock = Terminal(), Clock()
    progress = Progress(screen, clock)
    progress.begin("pods", 10)
    before = screen.getvalue()
    progress.advance()

    assert screen.getvalue() == before


def test_it_leaves_no_trace() -> None:
    screen = Terminal()
    progress = Progress(screen)
    progress.begin("pods", 10)
    progress.end()

    assert screen.shown() == ""
