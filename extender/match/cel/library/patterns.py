"""Parses Go's regular expressions, with its error texts, and translates them to RE2's dialect.

The two dialects differ in little: RE2 refuses two groups of one name, knows fewer names of Unicode
groups, and accepts any byte as `\\C`. Groups do not capture here: no function of CEL returns one.
"""

import functools
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from extender.match.cel.faults import EvaluationError
from extender.match.cel.library import pattern_classes
from extender.match.cel.library.pattern_classes import refused
from extender.match.cel.library.pattern_sizes import (
    FRAME_SIZE,
    MAX_SIZE,
    class_size,
    literal_size,
)

_MAX_REPEAT: Final = 1_000
_MAX_HEIGHT: Final = 1_000

_COUNTS: Final = re.compile(r"\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}")
_CAPTURE_START: Final = re.compile(r"\(\?P?<(?=.)", re.DOTALL)
_CAPTURE_NAME: Final = re.compile(r"[A-Za-z0-9_]+")
_FLAGS: Final = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_BAD_FLAGS: Final = re.compile(r"\(\?[imsU]*(?:-[imsU]*)?.?", re.DOTALL)


class TooLargeError(EvaluationError):
    """A regular expression that upstream would compile; here it would hold up everybody else."""

    def __init__(self, pattern: str) -> None:
        super().__init__(
            f"error parsing regexp: expression too large, it takes more than {MAX_SIZE}"
            f" instructions: `{pattern}`"
        )


class Translated(NamedTuple):
    """An expression in RE2's dialect, and about how many instructions RE2 makes of it."""

    said: str
    size: int


class _Node(NamedTuple):
    """What is kept of a parsed part: enough to check the limits."""

    kind: str  # literal, concat, alternate, or other
    height: int = 1
    size: int = 1  # in instructions
    repeats: int = 1  # the most copies that nested counts make of anything in it


class _Group:
    """An open group: its current branch, the branches before, and what encloses it."""

    def __init__(self, said: int, *, captures: bool, fold: bool) -> None:
        self.said = said
        self.captures = captures
        self.fold = fold
        self.items: list[_Node] = []
        self.last_said = slice(said)  # where the last item begins in the output
        self.branches: list[_Node] = []

    def close_branch(self) -> None:
        self.branches.append(_join("concat", self.items))
        self.items = []


def _join(kind: str, nodes: list[_Node]) -> _Node:
    if len(nodes) <= 1:
        return nodes[0] if nodes else _Node("other")
    size = sum(node.size for node in nodes) + (len(nodes) if kind == "alternate" else 0)
    repeats = max(node.repeats for node in nodes)
    if kind == "concat" and all(node.kind == "literal" for node in nodes):
        return _Node("concat", 1, size, repeats)
    # A concatenation in a concatenation is one, and so is an alternation in an alternation.
    height = 1 + max(node.height - (node.kind == kind and node.height > 1) for node in nodes)
    return _Node(kind, height, size, repeats)


