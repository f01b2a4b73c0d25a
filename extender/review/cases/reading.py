"""Reads a RuleTest, and collects every problem with its path."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from extender.cluster import manifests
from extender.config import loading, reading
from extender.config.reading import Reader
from extender.errors import ConfigError
from extender.model.documents import Plain
from extender.model.positions import Path, Places
from extender.review.cases.schema import (
    API_VERSION,
    KIND,
    MAX_SCORE,
    Case,
    ConfigurationSource,
    Expected,
    PodSource,
    RuleTest,
    Source,
)
from extender.review.explain.templates import TEMPLATES

_NO_POD: Final = PodSource("")
_EXPECTATIONS: Final = ("passes", "refused", "scores", "fix")
# The keys of an ExtenderConfiguration that change verdicts.
_JUDGING: Final = ("annotationPrefix", "featureGates", "noExecute", "profiles", "reasons")


def is_rule_test(document: Plain) -> bool:
    """Whether a document wants to be a RuleTest."""
    return isinstance(document, dict) and document.get("kind") == KIND


def read(document: Mapping[str, Plain]) -> tuple[RuleTest, list[str]]:
    """The RuleTest, and every problem as `path: what`; with problems, do not judge it."""
    problems: list[str] = []
    if document.get("apiVersion") != API_VERSION:
        problems.append(f"apiVersion: must be {API_VERSION}")
    root = Reader(document, problems, flags={})
    root.known("apiVersion", "kind")
    metadata = root.section("metadata")
    name = metadata.value("name", "", reading.text)
    metadata.finish()
    shared = _Shared(
        (*_sources(document, root, "", "nodes"), *_sources(document, root, "", "objects")),
        tuple(_configuration(root, "")),
    )
    cases: list[Case] = []
    listed = document.get("cases")
    items = listed if isinstance(listed, list) else []
    mappings = [n for n, item in enumerate(items) if isinstance(item, dict)]
    for number, section in zip(mappings, root.sections("cases"), strict=True):
        item = items[number]
        case = _case(item if isinstance(item, dict) else {}, section, number, shared)
        if case.name and any(case.name == each.name for each in cases):
            section.problem("name", f"{case.name!r} is the name of another case: choose another")
        cases.append(case)
    if not items and (listed is None or isinstance(listed, list)):
        root.problem("cases", "is missing: list at least one case")
    root.finish()
    return RuleTest(name, tuple(cases)), problems


def lines_of(places: Places) -> Mapping[str, int]:
    """The line of each path, as problems name it."""
    return {_text_of(path): place.line for path, place in places.items()}


def line_of(lines: Mapping[str, int], path: str) -> int | None:
    """The line of a path, or of the nearest parent that has one."""
    while path and path not in lines:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return lines.get(path)


@dataclass(frozen=True, slots=True)
class _Shared:
    """What a document says for all of its cases."""

    objects: tuple[Source, ...]
    configuration: tuple[ConfigurationSource, ...]


def _case(item: Mapping[str, Plain], section: Reader, number: int, shared: _Shared) -> Case:
    path = f"cases[{number}]"
    name = section.value("name", "", reading.text)
    if "name" not in section:
        section.problem("name", "is missing: say in a few words what the case shows")
    pod = section.value("pod", _NO_POD, lambda raw: _pod(raw, f"{path}.pod"))
    if "pod" not in section:
        section.problem("pod", "is missing: give a file, or a Pod or workload itself")
    case = Case(
        path=path,
        name=name,
        pod=pod,
        objects=(
            *shared.objects,
            *_sources(item, section, path, "nodes"),
            *_sources(item, section, path, "objects"),
        ),
        configuration=(*shared.configuration, *_configuration(section, path)),
        expected=_expected(item, section),
    )
    section.finish()
    return case


def _expected(item: Mapping[str, Plain], case: Reader) -> Expected:
    section = case.section("expect")
    raw = item.get("expect")
    said = raw if isinstance(raw, dict) else {}
    passes: tuple[str, ...] | None = section.value("passes", None, reading.texts)
    expected = Expected(
        passes=passes,
        refused={
            node: inner.value(node, "", reading.text)
            for node, inner in _entries(said, section, "refused")
        },
        scores=_scores(said, section),
        fix=section.value("fix", None, reading.text),
    )
    section.finish()
    # An empty list expects that no node passes, but an empty mapping expects nothing.
    if isinstance(raw, dict | None) and all(said.get(key) in (None, {}) for key in _EXPECTATIONS):
        case.problem("expect", "is missing: expect at least one of passes, refused, scores, fix")
    return expected


def _scores(said: Mapping[str, Plain], section: Reader) -> Mapping[str, int]:
    scores = {}
    for node, inner in _entries(said, section, "scores"):
        score = inner.value(node, None, reading.integer(0, MAX_SCORE))
        if score is not None:
            scores[node] = score
        elif node not in inner:
            inner.problem(node, f"is missing: give a number from 0 to {MAX_SCORE}")
    return scores


def _entries(said: Mapping[str, Plain], section: Reader, key: str) -> Iterator[tuple[str, Reader]]:
    """The keys of a mapping that a user chooses, each with the reader of the mapping."""
    inner = section.section(key)
    entries = said.get(key)
    for name in entries if isinstance(entries, dict) else ():
        yield name, inner


def _sources(item: Mapping[str, Plain], section: Reader, path: str, key: str) -> tuple[Source, ...]:
    """The files and objects under `nodes` or `objects`; an object under `nodes` is a Node."""
    section.known(key)
    raw = item.get(key)
    if raw is None:
        return ()
    if not isinstance(raw, list):
        section.problem(key, "must be a list of files and objects")
        return ()
    at = f"{path}.{key}" if path else key
    found: list[Source] = []
    for number, each in enumerate(raw):
        place = f"{at}[{number}]"
        problem = _wrong_source(each, key)
        if problem:
            section.problem(f"{key}[{number}]", problem)
        elif isinstance(each, dict):
            found.append(Source(place, item={"kind": "Node", **each} if key == "nodes" else each))
        else:
            found.append(Source(place, file=str(each)))
    return tuple(found)


def _wrong_source(raw: Plain, key: str) -> str:
    """What is wrong with an entry of `nodes` or `objects`; empty if nothing is."""
    match raw:
        case dict() if key == "nodes":
            wrong = raw.get("kind", "Node") != "Node"
            return "is not a Node: move it to objects" if wrong else ""
        case dict():
            known = (*manifests.KINDS, "List")
            kind = raw.get("kind")
            return "" if kind in known else f"kind must be one of {', '.join(known)}, not {kind!r}"
        case str() if raw:
            return ""
        case _:
            return "must be the name of a file, or an object"


def _configuration(section: Reader, path: str) -> Iterator[ConfigurationSource]:
    """The keys of an ExtenderConfiguration that change verdicts, each checked by its own reader."""
    inner = section.section("configuration")
    given = {key: inner.value(key, None, _as_it_is) for key in _JUDGING}
    inner.finish()
    data = {key: value for key, value in given.items() if value is not None}
    try:
        loading.from_data({"apiVersion": loading.API_VERSION, "kind": loading.KIND, **data})
    except ConfigError as exc:
        for problem in exc.problems:
            field, _, what = problem.partition(": ")
            inner.problem(field, what)
    if data:
        yield ConfigurationSource(f"{path}.configuration" if path else "configuration", data)


def _as_it_is(raw: Plain) -> Plain:
    return raw


def _pod(raw: Plain, path: str) -> PodSource:
    if isinstance(raw, str):
        return PodSource(path, file=reading.text(raw))
    if not isinstance(raw, dict):
        raise ValueError("must be a file, or a Pod or workload itself")  # noqa: TRY004
    if "file" in raw and "kind" not in raw:
        unknown = sorted(raw.keys() - {"file", "name"})
        if unknown:
            raise ValueError(f"unknown key {unknown[0]!r}; known here: file, name")
        name = raw.get("name")
        return PodSource(
            path,
            file=reading.text(raw.get("file")),
            name="" if name is None else reading.text(name),
        )
    if raw.get("kind") not in TEMPLATES:
        raise ValueError(f"kind must be one of {', '.join(TEMPLATES)}, not {raw.get('kind')!r}")
    return PodSource(path, item=raw)


def _text_of(path: Path) -> str:
    """A path as problems name it."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
