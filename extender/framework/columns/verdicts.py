"""What one question says of the codes of its column, as far as it was asked."""

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final, cast

import msgspec

from extender import rows
from extender.framework.columns.columns import EMPTY, Column, samples
from extender.framework.interface import Code, Narrowing, NodeFilter, Status
from extender.match.findings import Finding

# What a refusal takes with its texts, and what a code takes in the table.
STATUS_BYTES: Final = 768
CODE_BYTES: Final = 4
PASSES: Final = 0

_FINDINGS: Final = attrgetter("findings")
_ENCODE: Final = msgspec.json.Encoder().encode


class RuleVerdicts:
    """One question of one plugin, and its verdict on each code.

    `table` has a number for each code: 0 passes, and n is the refusal statuses[n - 1].
    """

    __slots__ = (
        "_numbers",
        "_serial",
        "_texts",
        "codes",
        "has_findings",
        "has_unsettled",
        "narrowing",
        "noticed",
        "plugin",
        "question",
        "statuses",
        "table",
    )

    def __init__(self, plugin: str, question: NodeFilter) -> None:
        self.plugin = plugin
        self.question = question
        # isinstance() of a protocol takes 12 us, and most questions are new to us.
        self.narrowing = cast("Narrowing", question) if hasattr(question, "keeps") else None
        self._serial = 0
        self._forget()

    def _forget(self) -> None:
        self.table = array("I", [PASSES])
        self.statuses: list[Status] = []
        # The texts of the refusals as JSON, made when they are told first: a pod that fits nowhere
        # is told them over and over, all others never.
        self._texts: tuple[list[bytes], list[bytes]] = [], []
        # What was noticed about a code that passes; a refusal has its own findings.
        self.noticed: dict[int, frozenset[Finding]] = {}
        self.has_findings = self.has_unsettled = False
        self.codes: set[Code] = set()
        self._numbers: dict[Hashable, int] = {}

    @property
    def nbytes(self) -> int:
        """About what the verdicts take in memory, without the question."""
        return STATUS_BYTES * len(self.statuses) + CODE_BYTES * len(self.table)

    def refresh(self, column: Column) -> bool:
        """Make room for every code of the column; whether there are new ones to ask about."""
        if self._serial != column.serial:
            self._serial = column.serial
            self._forget()
        new = len(column) - len(self.table)
        if new:
            self.table.extend([rows.UNASKED] * new)
        return new > 0

    def unasked(self) -> list[int]:
        """The codes that the question was not asked about yet."""
        return [code for code, number in enumerate(self.table) if number == rows.UNASKED]

    def ask_at_once(self, column: Column) -> None:
        """Ask about all codes that are left, if the question can do that and the budget allows."""
        by_key = getattr(self.question, "by_key", None)
        if by_key is not None:
            self._enter_by_key(column, *by_key())
            return
        filter_all = getattr(self.question, "filter_all", None)
        if filter_all is None:
            return
        codes = self.unasked()
        said = filter_all(samples(column, codes, self.question.facet))
        if said is None:
            return
        numbers = self._numbers_of(said)
        if codes[0] + len(codes) == len(self.table):  # mostly they are the last ones
            self.table[codes[0] :] = array("I", numbers)
        else:
            for code, number in zip(codes, numbers, strict=True):
                self.table[code] = number
        if any(map(_FINDINGS, said)):
            self._notice(codes, said)

    def _enter_by_key(
        self, column: Column, usual: Status, others: Mapping[Hashable, Status]
    ) -> None:
        self.table = array("I", [self._number(usual)]) * len(column)
        self.table[EMPTY] = PASSES
        for key, status in others.items():
            code = column.code_of(key)
            if code is not None:
                self.table[code] = self._number(status)

    def ask(self, column: Column, codes: Sequence[int]) -> None:
        """Ask about these codes. Where the question breaks, what it said before is kept."""
        nodes = samples(column, codes, self.question.facet)
        filter_all = getattr(self.question, "filter_all", None)
        said: Sequence[Status] | None = None if filter_all is None else filter_all(nodes)
        for code, status in zip(
            codes, map(self.question.filter, nodes) if said is None else said, strict=True
        ):
            self.table[code] = self._number(status)
            self._notice((code,), (status,))

    def refuse(self, column: Column, codes: Iterable[int], status: Status) -> None:
        """Refuse these codes and no others."""
        self._serial = column.serial
        self._forget()
        self.table = array("I", [PASSES] * len(column))
        number = self._number(status)
        for code in codes:
            self.table[code] = number

    def refuse_all(self, column: Column, status: Status) -> None:
        """Say the same of every code."""
        self.refuse(column, range(EMPTY + 1, len(column)), status)

    def texts(self, *, brief: bool) -> list[bytes]:
        """The text of each refusal as JSON; the brief one where it has one."""
        texts = self._texts[brief]
        for status in self.statuses[len(texts) :]:
            reasons = status.brief if brief and status.brief else status.reasons
            texts.append(_ENCODE(", ".join(reasons)))
        return texts

    def counted(self, counts: Sequence[int]) -> Iterable[tuple[Code, int]]:
        """How many candidates got which code, given how many got each refusal."""
        if len(self.codes) == 1:  # the counts may be thousands
            return ((code, sum(counts)) for code in self.codes)
        codes: Counter[Code] = Counter()
        for status, count in zip(self.statuses, counts, strict=True):
            codes[status.code] += count
        return codes.items()

    def _numbers_of(self, said: Sequence[Status]) -> list[int]:
        """The numbers of many verdicts. Most share a few: by identity each is looked at once."""
        ids = list(map(id, said))
        distinct = dict(zip(ids, said, strict=True))
        number_of = {key: self._number(status) for key, status in distinct.items()}
        return list(map(number_of.__getitem__, ids))

    def _notice(self, codes: Iterable[int], said: Iterable[Status]) -> None:
        """Keep what was noticed about codes that pass."""
        for code, status in zip(codes, said, strict=True):
            if status.findings and status.code is Code.SUCCESS:
                self.noticed[code] = status.findings

    def _number(self, status: Status) -> int:
        """The number of a verdict; refusals that nobody could tell apart share one."""
        if status.code is Code.SUCCESS:
            return PASSES
        wording = status.code, status.reasons, status.brief, status.findings, status.unsettled
        number = self._numbers.get(wording)
        if number is None:
            self.statuses.append(status if status.plugin else status.signed(self.plugin))
            self.codes.add(status.code)
            self.has_findings = self.has_findings or bool(status.findings)
            self.has_unsettled = self.has_unsettled or status.unsettled
            number = self._numbers[wording] = len(self.statuses)
        return number
