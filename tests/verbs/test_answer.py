"""An answer in pieces."""

from extender.verbs.answer import Answer
from tests.builders import a_pod


def test_the_body_is_its_pieces_one_behind_the_other() -> None:
    assert Answer((b"a", b"", b"bc"), a_pod(), "names", 3, 1).body == b"abc"
