"""Every row of the vectors: what the real plugin answered, this one answers too."""

from tests.plugins.pod_topology_spread import vectors
from tests.vectors import Row, assert_every_row


def all_scorings(row: Row) -> list[tuple[list[str], str, dict[str, int], dict[str, int]]]:
    """The candidates of each scoring of a row, and what came of it."""
    feasible = [name for name, verdict in row["filter"].items() if verdict["feasible"]]
    first = {"nodes": feasible} | row
    first["nodes"] = feasible
    return [
        (list(each["nodes"]), each["prescore_status"], each["raw_scores"], each["scores"])
        for each in (first, *row.get("extra_scorings", ()))
        if each["prescore_status"] != "NotRun"
    ]


def test_every_row_is_filtered_as_upstream_does() -> None:
    assert_every_row("topology_spread", vectors.filtered, vectors.expected_filter)


def test_every_row_is_scored_as_upstream_does() -> None:
    assert_every_row(
        "topology_spread",
        lambda row: [(names, *vectors.scored(row, names)) for names, *_ in all_scorings(row)],
        all_scorings,
    )
