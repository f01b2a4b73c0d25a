"""Every series that Leeway exports, and how calls are counted into them."""

from extender.metrics.controller import ControllerMetrics
from extender.metrics.series import (
    MAX_PROFILES,
    OTHER_PROFILE,
    CacheCollector,
    CachedResource,
    Metrics,
)

__all__ = [
    "MAX_PROFILES",
    "OTHER_PROFILE",
    "CacheCollector",
    "CachedResource",
    "ControllerMetrics",
    "Metrics",
]
