"""The plugin that ARCHITECTURE.md shows is this one, and it works."""

from pathlib import Path

from extender.framework.interface import SUCCESS, Profile, Settings
from tests.builders import a_pod, filtered, node_json, refused, some_nodes
from tests.plugins import zone_required
from tests.plugins.zone_required import REASON, ZONE, ZoneRequired

ROOT = Path(__file__).parent.parent.parent


def test_the_architecture_shows_this_plugin() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")

    assert f"```python\n{Path(zone_required.__file__).read_text(encoding='utf-8')}```" in page


def test_a_node_without_a_zone_is_refused() -> None:
    nodes = some_nodes(node_json("with", labels={ZONE: "a"}), node_json("without"))
    profile = Profile("test", (ZoneRequired(Settings()),), ())

    result = filtered(profile, a_pod(), nodes)

    assert result.statuses() == [SUCCESS, refused(REASON, plugin="ZoneRequired")]
