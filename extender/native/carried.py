"""What a pod carries: its own tolerations, its extended rules, and the guards that Leeway wrote."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from extender.errors import AnnotationError
from extender.framework.interface import Settings
from extender.match import annotations, integers, taints
from extender.match.lru import weight_of
from extender.match.taints import NO_EXECUTE, Tolerations
from extender.model.core_v1 import LivePod, Toleration
from extender.model.nulls import Decoder
from extender.native import notes
from extender.native.extended import EXISTS, Extended, compile_rules, is_extended, is_plain
from extender.native.notes import Note
from extender.native.settings import CONDITION_TAINTS, CompileSettings

MAX_GRACE: Final = 86_400
# A record of ours has a few keys of at most 317 bytes.
MAX_RECORD: Final = 65_536

RulesKey = tuple[tuple[Toleration, ...], str | None, str]

_TOLERATIONS: Final[Decoder[tuple[Toleration, ...] | None]] = Decoder(tuple[Toleration, ...] | None)
_RECORD: Final = msgspec.json.Decoder(frozenset[str])


class _Unreadable(msgspec.Struct, frozen=True, gc=False):
    """An annotation that was read before, in vain. Not the exception: that holds its frames."""

    annotation: str
    problem: str


class Record(msgspec.Struct, frozen=True, gc=False):
    """The keys for which Leeway wrote guards, as a pod's annotation has them."""

    keys: frozenset[str] = frozenset()
    text: str | None = None  # None: the pod has no record
    problem: str = ""  # why the record cannot be read


@dataclass(frozen=True, slots=True)
class Carried:
    """The tolerations of a pod, sorted by who reads them."""

    tolerations: tuple[Toleration, ...]  # as they stand in the spec
    guards: Mapping[str, int]  # by key: their places among `tolerations`
    record: Record
    own: Tolerations  # what every part of Kubernetes understands, without the guards
    extended: Extended
    grace: int
    notes: tuple[Note, ...] = ()  # what cannot be read of the annotations beside the rules

    @property
    def written(self) -> int:
        """How many plain tolerations say what a rule says, whoever wrote them."""
        return sum(map(self.extended.covers, self.tolerations))

    def unguarded(self) -> Iterator[tuple[int, Toleration]]:
        """The tolerations that are no guards, each with its place."""
        places = frozenset(self.guards.values())
        return ((n, each) for n, each in enumerate(self.tolerations) if n not in places)

    def own_exists(self) -> frozenset[str]:
        """The keys of which the pod tolerates every NoExecute taint by itself; "" is all."""
        return frozenset(
            each.key
            for _, each in self.unguarded()
            if each.operator == EXISTS and is_plain(each) and is_evicting(each)
        )


def is_evicting(toleration: Toleration) -> bool:
    """Whether taint-eviction may find a toleration for a taint of its key."""
    return toleration.effect in ("", NO_EXECUTE)


def looks_like_guard(toleration: Toleration) -> bool:
    """Whether a toleration has the shape of a guard."""
    return (
        toleration.operator == EXISTS
        and toleration.effect == NO_EXECUTE
        and toleration.toleration_seconds is not None
        and bool(toleration.key)
    )


def is_guard(toleration: Toleration, record: Record, remembered: Collection[str] = ()) -> bool:
    """Whether Leeway wrote a toleration; with an unreadable record, whether it looks so.

    Then those that Kubernetes gives to every pod do not count.
    """
    key = toleration.key
    if not looks_like_guard(toleration):
        return False
    if key in record.keys or key in remembered:
        return True
    return bool(record.problem) and key not in CONDITION_TAINTS


def tolerations_of(pod: LivePod) -> tuple[Toleration, ...]:
    """The native tolerations of a pod; msgspec.DecodeError if they are none."""
    return _TOLERATIONS.decode(pod.spec.tolerations) or ()