class _Reader:
    """One expression, read from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.said: list[str] = []
        self.fold = False
        self.groups = [_Group(0, captures=False, fold=False)]
        # Where the repetition began that was read just now, and the one just before; -1 if none.
        self.repeat_begins = -1
        self.last_repeat = -1
        self.classes = 0  # instructions of all classes, each counted once

    def read(self) -> Translated:
        while self.at < len(self.text):
            self.repeat_begins = -1
            _READERS.get(self.text[self.at], _Reader.literal)(self)
            self.last_repeat = self.repeat_begins
        if len(self.groups) > 1:
            raise refused("missing closing )", self.text)
        self.groups[0].close_branch()
        size = FRAME_SIZE + self.check(_join("alternate", self.groups[0].branches)).size
        return Translated("".join(self.said), size)

    def check(self, node: _Node) -> _Node:
        if node.size > MAX_SIZE:
            raise TooLargeError(self.text)
        if node.height > _MAX_HEIGHT:
            raise refused("expression nests too deeply", self.text)
        return node

    def push(self, node: _Node, said: str, start: int | None = None) -> None:
        self.said.append(said)
        group = self.groups[-1]
        group.items.append(self.check(node))
        group.last_said = slice(len(self.said) - 1 if start is None else start, len(self.said))

    def push_class(self, said: str) -> None:
        """Stops where the classes alone are too large: to measure one takes a millisecond."""
        size = class_size(said, fold=self.fold)
        self.classes += size
        if self.classes > MAX_SIZE:
            raise TooLargeError(self.text)
        self.push(_Node("other", size=size), said)

    def push_literal(self, char: str, said: str) -> None:
        self.push(_Node("literal", size=literal_size(char, fold=self.fold)), said)

    def literal(self) -> None:
        char = self.text[self.at]
        self.at += 1
        self.push_literal(char, char)

    def anchor(self) -> None:
        self.push(_Node("other"), self.text[self.at])
        self.at += 1

    def dot(self) -> None:
        self.push_class(".")
        self.at += 1

    def bar(self) -> None:
        self.groups[-1].close_branch()
        self.said.append("|")
        self.at += 1

    def open_group(self) -> None:
        if self.text.startswith("(?", self.at):
            self.open_perl_group()
            return
        self.enter("(?:", captures=True)
        self.at += 1

    def enter(self, said: str, *, captures: bool) -> None:
        self.groups.append(_Group(len(self.said), captures=captures, fold=self.fold))
        self.said.append(said)

    def open_perl_group(self) -> None:
        if _CAPTURE_START.match(self.text, self.at):
            self.open_named_group()
            return
        flags = _FLAGS.match(self.text, self.at)
        if flags is None:
            bad = _BAD_FLAGS.match(self.text, self.at)
            raise refused("invalid or unsupported Perl syntax", bad.group() if bad else "")
        if flags.group(3) == ":":
            self.enter(flags.group(), captures=False)
        else:
            self.said.append(flags.group())
        self.fold = ("i" in flags.group(1) or self.fold) and "i" not in (flags.group(2) or "")
        self.at = flags.end()

    def open_named_group(self) -> None:
        end = self.text.find(">", self.at)
        if end < 0:
            raise refused("invalid named capture", self.text[self.at :])
        capture = self.text[self.at : end + 1]
        if not _CAPTURE_NAME.fullmatch(capture[capture.index("<") + 1 : -1]):
            raise refused("invalid named capture", capture)
        self.enter("(?:", captures=True)
        self.at = end + 1

    def close_group(self) -> None:
        if len(self.groups) == 1:
            raise refused("unexpected )", self.text)
        group = self.groups.pop()
        group.close_branch()
        node = _join("alternate", group.branches)
        if group.captures:
            node = _Node("other", node.height + 1, node.size, node.repeats)
        self.fold = group.fold
        self.push(node, ")", group.said)
        self.at += 1

    def repeat_sign(self) -> None:
        start, self.at = self.at, self.at + 1
        extra = 2 if self.text[start] == "*" else 1
        node = self.repeated(start)
        self.replace(node._replace(size=node.size + extra), start)

    def repeat_counts(self) -> None:
        counts = _COUNTS.match(self.text, self.at)
        if counts is None:
            self.at += 1
            self.push(_Node("literal"), "\\{")
            return
        start, self.at = self.at, counts.end()
        low, high = _count(counts.group(1)), _count(counts.group(3) or counts.group(1))
        if counts.group(2) and not counts.group(3):
            high = -1
        if max(low, high) > _MAX_REPEAT or 0 <= high < low:
            raise refused("invalid repeat count", counts.group())
        node = self.repeated(start)
        if high == 0:
            self.leave_out(node, start)
            return
        most = high if high > 0 else low
        repeats = node.repeats * max(most, 1)
        if repeats > _MAX_REPEAT and max(low, high) > 1:
            raise refused("invalid repeat count", self.text[start : self.at])
        size = node.size * max(most, 1) + (1 if high < 0 else high - low)
        self.replace(node._replace(size=size, repeats=repeats), start)

    def repeated(self, start: int) -> _Node:
        """The part that the repetition at `start` repeats."""
        if self.text.startswith("?", self.at):
            self.at += 1
        if self.last_repeat >= 0:
            part = self.text[self.last_repeat : self.at]
            raise refused("invalid nested repetition operator", part)
        items = self.groups[-1].items
        if not items:
            part = self.text[start : self.at]
            raise refused("missing argument to repetition operator", part)
        return items.pop()

    def replace(self, node: _Node, start: int) -> None:
        node = node._replace(kind="other", height=node.height + 1)
        self.repeat_begins = start
        self.push(node, self.text[start : self.at], self.groups[-1].last_said.start)

    def leave_out(self, node: _Node, start: int) -> None:
        """Drop a part that is repeated 0 times: RE2 would count the repetitions in it."""
        group = self.groups[-1]
        self.said[group.last_said] = ["(?:)"]
        group.last_said = slice(group.last_said.start, group.last_said.start + 1)
        group.items.append(_Node("other", node.height + 1))
        self.repeat_begins = start

    def bracket(self) -> None:
        said, self.at = pattern_classes.bracket(self.text, self.at, fold=self.fold)
        self.push_class(said)

    def backslash(self) -> None:
        follower = self.text[self.at + 1 : self.at + 2]
        if follower == "C":  # any byte
            raise refused("invalid escape sequence", "\\C")
        if follower == "Q":
            self.quotation()
        elif follower in ("p", "P"):
            said, self.at = pattern_classes.unicode_group(self.text, self.at)
            self.push_class(said)
        elif follower and follower in "AbBz":
            self.at += 2
            self.push(_Node("other"), "\\" + follower)
        elif follower and follower in "dDsSwW":
            self.at += 2
            self.push_class("\\" + follower)
        else:
            code, end = pattern_classes.escape(self.text, self.at)
            self.push_literal(chr(code), self.text[self.at : end])
            self.at = end

    def quotation(self) -> None:
        """Everything up to `\\E` is literal."""
        inside, _, rest = self.text[self.at + 2 :].partition(r"\E")
        self.at = len(self.text) - len(rest)
        for char in inside:
            said = f"\\{char}" if char.isascii() and not char.isalnum() else char
            self.push_literal(char, said)
        if not inside:
            self.said.append(r"\Q\E")  # separates a repetition before it from one behind it


def _count(digits: str) -> int:
    return int(digits) if len(digits) < 9 else _MAX_REPEAT + 1


_READERS: Final[Mapping[str, Callable[[_Reader], None]]] = {
    "(": _Reader.open_group,
    ")": _Reader.close_group,
    "|": _Reader.bar,
    "^": _Reader.anchor,
    "$": _Reader.anchor,
    ".": _Reader.dot,
    "[": _Reader.bracket,
    "*": _Reader.repeat_sign,
    "+": _Reader.repeat_sign,
    "?": _Reader.repeat_sign,
    "{": _Reader.repeat_counts,
    "\\": _Reader.backslash,
}


# Several steps ask for the patterns of one expression, one after the other.
@functools.lru_cache(maxsize=32)
def translate(pattern: str) -> Translated:
    """The expression in RE2's dialect; TooLargeError if it is not to be compiled."""
    return _Reader(pattern).read()
