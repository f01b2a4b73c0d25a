"""Results as a table."""

from collections.abc import Mapping
from typing import Any


def table(cases: Mapping[str, Any]) -> str:
    """One line a case."""
    head = (
        f"{'case':<62}{'calls':>6}{'p50':>9}{'p99':>9}{'floor p50':>11}{'p99':>9}"
        f"{'ratio':>8}{'cpu':>8}{'goal':>8}"
    )
    return "\n".join([head, *(line(name, case) for name, case in cases.items())])


def line(name: str, case: Mapping[str, Any]) -> str:
    """A case."""
    ours, floor = case["leeway"], case["floor"]
    goal = f"{case['goal']:g}x" if "goal" in case else f"{case['goal_ms']:g} ms"
    return (
        f"{name:<62}{case['calls']:>6}{ours['p50']:>9.2f}{ours['p99']:>9.2f}{floor['p50']:>11.2f}"
        f"{floor['p99']:>9.2f}{case['ratio']:>7.2f}x{ours['cpu'] / floor['cpu']:>7.2f}x{goal:>8}"
    )
