import pytest

from extender.match import operators
from extender.review import version_pitfalls

KERNEL = "node.example/kernel-version"
KUBELET = "node.example/kubelet-version"


def warned(key: str, operator: str, value: str) -> list[str]:
    return list(version_pitfalls.of_value(key, operators.TOLERATION[operator], value))


@pytest.mark.parametrize(
    ("key", "operator", "value"),
    [
        pytest.param(KUBELET, "SemverGt", "1.30.0", id="a release"),
        pytest.param(KUBELET, "SemverGt", "1.31.0-rc.1", id="a release candidate"),
        pytest.param(KUBELET, "SemverGt", "1.31.0-alpha3", id="an alpha"),
        pytest.param(KERNEL, "SemverGt", "5.15.0-0", id="the way out"),
        pytest.param(KERNEL, "SemverGt", "5.x", id="no version"),
        pytest.param(KUBELET, "SemverLt", "0.0.1", id="a low one"),
    ],
)
def test_ordinary_versions_are_not_warned_about(key: str, operator: str, value: str) -> None:
    assert warned(key, operator, value) == []


@pytest.mark.parametrize("operator", ["SemverGt", "SemverLt", "SemverEq"])
def test_a_build_is_not_compared(operator: str) -> None:
    assert warned(KUBELET, operator, "v1.31.2+k3s1") == [
        "no label or taint can spell 1.31.2+k3s1, and what follows the + is not compared: write"
        " 1.31.2"
    ]


@pytest.mark.parametrize("operator", ["SemverGt", "SemverLt", "SemverEq"])
def test_the_suffix_of_a_distribution_is_a_pre_release(operator: str) -> None:
    assert warned(KERNEL, operator, "v5.15.0-91-generic") == [
        "5.15.0-91-generic is a pre-release: it is below 5.15.0, and its suffix is compared as"
        " text; 5.15.0-0 is below every build of 5.15.0"
    ]


@pytest.mark.parametrize("operator", ["SemverGt", "SemverLt"])
def test_kernels_have_suffixes(operator: str) -> None:
    assert warned(KERNEL, operator, "5.15") == [
        "a kernel such as 5.15.0-91-generic is a pre-release, below 5.15.0: write 5.15.0-0 to"
        " compare with every build of 5.15.0"
    ]


def test_no_kernel_equals_a_release() -> None:
    assert warned(KERNEL, "SemverEq", "5.15.0") == [
        "a kernel such as 5.15.0-91-generic is a pre-release, below 5.15.0: use SemverGt 5.15.0-0"
        " and SemverLt 5.15.1-0 in one term"
    ]


@pytest.mark.parametrize("value", ["1.2.3-rc-", "1.2.3-" + "a" * 60])
def test_what_no_label_can_spell(value: str) -> None:
    (warning,) = warned(KUBELET, "SemverEq", value)

    assert warning.startswith("no label or taint can spell 1.2.3-")
    assert len(warning) < 180


def test_below_the_first_version() -> None:
    assert warned(KUBELET, "SemverLt", "0.0.0-0") == [
        "no version is below 0.0.0-0, so this never matches: use a later one"
    ]
