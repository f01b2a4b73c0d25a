"""Every plugin is explained."""

from extender import plugins
from extender.review.explain.registry import EXPLAINERS


def test_every_plugin_has_its_explainer() -> None:
    assert list(EXPLAINERS) == [each.name for each in plugins.PLUGINS]
