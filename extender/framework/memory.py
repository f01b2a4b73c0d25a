"""What plugins said before: pods of one workload ask the same question, over and over.

A parsed question depends only on the rules of the pod, and its answer for a node only on the
key of the node's facet. Both are values, so nothing that is kept here can become wrong; it can
only become useless, and then it is dropped, the longest unused first.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from extender.framework.interface import NodeFilter, NodeScorer, Score, Status
from extender.framework.node_info import NodeInfo

MAX_QUESTIONS: Final = 1_024
MAX_ANSWERS: Final = 200_000

Q = TypeVar("Q", NodeFilter, NodeScorer)
A = TypeVar("A", Status, Score)


@dataclass(slots=True)
class Thread(Generic[Q, A]):
    """A question, or the status that settled the matter, and its answers by a node's key."""

    outcome: Q | Status
    answers: dict[Hashable, A] = field(default_factory=dict)
    distinct: dict[Hashable, A] = field(default_factory=dict)  # of the answers, by what they say
    kept: bool = False  # whether it can be recalled; if not, its answers take no room
    counted: int = 0  # of the answers, those that the memory knows of

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
            known.update(zip(keys, ask(nodes), strict=True))
        return [known[key] for _, key, _ in present]


class Memory(Generic[Q, A]):
    """Threads by the rules that they come from, within bounds."""

    def __init__(
        self, *, max_questions: int = MAX_QUESTIONS, max_answers: int = MAX_ANSWERS
    ) -> None:
        self._max_questions = max_questions
        self._max_answers = max_answers
        self._threads: OrderedDict[Hashable, Thread[Q, A]] = OrderedDict()
        self._answers = 0

    def recall(self, rules: Hashable) -> Thread[Q, A] | None:
        """What is known of these rules."""
        thread = self._threads.get(rules)
        if thread is not None:
            self._threads.move_to_end(rules)
        return thread

    def keep(self, rules: Hashable, thread: Thread[Q, A]) -> None:
        """Remember a thread that these rules began."""
        known = self._threads.pop(rules, None)
        if known is not None:
            self._forget(known)
        thread.kept = True
        self._threads[rules] = thread
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
        while len(self._threads) > self._max_questions or (
            self._answers > self._max_answers and self._threads
        ):
            _, dropped = self._threads.popitem(last=False)
            self._forget(dropped)

    def _forget(self, thread: Thread[Q, A]) -> None:
        self._answers -= thread.counted
        thread.kept = False
        # Whoever still holds the thread must not hold these.
        thread.answers, thread.distinct = {}, {}


@dataclass(frozen=True, slots=True)
class Memories:
    """What a server remembers: who passes, and who is preferred."""

    filtering: Memory[NodeFilter, Status] = field(default_factory=Memory)
    scoring: Memory[NodeScorer, Score] = field(default_factory=Memory)
