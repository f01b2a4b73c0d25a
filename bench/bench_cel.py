"""How long expressions take to compile and to evaluate, beside cel-python in the same run.

Run with `python -m bench.bench_cel`. cel-python has no type checker, no cost limits and none of
Kubernetes' functions, so semver() is given to it, over the same parser of versions that we use;
its tree-walking runner is measured, because its compiled one gives wrong answers under threads.
With `--distinct 100000` memory is measured instead, while so many different expressions pass
through a cache of 10,000.
"""

import argparse
import functools
import platform
import resource
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import celpy
from celpy import celtypes
from celpy.adapter import json_to_cel
from celpy.evaluation import CELFunction

from extender.match import versions
from extender.match.cel.cache import ProgramCache
from extender.match.cel.program import compile_expression
from extender.model.core_v1 import Taint

KERNEL: Final = "node.example.com/kernel-version"


@dataclass(frozen=True, slots=True)
class Case:
    """An expression, a taint that it is asked about, and whether cel-python understands it."""

    name: str
    expression: str
    key: str
    value: str
    goal: float  # microseconds
    shared: bool = True


CASES: Final = (
    Case(
        "story 1: prefix",
        "taint.key.startsWith('env.example.com/')",
        "env.example.com/dev",
        "true",
        5,
    ),
    Case(
        "story 2: kernel version",
        f"taint.key == '{KERNEL}' && semver(taint.value).isGreaterThan(semver('5.15.0'))",
        KERNEL,
        "6.8.0",
        5,
    ),
    Case(
        "story 3: pattern",
        "taint.key.matches('^zone-a[12]-rack-[0-9]+$')",
        "zone-a1-rack-03",
        "",
        5,
    ),
    Case(
        "one of many keys",
        "taint.key in ['" + "', '".join(f"team-{i}.example.com/own" for i in range(30)) + "']"
        " || taint.key.endsWith('/shared')",
        "team-29.example.com/own",
        "",
        20,
    ),
    Case(
        "a loop over a list",
        "['dev', 'test', 'staging', 'qa', 'perf'].exists(e,"
        " taint.key == 'env.example.com/' + e && taint.effect != 'NoExecute')",
        "env.example.com/perf",
        "",
        20,
    ),
    Case(
        "numbers and alternatives",
        "taint.key == 'sla' && taint.value.matches('^[0-9]+$')"
        " ? int(taint.value) >= 900 && int(taint.value) < 1000 : false",
        "sla",
        "950",
        20,
    ),
    Case(
        "parts of a key",
        "taint.key.split('/')[0] == 'gpu.example.com' && taint.value.split('-').exists(p,"
        " p.startsWith('a1'))",
        "gpu.example.com/model",
        "nvidia-a100-80g",
        20,
        shared=False,
    ),
)


class Version(celtypes.StringType):
    """What cel-python gets for a version: text that knows how to compare itself."""


def _is_greater_than(one: Any, other: Any) -> celtypes.BoolType:
    mine, theirs = versions.parse(one), versions.parse(other)
    return celtypes.BoolType(mine is not None and theirs is not None and mine > theirs)


FUNCTIONS: Final[dict[str, CELFunction]] = {
    "semver": lambda text: Version(text),
    "isGreaterThan": _is_greater_than,
}


def theirs(case: Case) -> Callable[[], object]:
    """An evaluation by cel-python's interpreter."""
    environment = celpy.Environment(runner_class=celpy.InterpretedRunner)
    program = environment.program(environment.compile(case.expression), FUNCTIONS)
    taint = {"key": case.key, "value": case.value, "effect": "NoSchedule"}
    activation = {"taint": json_to_cel(taint)}
    return lambda: program.evaluate(activation)


def ours(case: Case) -> Callable[[], object]:
    """An evaluation by our engine, cost counted."""
    program = compile_expression(case.expression)
    return lambda: program.evaluate(case.key, case.value, "NoSchedule").result


def microseconds(act: Callable[[], object], *, at_least: float) -> float:
    """The median time of an act over several rounds."""
    count = 1
    while (seconds := _timed(act, count)) < at_least / 5:
        count = max(count * 2, int(count * at_least / 5 / max(seconds, 1e-9)))
    return statistics.median(_timed(act, count) for _ in range(5)) / count * 1e6


def _timed(act: Callable[[], object], count: int) -> float:
    since = perf_counter()
    for _ in range(count):
        act()
    return perf_counter() - since


def distinct(number: int) -> str:
    """One of endlessly many expressions, of five kinds; the last does not compile."""
    return (
        f"taint.key.startsWith('team-{number}.example.com/')",
        f"taint.key == '{KERNEL}' && semver(taint.value).isGreaterThan(semver('5.{number}.0'))",
        f"taint.key.matches('^zone-a[12]-rack-{number}-[0-9]+$')",
        f"['dev', 'test', 'p{number}'].exists(e, taint.key == 'env.example.com/' + e)",
        f"taint.kye == 'team-{number}'",
    )[number % 5]


def megabytes() -> float:
    """Of memory that this process has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def watch_memory(count: int) -> None:
    """Compile and evaluate different expressions, and print what is kept of them."""
    programs = ProgramCache()
    taint = Taint("env.example.com/dev", "6.8.0", "NoSchedule")
    print(f"{'expressions':>12}{'kept':>10}{'memory':>12}")
    for number in range(count + 1):
        if number % (count // 10) == 0:
            print(f"{number:>12}{len(programs):>10}{megabytes():>9.1f} MB", flush=True)
        programs.evaluate(distinct(number), taint)


def main() -> None:
    """Measure every case and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.bench_cel", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each figure (0.5)")
    parser.add_argument("--distinct", type=int, help="watch memory over so many expressions")
    options = parser.parse_args()
    if options.distinct:
        watch_memory(options.distinct)
        return
    print(
        f"Python {platform.python_version()}, cel-python {version('cel-python')}; microseconds,"
        " median of five rounds\n"
    )
    heads = ("compile", "evaluate", "goal", "cel-python", "factor")
    print(f"{'expression':<28}" + "".join(f"{head:>12}" for head in heads))
    for case in CASES:
        compiling = microseconds(
            functools.partial(compile_expression, case.expression), at_least=options.seconds
        )
        evaluating = microseconds(ours(case), at_least=options.seconds)
        row = f"{case.name:<28}{compiling:>12.0f}{evaluating:>12.2f}{case.goal:>12.0f}"
        if case.shared:
            if bool(ours(case)()) != bool(theirs(case)()):
                raise SystemExit(f"{case.name}: the engines disagree")
            slow = microseconds(theirs(case), at_least=options.seconds)
            row += f"{slow:>12.1f}{slow / evaluating:>11.0f}x"
        print(row, flush=True)


if __name__ == "__main__":
    main()
