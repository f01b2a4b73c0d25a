"""What compiling makes of an object: values to set, and what to say about it."""

from dataclasses import dataclass

from extender.model.documents import Plain
from extender.model.positions import Path


@dataclass(frozen=True, slots=True)
class Edit:
    """One value to set; parents that are missing are created.

    None removes the field: for Kubernetes, a null field is an absent one.
    """

    path: Path
    value: Plain


@dataclass(frozen=True, slots=True)
class Remark:
    """An error or a warning about a field."""

    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What an object needs to say in plain fields what its rules mean now."""

    edits: tuple[Edit, ...] = ()  # none: the object is current
    added: int = 0  # how many values the lists grow by
    errors: tuple[Remark, ...] = ()
    warnings: tuple[Remark, ...] = ()
