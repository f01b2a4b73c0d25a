"""A request as far as it is known, and what was told about it."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Final, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from extender.framework.judgement import Judgement
from extender.framework.ledger import Evaluation
from extender.framework.node_table import NodeTable
from extender.framework.precedents import FilterPrecedent, ScorePrecedent
from extender.framework.rows import Passing, Rows
from extender.framework.snapshot import NodeInfo
from extender.match.findings import Finding
from extender.wire import fragments, messages
from extender.wire.carried import Carried
from extender.wire.fragments import Pieces
from extender.wire.listings import Listing

# What an answer takes beside its body, roughly.
_USUAL_BYTES: Final = 2_048
# Instead of the number of a listing: about all nodes of a table, in whichever order.
ANY_ORDER: Final = 0

# The order of an answer, the layout of the table, what is said of its rows, and in which words.
AnswerKey = tuple[int, int, bytes, tuple[Hashable, ...]]

P = TypeVar("P", FilterPrecedent, ScorePrecedent)


class Told(Struct, frozen=True, gc=False):
    """An answer, and what was counted for it while the nodes were judged."""

    body: bytes
    evaluations: list[Evaluation]
    passes: bytes = b""  # of each name, whether it passes
    passed: int = 0
    plugins: frozenset[str] = frozenset()  # that refused a node
    findings: frozenset[Finding] = frozenset()
    ahead: Pieces = ()  # what stands before `body`: whole nodes, or most of an answer before
    codes: bytes = b""  # of each name, and the text that is told for each code
    texts: Mapping[int, str] = {}
    retold: bool = False  # made from an answer before
    base: "Told | None" = None  # which is that one, where most of it is still there

    @property
    def weight(self) -> int:
        """How much room it takes."""
        size = len(self.body) if self.base is None else len(self.base.body)
        return size + len(self.passes) + len(self.codes) + _USUAL_BYTES

    def changed(
        self, names: Sequence[str], codes: bytes, texts: Mapping[int, str]
    ) -> Pieces | None:
        """The same but for the texts of some refusals; None if there is another difference."""
        changes = fragments.text_changes(self.codes, self.texts, codes, texts)
        return None if changes is None else fragments.retold(self.body, names, changes)


class Case(Struct, Generic[P], frozen=True, gc=False):
    """One request as far as it is known: what its pod's rules say of the table it asks about."""

    listing: Listing
    table: NodeTable
    rows: Rows
    precedent: P
    carried: Carried | None = None

    @property
    def key(self) -> Hashable:
        """What an answer depends on, if nothing more is known of it."""
        return self.listing.serial, self.table.version, self.precedent.serial

    def order(self, codes: bytes) -> int:
        """Which listings an answer is good for: refusals are an object, so their order is free."""
        told_apart = self.carried is None and self.listing.kept and 0 in codes
        return ANY_ORDER if self.rows.whole and not told_apart else self.listing.serial

    def names(self, key: AnswerKey) -> Sequence[str]:
        """The names in the order of an answer."""
        return self.table.names() if key[0] == ANY_ORDER else self.listing.names

    def framed(self, key: AnswerKey, passes: bytes, refused: bytes) -> bytes:
        """An answer, or what can be kept of it, around the members of those that do not pass."""
        if self.carried is not None:
            return fragments.carried_refusals(refused)
        if key[0] == ANY_ORDER:
            return fragments.refusals(refused)
        return fragments.filter_answer(self.listing, passes, refused)

    def in_order(self, told: Told) -> Told:
        """An answer that is good for any order, with those that pass in that of the request."""
        if told.passed:
            if told.passed < len(told.passes):
                told = replace(told, passes=self.rows.pick(told.passes))
            if self.carried is None:
                body = fragments.with_passing(told.body, self.listing, told.passes)
                return replace(told, body=body)
        return self.with_nodes(told)

    def with_nodes(self, told: Told) -> Told:
        """What is kept for whole nodes are the refusals; the nodes are those of the request."""
        if self.carried is None:
            return told
        return replace(told, ahead=fragments.carried_nodes(self.carried, told.passes))

    def is_told(self, judgement: Judgement, codes: bytes) -> bool:
        """Whether a judgement has all that an answer says: brief reasons if there are many."""
        collapsed = judgement.collapsed
        return collapsed is None or (
            (self.rows.whole or self.listing.distinct)
            and collapsed.has_more_than(messages.MAX_DETAILED_REASONS, codes)
        )

    def passing(self, told: Told) -> Sequence[NodeInfo]:
        """The nodes that pass, found when somebody looks at them."""
        if not told.passed:
            return ()
        return Passing(self.table.frozen(), self.rows, told.passes, count=told.passed)