def rules_key(pod: LivePod, settings: Settings) -> RulesKey:
    """What the rules of a pod come from: its native ones, and the text of its annotation."""
    native = tuple(filter(is_extended, tolerations_of(pod)))
    written = pod.metadata.annotations or {}
    # `framework.rules` keeps what it compiles under the first two, in the same cache.
    return native, written.get(settings.annotation_prefix + annotations.TOLERATIONS), "extended"


def annotated(pod: LivePod, settings: Settings) -> tuple[Toleration, ...]:
    """The rules of the annotation; AnnotationError if it is unreadable. Any thread may ask."""
    return annotations.tolerations(
        pod.metadata.annotations, settings.annotation_prefix, settings.annotation_bytes
    )


def extended_of(
    pod: LivePod,
    settings: Settings,
    compile_settings: CompileSettings,
    read: Callable[[], tuple[Toleration, ...]] | None = None,
) -> Extended:
    """The rules of a pod; the pods of one workload share them.

    AnnotationError if they cannot be read, AllowanceError if expressions take too much work.
    `read` is how to read the annotation, where somebody has done so already.
    """
    key = rules_key(pod, settings)
    known: Extended | _Unreadable | None = settings.compiled.get(key)
    if known is None:
        try:
            written = key[0] + (read() if read is not None else annotated(pod, settings))
        except AnnotationError as exc:
            known = _Unreadable(exc.annotation, exc.problem)
        else:
            known = compile_rules(written, settings, compile_settings)
        settings.compiled.put(key, known, 2 * weight_of(key))
    if isinstance(known, _Unreadable):
        raise AnnotationError(known.annotation, known.problem)
    return known


def carried(
    pod: LivePod,
    settings: Settings,
    compile_settings: CompileSettings,
    remembered: Collection[str] = (),
) -> Carried:
    """What a pod carries; AnnotationError if its rules cannot be read.

    `remembered` are keys that are known to be guarded, should somebody have edited the record.
    """
    extended = extended_of(pod, settings, compile_settings)
    written, record = tolerations_of(pod), record_of(pod, settings)
    guards = guards_among(written, record, remembered)
    places = frozenset(guards.values())
    own = [each for n, each in enumerate(written) if is_plain(each) and n not in places]
    grace, said = _grace(pod, settings, compile_settings)
    if record.problem:
        said = (*said, Note(notes.RULE_INVALID, record.problem))
    return Carried(
        tolerations=written,
        guards=guards,
        record=record,
        own=taints.compile_tolerations(own, settings.gates, settings.programs, set()),
        extended=extended,
        grace=grace,
        notes=said,
    )


def guards_among(
    written: tuple[Toleration, ...], record: Record, remembered: Collection[str] = ()
) -> Mapping[str, int]:
    """The places of the guards, by key."""
    return {
        each.key: place for place, each in enumerate(written) if is_guard(each, record, remembered)
    }


def record_of(pod: LivePod, settings: Settings) -> Record:
    """What the record says."""
    name = settings.annotation_prefix + annotations.GUARDED_KEYS
    text = (pod.metadata.annotations or {}).get(name)
    if text is None:
        return Record()
    if len(text) > MAX_RECORD:
        return Record(text=text, problem=f"pod annotation {name} is invalid: it is too long")
    try:
        return Record(_RECORD.decode(text), text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        problem = f"pod annotation {name} is invalid: it is not a list of keys"
        return Record(text=text, problem=problem)


def _grace(
    pod: LivePod, settings: Settings, compile_settings: CompileSettings
) -> tuple[int, tuple[Note, ...]]:
    """For how long a guard lets a pod stay, and what is wrong with what the pod says of it."""
    name = settings.annotation_prefix + annotations.EVICTION_GRACE
    text = (pod.metadata.annotations or {}).get(name)
    if text is None:
        return compile_settings.no_execute_grace, ()
    seconds = integers.canonical(text)
    if seconds is None or not 0 <= seconds <= MAX_GRACE:
        default = compile_settings.no_execute_grace
        message = (
            f"pod annotation {name} is invalid: it must be a whole number from 0 to {MAX_GRACE};"
            f" the default of {default} s applies"
        )
        return default, (Note(notes.GRACE_INVALID, message),)
    return seconds, ()
