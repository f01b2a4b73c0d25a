"""How the verdict on one node comes about: every plugin, every rule, every value."""

from extender.errors import AnnotationError
from extender.framework.interface import Code, FilterPlugin, Profile, Status
from extender.framework.runner import Runner
from extender.framework.snapshot import NodeInfo, Snapshot
from extender.model.core_v1 import Pod
from extender.review.explain.inquiry import no_clock
from extender.review.explain.proposals import Case
from extender.review.explain.registry import EXPLAINERS
from extender.review.explain.schema import Derivation, PluginCheck


def derive(
    profile: Profile,
    pod: Pod,
    snapshot: Snapshot,
    node: NodeInfo,
    *,
    stands: Status,
    limit: int,
) -> Derivation:
    """All that leads to the verdict that `stands`; `limit` bounds the rows of each list."""
    statuses = Runner(clock=no_clock).explain(profile, pod, snapshot, node)
    derived = Derivation(
        node=node.name,
        code=stands.code.value,
        plugin=stands.plugin,
        reason=", ".join(stands.reasons),
        plugins=tuple(map(_plugin_check, profile.filters, statuses)),
    )
    case = Case(pod, node, snapshot)
    for plugin in profile.filters:
        derived = _with_rules(derived, plugin, case, limit)
    return derived


def _with_rules(derived: Derivation, plugin: FilterPlugin, case: Case, limit: int) -> Derivation:
    """The derivation with the rules behind one plugin, if they can be read."""
    explainer = EXPLAINERS.get(plugin.name)
    if explainer is None:
        return derived
    try:
        return explainer.derive(plugin, case, limit, derived)
    except AnnotationError:
        return derived  # the plugin's own reason says what is wrong with the annotation


def _plugin_check(plugin: FilterPlugin, status: Status) -> PluginCheck:
    reasons = ", ".join(status.reasons)
    return PluginCheck(plugin.name, status.code.value, reasons, _why(plugin, status))


def _why(plugin: FilterPlugin, status: Status) -> str:
    """What a plugin says of the node, in a few words."""
    if status.code is Code.SKIP:
        return "nothing to judge"
    if status.code is not Code.SUCCESS:
        return ", ".join(status.reasons)
    explainer = EXPLAINERS.get(plugin.name)
    return "passes" if explainer is None else explainer.passes
