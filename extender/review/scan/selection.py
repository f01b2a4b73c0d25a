"""Which objects a scan is about: those of a namespace, or with certain labels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from extender.match.label_selectors import Selector
from extender.review.scan.objects import Scanned, ScannedVolume


@dataclass(frozen=True, slots=True)
class Selection:
    """A namespace and a label selector; without them, everything."""

    namespace: str = ""
    selector: Selector | None = None

    def takes(self, obj: Scanned) -> bool:
        """Whether an object is selected; a volume is in no namespace."""
        if self.namespace and obj.metadata.namespace != self.namespace:
            return False
        return self.selector is None or any(map(self.selector.matches, _labels(obj)))


def _labels(obj: Scanned) -> Iterator[Mapping[str, str]]:
    """The labels of the object, and those of the pods that it makes."""
    yield obj.metadata.labels or {}
    if not isinstance(obj, ScannedVolume):
        made = obj.template().metadata
        yield (made.labels if made else None) or {}
