import msgspec
import pytest

from extender.errors import SelectorError
from extender.match import label_selectors
from extender.match.label_selectors import Selector
from extender.model.core_v1 import LabelSelector
from tests.builders import JSON


def compiled(written: JSON | None) -> Selector:
    return label_selectors.compile_selector(
        None if written is None else msgspec.convert(written, LabelSelector)
    )


def expression(key: str, operator: str, *values: str) -> JSON:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


WEB = {"app": "web", "tier": "front"}


@pytest.mark.parametrize(
    ("written", "labels", "matches", "counts"),
    [
        pytest.param(None, WEB, False, False, id="no selector selects nothing"),
        pytest.param({}, WEB, True, False, id="an empty one everything, and counts nothing"),
        pytest.param({"matchLabels": {"app": "web"}}, WEB, True, True, id="a label"),
        pytest.param({"matchLabels": {"app": "db"}}, WEB, False, False, id="another value"),
        pytest.param({"matchLabels": {"app": "web"}}, {}, False, False, id="no labels"),
        pytest.param(expression("app", "In", "db", "web"), WEB, True, True, id="In"),
        pytest.param(expression("app", "In", "db"), WEB, False, False, id="not In"),
        pytest.param(expression("x", "In", "db"), WEB, False, False, id="In without the label"),
        pytest.param(expression("app", "NotIn", "db"), WEB, True, True, id="NotIn"),
        pytest.param(expression("app", "NotIn", "web"), WEB, False, False, id="not NotIn"),
        pytest.param(expression("x", "NotIn", "web"), WEB, True, True, id="NotIn without it"),
        pytest.param(expression("app", "Exists"), WEB, True, True, id="Exists"),
        pytest.param(expression("x", "Exists"), WEB, False, False, id="not there"),
        pytest.param(expression("x", "DoesNotExist"), WEB, True, True, id="DoesNotExist"),
        pytest.param(expression("app", "DoesNotExist"), WEB, False, False, id="but it does"),
        pytest.param(
            {"matchLabels": {"app": "web"}} | expression("tier", "In", "back"),
            WEB,
            False,
            False,
            id="all must hold",
        ),
    ],
)
def test_who_is_meant(
    written: JSON | None, labels: dict[str, str], matches: bool, counts: bool
) -> None:
    selector = compiled(written)

    assert (selector.matches(labels), selector.counts(labels)) == (matches, counts)


def test_selectors_that_mean_the_same_are_equal() -> None:
    one = {"matchLabels": {"a": "1"}} | expression("b", "In", "y", "x", "x")
    other = {
        "matchExpressions": [
            {"key": "b", "operator": "In", "values": ["x", "y"]},
            {"key": "a", "operator": "In", "values": ["1"]},
        ]
    }

    assert compiled(one) == compiled(other)
    assert hash(compiled(one)) == hash(compiled(other))
    assert compiled(one) != compiled({})


def test_exact_labels_come_on_top() -> None:
    selector = compiled({"matchLabels": {"app": "web"}}).also({"hash": "1"})

    assert selector.matches({"app": "web", "hash": "1"})
    assert not selector.matches({"app": "web", "hash": "2"})
    assert compiled({}).also({"hash": "1"}).counts({"hash": "1"})
    assert compiled({}).also({}) == compiled({})
    # Upstream: nothing stays nothing.
    assert not compiled(None).also({"hash": "1"}).matches({"hash": "1"})


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        pytest.param(
            expression("app", "Like", "x"),
            '"Like" is not a valid label selector operator',
            id="an unknown operator",
        ),
        pytest.param(
            expression("app", "In"),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
            id="In without values",
        ),
        pytest.param(
            expression("app", "Exists", "x"),
            "values: Invalid value: values set must be empty for exists and does not exist",
            id="Exists with values",
        ),
        pytest.param(
            expression("a b", "Exists"),
            'key: Invalid value: "a b": not a label key',
            id="an illegal key",
        ),
        pytest.param(
            {"matchLabels": {"app": "-x"}},
            'values: Invalid value: "-x": not a label value',
            id="an illegal value",
        ),
    ],
)
def test_what_is_malformed_is_refused_as_a_whole(written: JSON, problem: str) -> None:
    with pytest.raises(SelectorError) as caught:
        compiled(
            {"matchLabels": {"good": "yes"}} | written if "matchLabels" not in written else written
        )
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("", "abc"),
        ("app=web", "a"),
        ("app==web", "a"),
        (" app = web , tier ", "a"),
        ("app!=web", "bc"),
        ("app in (web, db)", "ab"),
        ("app in(web)", "a"),
        ("app notin (web,db)", "c"),
        ("tier", "a"),
        ("!tier", "bc"),
        ("! app", "c"),
        ("tier=", "a"),
        ("app=db,!tier", "b"),
    ],
)
def test_a_selector_of_the_command_line(text: str, chosen: str) -> None:
    pods = {"a": {"app": "web", "tier": ""}, "b": {"app": "db"}, "c": {}}
    selector = label_selectors.parse(text)

    assert "".join(name for name, labels in pods.items() if selector.matches(labels)) == chosen


@pytest.mark.parametrize(
    "text",
    ["=web", "app web", "app>1", "app=web,", "a,,b", "in (a)", "app in web", "!app=web", "!", ","],
)
def test_a_selector_of_the_command_line_that_is_none(text: str) -> None:
    with pytest.raises(SelectorError, match="is not a label selector: write KEY=VALUE"):
        label_selectors.parse(text)


def test_keys_and_values_of_the_command_line_are_checked() -> None:
    with pytest.raises(SelectorError, match="not a label value"):
        label_selectors.parse("app=-x")
    with pytest.raises(SelectorError, match="not a label key"):
        label_selectors.parse("a/b/c")
