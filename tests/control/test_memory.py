from extender.control.memory import MAX_NOTES, Memory
from extender.native.notes import CUT, Note
from tests.control.building import GOLD, live, pod_of


def test_a_note_is_new_once_and_there_are_not_too_many() -> None:
    memory = Memory(live(pod_of(GOLD)))

    said = [memory.unsaid(Note(CUT, str(i % 3))) for i in range(6)]
    assert said == [True, True, True, False, False, False]

    more = sum(memory.unsaid(Note(CUT, f"more {i}")) for i in range(100))
    assert more == MAX_NOTES - 3


def test_what_was_written_is_not_held_back_any_more() -> None:
    memory = Memory(live(pod_of(GOLD)))
    waits = [memory.refused.seconds() for _ in range(3)]
    memory.not_before = 7.0
    memory.settled()

    assert waits[2] > waits[0]
    assert memory.not_before == 0.0
    assert memory.refused.seconds() <= 1.0
