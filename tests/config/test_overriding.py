"""A configuration with some keys changed."""

import pytest

from extender.config import overriding
from extender.config.schema import Config, ProfileConfig
from extender.errors import ConfigError
from extender.match.gates import FeatureGates
from extender.plugins import DEFAULT_WEIGHTS

BASE = Config(
    gates=FeatureGates(cel=False), profiles=(ProfileConfig("a", DEFAULT_WEIGHTS),), catch_up=0.1
)


def test_nothing_changes_without_keys() -> None:
    assert overriding.override(BASE, {}) == BASE


def test_mappings_are_merged_and_the_rest_is_replaced() -> None:
    changed = overriding.override(
        BASE,
        {
            "featureGates": {"TaintTolerationComparisonOperators": False},
            "profiles": [{"schedulerName": "b"}],
            "noExecute": "join",
        },
    )

    assert changed.gates == FeatureGates(cel=False, comparison_operators=False)
    assert [each.scheduler_name for each in changed.profiles] == ["b"]
    assert (changed.no_execute, changed.catch_up) == ("join", 0.1)


def test_a_bad_key_is_named() -> None:
    with pytest.raises(ConfigError, match=r"featureGates\.CEL: unknown key"):
        overriding.override(BASE, {"featureGates": {"CEL": False}})
