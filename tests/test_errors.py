"""The family of faults."""

import inspect

from extender import errors
from extender.errors import ConfigError, LeewayError, VersionError


def test_every_fault_is_one_of_ours() -> None:
    family = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]

    assert len(family) > 1
    assert all(issubclass(kind, LeewayError) for kind in family)
    assert all(kind.__doc__ for kind in family)


def test_a_configuration_error_holds_every_problem_and_reads_as_lines() -> None:
    error = ConfigError(["a: is wrong", "b: is missing"])

    assert error.problems == ["a: is wrong", "b: is missing"]
    assert str(error) == "a: is wrong\nb: is missing"


def test_a_version_error_is_a_value_error_too() -> None:
    assert issubclass(VersionError, ValueError)
