"""What compile mode makes of the pod that is explained, in words."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from extender.framework import rules
from extender.framework.snapshot import NodeInfo
from extender.native.carried import Carried
from extender.native.notes import CUT
from extender.native.settings import CompileSettings
from extender.review import compilation
from extender.review.explain.inquiry import Inquiry
from extender.review.explain.schema import Compilation, PlainToleration
from extender.review.explain.words import counted
from extender.review.scan.usage import rule_text

MAX_NODES: Final = 10
DAEMON: Final = (
    "compile mode leaves the pods of a DaemonSet alone, because its controller reads the"
    " spec.tolerations of the template: write plain tolerations there"
)


def of(inquiry: Inquiry, nodes: Sequence[NodeInfo]) -> tuple[Compilation | UnsetType, list[str]]:
    """How far the pod is compiled, and notes; nothing of a pod that never is."""
    live, chosen = inquiry.subject.live, inquiry.compile_settings
    if chosen is None:
        return UNSET, []
    view = compilation.view_of(nodes, chosen)
    found = compilation.of_pod(live, view, inquiry.settings, chosen)
    if found is None:
        is_daemon = compilation.is_daemon(live, inquiry.settings, chosen)
        return UNSET, [DAEMON] if is_daemon else []
    told = Compilation(
        state=found.state,
        why=_why(found, bound=bool(live.spec.node_name)),
        tolerations=tuple(map(_told, found.tolerations)),
        left_out=tuple(map(_told, found.left_out)),
    )
    # What refuses the rules and what cuts them is said above.
    said = [] if found.state == "refused" else [n for n in found.plan.notes if n.reason != CUT]
    messages = [note.message for note in said]
    carries = found.plan.carried
    if carries is None or live.spec.node_name:
        return told, messages  # nobody looks for another node
    opened = _Opened(inquiry, chosen, carries, nodes)
    return opened.counted_in(told), messages + opened.protected()


class _Opened:
    """The nodes that the plain tolerations open, and those that the rules open, too."""

    def __init__(
        self,
        inquiry: Inquiry,
        chosen: CompileSettings,
        carries: Carried,
        nodes: Sequence[NodeInfo],
    ) -> None:
        self._compile_settings = chosen
        self._nodes = nodes
        self._plain = compilation.plain_tolerations(carries, inquiry.settings)
        joined = rules.pod_tolerations(inquiry.pod, inquiry.settings).joined
        self._by_plain = compilation.opened_by(self._plain, nodes)
        self._by_rules = compilation.opened_by(joined, nodes)

    def _more(self) -> list[NodeInfo]:
        more = self._by_rules - self._by_plain
        return [node for node in self._nodes if node.name in more]

    def counted_in(self, told: Compilation) -> Compilation:
        """The same with the counts of nodes."""
        return replace(
            told,
            open_by_tolerations=len(self._by_plain),
            open_by_rules=len(self._by_rules),
            only_by_rules=tuple(node.name for node in self._more()[:MAX_NODES]),
        )

    def protected(self) -> list[str]:
        """A note, if the rules open nodes that compile mode never opens."""
        keys = {
            taint.key
            for node in self._more()
            for taint in compilation.hard_taints(node)
            if self._compile_settings.is_protected(taint.key)
            and not self._plain.tolerates(taint, set())
        }
        if not keys:
            return []
        return [
            f"only a rule that names the key {' or '.join(sorted(keys))} is compiled for it:"
            " compile.protectedTaints"
        ]


def _why(found: compilation.Compilation, *, bound: bool) -> str:
    plan = found.plan
    cut = (
        f"compile.maxTolerations leaves out {counted(len(found.left_out), 'taint')} of the cluster"
        " that the rules match"
    )
    match found.state:
        case "refused":
            return "; ".join(note.message for note in plan.notes)
        case "behind":
            undone = f"{_undone(found)}: 'leeway controller' writes it"
            return f"{undone}; {cut}" if plan.cut else undone
        case "cut":
            return cut
        case "current":
            where = "its node" if bound else "the cluster"
            return f"the pod tolerates every taint of {where} that its rules match"


def _undone(found: compilation.Compilation) -> str:
    """What is to be written."""
    plan, parts = found.plan, list[str]()
    if plan.added:
        parts.append(f"{counted(len(plan.added), 'toleration')} missing")
    if plan.guards:
        parts.append(f"{counted(len(plan.guards), 'guard')} missing")
    if plan.moved:
        parts.append(f"the guard of {', '.join(plan.moved)} stands before others of its key")
    return ", ".join(parts) or "the record of the guards is incomplete"


def _told(each: compilation.PlainToleration) -> PlainToleration:
    toleration, rule = each.toleration, each.rule
    return PlainToleration(
        key=toleration.key,
        operator=toleration.operator,
        value=toleration.value,
        effect=toleration.effect,
        toleration_seconds=toleration.toleration_seconds,
        text=compilation.text_of(toleration),
        missing=each.missing,
        origin=each.origin,
        why=_origin(each),
        rule=rule_text(rule.toleration) if rule is not None else "",
        carrier=rule.carrier if rule is not None else "",
    )


def _origin(each: compilation.PlainToleration) -> str:
    toleration = each.toleration
    match each.origin:
        case "guard":
            return (
                f"guard of {toleration.key}: evicted by Kubernetes"
                f" {toleration.toleration_seconds} s after no rule tolerates"
            )
        case "narrowed":
            return "no rule matches it: what a rule added before stays until the pod goes"
        case "own":
            return "the pod's own"
        case "rule":
            rule = each.rule
            return f"from `{rule_text(rule.toleration)}` ({rule.carrier})" if rule else ""
