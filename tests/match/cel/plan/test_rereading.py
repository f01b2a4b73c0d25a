"""What becomes of optionals that are read out of a variable."""

import pytest

from tests.match.cel.evaluating import answered


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "[optional.of(taint.key)].map(o, o.value())[0] == taint.key", True, 35, id="text"
        ),
        pytest.param(
            "[optional.of(type(1))].map(o, dyn(o.value()) == 'int')[0]",
            True,
            30,
            id="a type is its name then",
        ),
        pytest.param(
            "[optional.of(optional.of(1))].map(o, dyn(o.value()) == 1)[0]",
            True,
            31,
            id="an optional inside is gone",
        ),
        pytest.param("[optional.none()].map(o, o.hasValue())[0]", False, 28, id="nothing"),
        pytest.param(
            "[optional.of(semver('1.2.3'))].map(o, o.value().major())[0] == 1",
            "unsupported conversion to ref.Val: (semver.Version)",
            30,
            id="a version cannot come back",
        ),
        pytest.param(
            "[optional.of(semver('1.2.3'))].map(o, o.hasValue())[0]",
            True,
            29,
            id="a version is there though",
        ),
        pytest.param(
            "[optional.of(ip('10.0.0.1'))].map(o, o.value().family())[0] == 4",
            "unsupported conversion to ref.Val: (netip.Addr)",
            30,
            id="an address",
        ),
        pytest.param(
            "[optional.of(cidr('10.0.0.0/8'))].map(o, o.value().prefixLength())[0] == 8",
            "unsupported conversion to ref.Val: (netip.Prefix)",
            30,
            id="a network",
        ),
        pytest.param(
            "[optional.of(url('https://example.com/a?b=c'))].map(o, o.value().getHost())[0] == ''",
            "unsupported conversion to ref.Val: (*url.URL)",
            31,
            id="a URL",
        ),
        pytest.param(
            "[optional.of(quantity('1.5Gi'))].map(o, o.value().isInteger())[0]",
            "unsupported conversion to ref.Val: (*resource.Quantity)",
            29,
            id="a quantity",
        ),
        pytest.param(
            "(true ? optional.of(semver('1.2.3')) : optional.none()).value().major() == 1",
            "unsupported conversion to ref.Val: (semver.Version)",
            5,
            id="a choice is read, too",
        ),
    ],
)
def test_an_optional_that_is_read(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "(taint.key == '' ? optional.none() : format.named('uri')).value() == format.uri()",
            True,
            6,
            id="out of an alternative",
        ),
        pytest.param(
            "[format.named('uuid')].map(f, f.value().validate(taint.value).hasValue())[0]",
            True,
            49,
            id="out of a loop",
        ),
    ],
)
def test_a_format_comes_back_as_it_was(expression: str, answer: bool | str, cost: int) -> None:
    assert answered(expression) == (answer, cost)


@pytest.mark.parametrize(
    ("expression", "answer", "cost"),
    [
        pytest.param(
            "optional.of(1).optFlatMap(a, optional.of(2).optMap(b, semver('1.2.3'))).value()"
            ".major() == 1",
            "unsupported conversion to ref.Val: (*errors.errorString)",
            9,
            id="a version",
        ),
    ],
)
def test_what_could_not_come_back_does_not_the_second_time(
    expression: str, answer: bool | str, cost: int
) -> None:
    assert answered(expression) == (answer, cost)
