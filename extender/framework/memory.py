"""What plugins said before: pods of one workload ask the same question, over and over.

A parsed question depends only on the rules of the pod, and its answer for a node only on the
key of the node's facet. Both are values, so nothing that is kept here can become wrong; it can
only become useless, and then it is dropped, the longest unused first.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from msgspec import Struct

from extender.framework.interface import NodeFilter, NodeScorer, Score, Status
from extender.framework.node_info import NodeInfo

MAX_QUESTIONS: Final = 1_024
MAX_ANSWERS: Final = 200_000
MAX_WEIGHT: Final = 16 << 20

Q = TypeVar("Q", NodeFilter, NodeScorer)
A = TypeVar("A", Status, Score)


class Weighed(Struct, frozen=True):
    """Rules that take much room, and about how many bytes; all others are only counted."""

    rules: Hashable
    weight: int


def weight_of(rules: Hashable) -> int:
    """What rules count for where weight is bounded."""
    return rules.weight if isinstance(rules, Weighed) else 0


@dataclass(slots=True)
class Thread(Generic[Q, A]):
    """A question, or the status that settled the matter, and its answers by a node's key."""

    outcome: Q | Status
    answers: dict[Hashable, A] = field(default_factory=dict)
    distinct: dict[Hashable, A] = field(default_factory=dict)  # of the answers, by what they say
    kept: bool = False  # whether it can be recalled; if not, its answers take no room
    counted: int = 0  # of the answers, those that the memory knows of
    weight: int = 0
    # For a column at an epoch: the number that stands for all answers, see `outcomes`.
    kind: tuple[int, int] = (0, 0)

    def answered(
        self,
        present: Sequence[tuple[int, Hashable, NodeInfo]],
        ask: Callable[[Sequence[NodeInfo]], Iterable[A]],
    ) -> Sequence[A]:
        """The answer for each key; `ask` gives those that are not known, one a node, in order.

        What it has given until it breaks is known from then on.
        """
        known = self.answers
        unknown = [each for each in present if each[1] not in known] if known else present
        if unknown:
            _, keys, nodes = zip(*unknown, strict=True)
            said = ask(nodes)
            known.update(zip(keys, said, strict=True))
            if unknown is present and isinstance(said, list):
                return said
        return [known[key] for _, key, _ in present]


class Memory(Generic[Q, A]):
    """Threads by the rules that they come from, within bounds."""

    def __init__(
        self,
        *,
        max_questions: int = MAX_QUESTIONS,
        max_answers: int = MAX_ANSWERS,
        max_weight: int = MAX_WEIGHT,
    ) -> None:
        self._max_questions = max_questions
        self._max_answers = max_answers
        self._max_weight = max_weight
        self._threads: OrderedDict[Hashable, Thread[Q, A]] = OrderedDict()
        self._heavy: OrderedDict[Hashable, None] = OrderedDict()  # those that have a weight
        self._answers = 0
        self.weight = 0

    def recall(self, rules: Hashable) -> Thread[Q, A] | None:
        """What is known of these rules."""
        thread = self._threads.get(rules)
        if thread is not None:
            self._threads.move_to_end(rules)
            if thread.weight:
                self._heavy.move_to_end(rules)
        return thread

    def keep(self, rules: Hashable, thread: Thread[Q, A], weight: int = 0) -> None:
        """Remember a thread that these rules began, and what they weigh."""
        if rules in self._threads:
            self._drop(rules)
        thread.kept = True
        thread.weight = weight
        self._threads[rules] = thread
        if weight:
            self._heavy[rules] = None
            self.weight += weight
        self._trim()

    def note_answers(self, thread: Thread[Q, A]) -> None:
        """Account for the answers that a thread has gained."""
        if thread.kept and len(thread.answers) > thread.counted:
            self._answers += len(thread.answers) - thread.counted
            thread.counted = len(thread.answers)
            self._trim()

    @property
    def answers(self) -> int:
        """How many answers are remembered, over all threads."""
        return self._answers

    def __len__(self) -> int:
        return len(self._threads)

    def _trim(self) -> None:
        while self.weight > self._max_weight:
            self._drop(next(iter(self._heavy)))  # light ones would make no room
        while len(self._threads) > self._max_questions or (
            self._answers > self._max_answers and self._threads
        ):
            self._drop(next(iter(self._threads)))

    def _drop(self, rules: Hashable) -> None:
        thread = self._threads.pop(rules)
        if thread.weight:
            del self._heavy[rules]
            self.weight -= thread.weight
        self._answers -= thread.counted
        thread.kept = False
        # Whoever still holds the thread must not hold these.
        thread.answers, thread.distinct = {}, {}


@dataclass(frozen=True, slots=True)
class Memories:
    """What a server remembers: who passes, and who is preferred."""

    filtering: Memory[NodeFilter, Status] = field(default_factory=Memory)
    scoring: Memory[NodeScorer, Score] = field(default_factory=Memory)
