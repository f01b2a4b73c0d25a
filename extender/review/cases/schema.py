"""What a RuleTest says. docs/ruletest.schema.json is the same for editors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from extender.model.documents import Plain

API_VERSION: Final = "leeway.scheduling/v1alpha1"
KIND: Final = "RuleTest"
MAX_SCORE: Final = 10


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder with objects, or one object; `path` is where the document names it."""

    path: str
    file: str = ""
    item: Mapping[str, Plain] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PodSource(Source):
    """The pod or workload of a case; `name` chooses one of a file with several."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class ConfigurationSource:
    """Keys of an ExtenderConfiguration; `path` is where the document has them."""

    path: str
    data: Mapping[str, Plain]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a case expects; what it does not mention may be anything."""

    passes: tuple[str, ...] | None = None  # these nodes, and no others
    refused: Mapping[str, str] = field(default_factory=dict)  # with the reason, or a part of it
    scores: Mapping[str, int] = field(default_factory=dict)
    fix: str | None = None  # a part of the fix that `leeway explain` tells


@dataclass(frozen=True, slots=True)
class Case:
    """One pod against one cluster."""

    path: str  # such as cases[0]
    name: str
    pod: PodSource
    objects: tuple[Source, ...]
    configuration: tuple[ConfigurationSource, ...]  # a later one overrides an earlier one
    expected: Expected


@dataclass(frozen=True, slots=True)
class RuleTest:
    """One document."""

    name: str
    cases: tuple[Case, ...]
