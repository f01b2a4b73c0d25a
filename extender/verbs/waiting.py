"""The pods that were refused everywhere, and which of them would fit by now.

kube-scheduler hears of a change when we do and asks within milliseconds. A pod that was refused
from an older view is not asked about again before the next event, which may be minutes away. So
we remember from which view each pod was refused. When the view has changed since, and nobody has
asked again, the pod is judged over the nodes that changed.

Time is a parameter here, and nothing is written: `server/nudges.py` wakes who fits.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from extender.cluster.pending import Rules, WaitingPod
from extender.cluster.source import Watching
from extender.framework.snapshot import Snapshot
from extender.model.core_v1 import ObjectMeta, Pod
from extender.verbs.profiles import DEFAULT_SCHEDULER, scheduler_name

# How long kube-scheduler is given to ask by itself, after a change and after a refusal. It asks
# within 20 ms on a quiet cluster.
GRACE: Final = 0.2
# The same for a pod that another replica refused: whoever answered goes first.
GRACE_OF_OTHERS: Final = 1.0
# kube-scheduler writes why a pod was refused into its status, which wakes the pod once more: who
# is asked about so soon after a refusal brings no news.
SELF_WAKE_SECONDS: Final = 0.5
# A pod that was refused by another replica is judged by what changed since this long ago: the
# other may have had an older view than we have now.
SUSPECT_SECONDS: Final = 2.0
# A pod that was woken and is still not placed is woken by the next change after a pause. The
# pause doubles each time: it is kube-scheduler's own filters that refuse it.
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 300.0
# A pod that could not be judged within the limits of one call is judged again after this.
UNJUDGED_PAUSE: Final = 5.0
# How often a woken pod is checked, and so how long no node must fit before the condition is
# withdrawn: taints may flip, and every change of the condition makes kube-scheduler ask.
CHECK_SECONDS: Final = 5.0
# A pod that we refused and that the watch never showed is forgotten after so long.
UNSEEN_SECONDS: Final = 30.0
MAX_REFUSALS: Final = 100_000
MAX_SCHEDULERS: Final = 20

_VOLUMES: Final = ("persistentvolumes", "persistentvolumeclaims", "storageclasses")


class View(Struct, frozen=True, gc=False):
    """The state of the cluster that a verdict came from, as far as verdicts depend on it."""

    nodes: int  # version of the node table
    pods: int
    volumes: int

    @classmethod
    def of(cls, snapshot: Snapshot) -> "View":
        """The view that a snapshot gives."""
        generations = snapshot.generations
        return cls(
            snapshot.table.version,
            generations.get("pods", 0),
            sum(generations.get(name, 0) for name in _VOLUMES),
        )

    def differs_everywhere(self, other: "View", resources: frozenset[str]) -> bool:
        """Whether the rules may say something else of nodes that have not changed themselves."""
        return ("pods" in resources and self.pods != other.pods) or (
            "persistentvolumes" in resources and self.volumes != other.volumes
        )


# Where nothing is known, everything has changed since.
UNKNOWN: Final = View(-1, -1, -1)


class Refusal(Struct, gc=False):
    """What is remembered of a refused pod."""

    key: str
    at: float
    view: View
    activity: int = 0
    own: bool = False  # we refused it, not another replica
    carries_nodes: bool = False  # its nodes come with the request: no node is news to us
    seen: bool = False  # in the watch
    schedulable: str = ""  # since when our condition was True, when last looked at
    woken_at: float = -math.inf
    pause: float = 0.0
    not_before: float = 0.0  # of the next judgement
    checked_at: float = -math.inf
    checked: View = UNKNOWN
    unfit: bool = False  # no node fitted when it was last checked


class Due(Struct, frozen=True, gc=False):
    """Pods with the same rules that were refused from the same view, which is outdated."""

    rules: Rules
    view: View
    everywhere: bool  # judge all nodes, not only those that changed
    pods: list[WaitingPod]


class WaitingPods:
    """The refused pods of one extender."""

    def __init__(
        self,
        source: Watching,
        *,
        is_configured: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._is_configured = is_configured  # which schedulers ask us
        self._clock = clock
        self._refusals: dict[str, Refusal] = {}  # by UID
        self._views: deque[tuple[float, View]] = deque()
        self._schedulers: set[str] = set()  # those that have asked us

    def __len__(self) -> int:
        return len(self._refusals)

    # What the filter verb tells.

    def passed(self, pod: Pod, snapshot: Snapshot) -> None:
        """A node passes. The pod still waits until it is seen there, which may take a while."""
        refusal = self._refusals.get(pod.metadata.uid if pod.metadata else "")
        if refusal is not None:
            refusal.at, refusal.view, refusal.activity = self._clock(), View.of(snapshot), -1

    def forget(self, pod: Pod) -> None:
        """An Error, which kube-scheduler retries by itself, or a rule that no change helps."""
        self._refusals.pop(pod.metadata.uid if pod.metadata else "", None)

    def refused(self, pod: Pod, snapshot: Snapshot, nodes: int, *, carries_nodes: bool) -> bool:
        """None of so many nodes passes. Returns whether news is on its way to us.

        kube-scheduler asks again about a refused pod when something happens. If we have seen
        nothing happen since, it knows something that we do not know yet.
        """
        meta = pod.metadata or ObjectMeta()
        if not meta.uid:
            return False  # somebody asks what would be
        activity, view = self._source.activity, View.of(snapshot)
        refusal = self._refusals.get(meta.uid)
        now = self._clock()
        expects_news = (
            refusal is not None
            and refusal.own
            and refusal.activity == activity
            and now - refusal.at >= SELF_WAKE_SECONDS
        )
        if refusal is None:
            refusal = self._remember(meta.uid, f"{meta.namespace}/{meta.name}", view)
            if len(self._schedulers) < MAX_SCHEDULERS:
                self._schedulers.add(scheduler_name(pod))
        elif nodes >= len(snapshot.nodes):
            # It is not the in-tree filters that refuse. A condition changes once a second at most:
            # its time has no fractions.
            refusal.pause, refusal.not_before = 0.0, refusal.woken_at + FIRST_PAUSE
        refusal.at, refusal.view, refusal.activity = now, view, activity
        refusal.own, refusal.carries_nodes = True, carries_nodes
        return expects_news

    def is_too_large(self, pod: Pod) -> bool:
        """Whether the rules of a pod are too large to be kept, so that nobody looks after it."""
        meta = pod.metadata or ObjectMeta()
        known = self._source.pending.get(f"{meta.namespace}/{meta.name}")
        return known is not None and known.uid == meta.uid and known.rules is None

    # What is asked when something has changed.

    def due(self, snapshot: Snapshot) -> tuple[list[Due], bool]:
        """Who is to be judged now, and whether somebody is to be looked at again soon."""
        now, view = self._clock(), View.of(snapshot)
        self._adopt(now, view)
        found: dict[tuple[int, View, bool], Due] = {}
        again = False
        for pod, rules, refusal in self._present(now):
            everywhere = view.differs_everywhere(refusal.view, rules.resources)
            if not everywhere and (refusal.carries_nodes or view.nodes == refusal.view.nodes):
                continue
            grace = GRACE if refusal.own else GRACE_OF_OTHERS
            if now < max(refusal.at + grace, refusal.not_before):
                again = True
                continue
            key = id(rules), refusal.view, everywhere
            due = found.setdefault(key, Due(rules, refusal.view, everywhere, []))
            due.pods.append(pod)
        is_unseen = any(not refusal.seen for refusal in self._refusals.values())
        return list(found.values()), again or is_unseen

    def is_due(self, pod: WaitingPod, due: Due) -> bool:
        """Whether the pod still waits, and nobody has asked about it since it was found due."""
        refusal, current = self._refusals.get(pod.uid), self._source.pending.get(pod.key)
        is_same = current is not None and current.uid == pod.uid
        return is_same and refusal is not None and refusal.view == due.view

    def unfit(self, due: Due, view: View) -> None:
        """No node that changed lets these pods pass, as of this view."""
        for pod in due.pods:
            if self.is_due(pod, due):
                self._refusals[pod.uid].view = view

    def postpone(self, due: Due) -> None:
        """The pods could not be judged within the limits of one call."""
        for pod in due.pods:
            if self.is_due(pod, due):
                self._refusals[pod.uid].not_before = self._clock() + UNJUDGED_PAUSE

    def woken(self, pod: WaitingPod, view: View, *, failed: bool = False) -> None:
        """The pod was woken, because a node lets it pass in this view, or that has failed."""
        refusal, now = self._refusals.get(pod.uid), self._clock()
        if refusal is None:
            return  # asked about and placed while the patch was on its way
        is_rare = now - refusal.woken_at > 4 * refusal.pause
        refusal.pause = FIRST_PAUSE if is_rare else min(2 * refusal.pause, LONGEST_PAUSE)
        refusal.woken_at, refusal.not_before = now, now + refusal.pause
        if not failed and refusal.view.nodes <= view.nodes:
            refusal.view, refusal.unfit = view, False

    def is_own(self, pod: WaitingPod) -> bool:
        """Whether we refused the pod ourselves."""
        refusal = self._refusals.get(pod.uid)
        return refusal is not None and refusal.own

    def to_check(self, snapshot: Snapshot) -> tuple[list[WaitingPod], bool]:
        """The pods whose condition may hold no longer, and whether to look again soon."""
        now, view = self._clock(), View.of(snapshot)
        found: list[WaitingPod] = []
        again = False
        for pod, _, refusal in self._present(now):
            if not pod.schedulable or not (refusal.unfit or refusal.checked != view):
                continue
            if now < max(refusal.checked_at, refusal.woken_at) + CHECK_SECONDS:
                again = True
                continue
            refusal.checked_at, refusal.checked = now, view
            found.append(pod)
        return found, again

    def checked(self, pod: WaitingPod, *, fits: bool) -> bool:
        """Note whether any node fits; returns whether the condition is to be withdrawn."""
        refusal = self._refusals.get(pod.uid)
        if refusal is None:
            return False
        was_unfit, refusal.unfit = refusal.unfit, not fits
        return was_unfit and not fits

    # How they are kept.

    def _remember(self, uid: str, key: str, view: View) -> Refusal:
        if len(self._refusals) >= MAX_REFUSALS:
            del self._refusals[next(iter(self._refusals))]
        refusal = self._refusals[uid] = Refusal(key, self._clock(), view)
        return refusal

    def _present(self, now: float) -> Iterator[tuple[WaitingPod, Rules, Refusal]]:
        """The pods that wait and whose rules are known; those that are gone are forgotten."""
        pending = self._source.pending
        for uid, refusal in tuple(self._refusals.items()):
            pod = pending.get(refusal.key)
            if pod is None or pod.uid != uid:
                # The watch may show a new pod later than kube-scheduler asks about it.
                if refusal.seen or now - refusal.at > UNSEEN_SECONDS:
                    del self._refusals[uid]
                continue
            refusal.seen = True
            if pod.rules is not None:
                yield pod, pod.rules, refusal

    def _adopt(self, now: float, view: View) -> None:
        """Look after the pods that another replica refused, or we before a restart, too."""
        while len(self._views) > 1 and self._views[1][0] <= now - SUSPECT_SECONDS:
            self._views.popleft()
        # Before the first look nobody knows what has changed since a pod was refused.
        since = self._views[0][1] if self._views else UNKNOWN
        self._views.append((now, view))
        for pod in self._source.pending.values():
            refusal = self._refusals.get(pod.uid)
            if refusal is None:
                if (pod.refused or pod.schedulable) and self._asks_us(pod):
                    self._remember(pod.uid, pod.key, since).schedulable = pod.schedulable
            elif pod.schedulable != refusal.schedulable:
                refusal.schedulable = pod.schedulable
                if not refusal.own:
                    refusal.view = view  # whoever refused it has woken it

    def _asks_us(self, pod: WaitingPod) -> bool:
        """Whether the scheduler of a pod asks us.

        Until one has asked, any may that is not the cluster's own, which mostly has no extender.
        """
        name = pod.scheduler_name or DEFAULT_SCHEDULER
        if self._is_configured or name in self._schedulers:
            return True
        return not self._schedulers and (name != DEFAULT_SCHEDULER or pod.annotated)
