"""The rows in C against the rows in Python, over ever new cases: `make fuzz`.

It starts from the cases in corpus/rows, changes them at random and compares what the two say. A
sanitizer ends the process, so each case is written down before it is tried, and the file that is
left at the end is the case that failed; make moves it into the corpus.
"""

import argparse
import copy
import importlib.machinery
import importlib.util
import json
import random
import string
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from extender.rows import plain
from tests.rows.transcript import Case, transcript

CORPUS: Final = Path(__file__).parent / "corpus" / "rows"
_MODULE: Final = "extender.rows._native"
_NUMBERS: Final = (
    *range(-1, 10), 15, 16, 17, 255, 256, 65535, 65536, 1 << 20, (1 << 24) - 1, 1 << 24,
    (1 << 31) - 1, 1 << 31, 0xFFFF_FFFE, 0xFFFF_FFFF, 1 << 32, (1 << 60) + 1, 1 << 63, 1 << 64,
)  # fmt: skip
_PIECES: Final = (
    '"', '","', "[", "]", "]}", ",", "\\", "\x00", "\x1f", "\x7f", "\x80", "Ã¼", "a", "node-1",
    ',{"metadata":{"name":"', "x" * 15, "x" * 16, "x" * 17, "x" * 31, "x" * 32, "x" * 33, "x" * 64,
)  # fmt: skip
_MOST_ITEMS: Final = 700  # more than one chunk of candidates
_NEW_EVERY: Final = 400


def corpus() -> list[Case]:
    """The cases that are kept."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(CORPUS.glob("*.json"))]


class Mutator:
    """Changes a case here and there."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311

    def case(self, cases: list[Case]) -> Case:
        """One of the cases, with some changes, or with parts of another one."""
        made: Any = copy.deepcopy(self._random.choice(cases))
        if self._random.random() < 0.2:
            key = self._random.choice(list(made))
            made[key] = copy.deepcopy(self._random.choice(cases)[key])  # type: ignore[literal-required]
        for _ in range(self._random.choice((1, 1, 2, 3, 8))):
            key = self._random.choice(list(made))
            made[key] = self._changed(made[key])
        if self._random.random() < 0.5:  # a list of names that are mostly known
            names = [name for name, _ in made["names"]]
            asked = self._random.choices([*names, "zz"], k=self._random.randrange(40))
            made["body"] = f"[{','.join(json.dumps(name, ensure_ascii=False) for name in asked)}]}}"
            made["start"] = 0
        return made  # type: ignore[no-any-return]

    def _changed(self, value: Any) -> Any:
        match value:
            case str():
                return self._text(value)
            case int() | None:
                return self._number(value or 0)
            case [str() as name, (int() | None) as row]:  # a name and its row
                return self._random.choice(
                    ([self._text(name), row], [name, self._number(row or 0)], [name, None])
                )
            case dict():
                return {self._text(key) if self._rarely() else key: self._text(text)
                        if self._rarely() else text for key, text in value.items()}  # fmt: skip
            case _:
                return self._items(list(value))

    def _rarely(self) -> bool:
        return self._random.random() < 0.3

    def _number(self, value: int) -> int:
        if self._random.random() < 0.5:
            return value + self._random.choice((-1, 1))
        return int(self._random.choice(_NUMBERS))

    def _text(self, text: str) -> str:
        at = self._random.randint(0, len(text))
        end = min(len(text), at + self._random.choice((0, 0, 1, 1, 4, 40)))
        piece = self._random.choice(
            (*_PIECES, "", text[at:end] * 2, self._random.choice(string.printable))
        )
        return text[:at] + piece + text[end:]

    def _items(self, items: list[Any]) -> list[Any]:
        at = self._random.randint(0, len(items))
        match self._random.randrange(5):
            case 0 if at < len(items):
                del items[at]
            case 1 if items:
                items.insert(at, copy.deepcopy(self._random.choice(items)))
            case 2 if items and len(items) * 2 <= _MOST_ITEMS:
                items *= 2
            case 3:
                self._random.shuffle(items)
            case _ if at < len(items):
                items[at] = self._changed(items[at])
        return items


def _load(path: Path) -> Any:
    """The implementation in C from this file, under the name by which the tests import it."""
    loader = importlib.machinery.ExtensionFileLoader(_MODULE, str(path))
    spec = importlib.util.spec_from_file_location(_MODULE, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[_MODULE] = module
    return module


def _cases(seed: int, until: float) -> Iterator[Case]:
    """Cases of the corpus and changed ones, of which some are changed again."""
    cases = corpus()
    yield from cases
    mutator, tried = Mutator(seed), 0
    while time.monotonic() < until:
        case = mutator.case(cases)
        yield case
        tried += 1
        if tried % _NEW_EVERY == 0:
            cases = [*corpus(), *cases[-60:], case]


def fuzz(native: Any, latest: Path, seed: int, seconds: float) -> int:
    """Compare until the time is over; the number of cases that were compared."""
    compared = 0
    for case in _cases(seed, time.monotonic() + seconds):
        latest.write_text(json.dumps(case), encoding="utf-8")
        assert transcript(native, case) == transcript(plain, case), f"they disagree: see {latest}"
        compared += 1
    latest.unlink()
    return compared


def main() -> int:
    """Run the contract, and then compare for some minutes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--native", type=Path, required=True, help="the extension to test")
    parser.add_argument("--latest", type=Path, required=True, help="where to write each case")
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    arguments = parser.parse_args()
    native = _load(arguments.native)
    # Without capture: what a sanitizer writes before it ends the process would be lost.
    code = pytest.main(["-q", "--capture=no", "-p", "no:randomly", "tests/rows/test_native.py"])
    if code:
        return int(code)
    compared = fuzz(native, arguments.latest, arguments.seed, 60 * arguments.minutes)
    print(f"fuzz: {compared:,} cases, seed {arguments.seed}: C and Python say the same")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
