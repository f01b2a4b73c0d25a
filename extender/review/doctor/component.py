"""A component of Kubernetes, as a manifest starts it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Component:
    """Command line, environment and version of a component."""

    origin: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    version: tuple[int, int] | None = None  # by its image

    def flag(self, name: str) -> str | None:
        """The value of a flag, given as `--name=value` or as two words; the last one counts."""
        value = None
        for word, following in zip(self.arguments, (*self.arguments[1:], ""), strict=True):
            if word.startswith(f"--{name}="):
                value = word.partition("=")[2]
            elif word == f"--{name}":
                value = following
        return value

    def gate(self, name: str) -> bool | None:
        """The value of a gate in --feature-gates; None if it is not set."""
        for part in (self.flag("feature-gates") or "").split(","):
            found, _, value = part.partition("=")
            if found.strip() == name:
                return value.strip().lower() == "true"
        return None
