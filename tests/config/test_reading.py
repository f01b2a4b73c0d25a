"""Single values of the file, and what is said of bad ones."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from extender.config import reading
from extender.config.reading import Reader
from extender.config.schema import Address
from extender.model.core_v1 import Taint

Read = Callable[[Any], Any]


@pytest.mark.parametrize(
    ("read", "raw", "expected"),
    [
        pytest.param(reading.text, "a", "a", id="text"),
        pytest.param(reading.texts, ["a", "b"], ("a", "b"), id="texts"),
        pytest.param(reading.texts, [], (), id="no texts"),
        pytest.param(reading.boolean, False, False, id="false"),
        pytest.param(reading.integer(1, 5), 5, 5, id="the highest number"),
        pytest.param(reading.integer(1, 5), 1, 1, id="the lowest number"),
        pytest.param(reading.one_of("a", "b"), "b", "b", id="a word"),
        pytest.param(reading.duration, "20s", 20.0, id="seconds"),
        pytest.param(reading.duration, "50ms", 0.05, id="milliseconds"),
        pytest.param(reading.duration, "1h2m3s4ms", 3723.004, id="every unit"),
        pytest.param(reading.duration, "5m", 300.0, id="minutes, not milliseconds"),
        pytest.param(reading.duration, "0s", 0.0, id="no seconds"),
        pytest.param(reading.duration, 0, 0.0, id="a bare 0"),
        pytest.param(reading.duration, "0", 0.0, id="a bare 0 as text"),
        pytest.param(reading.positive_duration, "1ms", 0.001, id="a millisecond"),
        pytest.param(reading.annotation_prefix, "example.org/", "example.org/", id="a prefix"),
        pytest.param(reading.whole_seconds(60), "1m", 60, id="as many seconds as allowed"),
        pytest.param(reading.whole_seconds(60), "1000ms", 1, id="a second in milliseconds"),
        pytest.param(reading.whole_seconds(60), 0, 0, id="no whole seconds"),
        pytest.param(reading.dns_name, "a.b-c", "a.b-c", id="a name of an object"),
        pytest.param(reading.namespace, "a" * 63, "a" * 63, id="a long namespace"),
        pytest.param(
            reading.taints,
            ["sla=990:NoSchedule", "example.org/a=:PreferNoSchedule", "b:NoExecute"],
            (
                Taint("sla", "990", "NoSchedule"),
                Taint("example.org/a", "", "PreferNoSchedule"),
                Taint("b", "", "NoExecute"),
            ),
            id="taints with each effect",
        ),
        pytest.param(
            reading.taint_keys, ["a", "b.c/d", "b.c/"], ("a", "b.c/d", "b.c/"), id="taint keys"
        ),
        pytest.param(reading.address, "127.0.0.1:8888", Address("127.0.0.1", 8888), id="IPv4"),
        pytest.param(reading.address, "[::1]:0", Address("::1", 0), id="IPv6 in brackets"),
        pytest.param(reading.address, "localhost:65535", Address("localhost", 65535), id="a name"),
    ],
)
def test_good_values(read: Read, raw: object, expected: object) -> None:
    assert read(raw) == expected


DURATION = "must be a duration such as 20s or 50ms, not "
PREFIX = "must be a DNS name and a slash, such as scheduling.leeway/, not "
SECONDS = "must be whole seconds from 0s to 60s, not "
NAME = "must be a DNS name, such as leeway-controller, not "
NAMESPACE = "must be the name of a namespace, such as leeway, not "
TAINT = "must be key=value:Effect or key:Effect, not "
EFFECTS = "NoExecute, NoSchedule, PreferNoSchedule"
KEY = "must be a taint key, or a prefix that ends in /, not "
ADDRESS = "must be HOST:PORT, such as 127.0.0.1:8888, not "


@pytest.mark.parametrize(
    ("read", "raw", "says"),
    [
        pytest.param(reading.text, 5, "must be text, not a number", id="a number for text"),
        pytest.param(reading.text, "", "must not be empty", id="empty text"),
        pytest.param(reading.text, 1.5, "must be text, not a number", id="a fraction for text"),
        pytest.param(reading.text, True, "must be text, not true or false", id="true for text"),
        pytest.param(reading.text, [], "must be text, not a list", id="a list for text"),
        pytest.param(reading.text, {}, "must be text, not a mapping", id="a mapping for text"),
        pytest.param(reading.texts, "a", "must be a list, not text", id="text for texts"),
        pytest.param(reading.texts, ["a", 1], "must be text, not a number", id="one bad text"),
        pytest.param(reading.boolean, "yes", "must be true or false, not text", id="yes"),
        pytest.param(reading.boolean, 1, "must be true or false, not a number", id="1 for true"),
        pytest.param(
            reading.integer(1, 5), "3", "must be a whole number, not text", id="text for a number"
        ),
        pytest.param(
            reading.integer(1, 5),
            True,
            "must be a whole number, not true or false",
            id="true for a number",
        ),
        pytest.param(
            reading.integer(1, 5), 1.5, "must be a whole number, not a number", id="a fraction"
        ),
        pytest.param(reading.integer(1, 5), 6, "must be from 1 to 5, not 6", id="too high"),
        pytest.param(reading.integer(1, 5), 0, "must be from 1 to 5, not 0", id="too low"),
        pytest.param(reading.one_of("a", "b"), "c", "must be a or b, not 'c'", id="another word"),
        pytest.param(reading.one_of("a", "b"), 1, "must be a or b, not 1", id="no word"),
        pytest.param(reading.duration, "20", DURATION + "'20'", id="no unit"),
        pytest.param(reading.duration, 20, DURATION + "20", id="a number"),
        pytest.param(reading.duration, "", DURATION + "''", id="an empty duration"),
        pytest.param(reading.duration, "-5s", DURATION + "'-5s'", id="negative"),
        pytest.param(reading.duration, "1.5s", DURATION + "'1.5s'", id="fractions"),
        pytest.param(reading.duration, "5 s", DURATION + "'5 s'", id="a space"),
        pytest.param(reading.duration, "\u0665s", None, id="digits of another script"),
        pytest.param(reading.duration, False, DURATION + "False", id="false for a duration"),
        pytest.param(reading.positive_duration, "0s", "must be above zero", id="zero"),
        pytest.param(
            reading.annotation_prefix, "example.org", PREFIX + "'example.org'", id="no slash"
        ),
        pytest.param(
            reading.annotation_prefix, "Not DNS/", PREFIX + "'Not DNS/'", id="no DNS name"
        ),
        pytest.param(reading.annotation_prefix, "/", PREFIX + "'/'", id="a slash alone"),
        pytest.param(reading.annotation_prefix, "a/b/", PREFIX + "'a/b/'", id="two slashes"),
        pytest.param(reading.annotation_prefix, "", "must not be empty", id="an empty prefix"),
        pytest.param(reading.whole_seconds(60), "61s", SECONDS + "'61s'", id="too many seconds"),
        pytest.param(reading.whole_seconds(60), "1s1ms", SECONDS + "'1s1ms'", id="no whole second"),
        pytest.param(reading.whole_seconds(60), 30, DURATION + "30", id="seconds without a unit"),
        pytest.param(reading.dns_name, "Lease", NAME + "'Lease'", id="a capital in a name"),
        pytest.param(reading.dns_name, "a/b", NAME + "'a/b'", id="a slash in a name"),
        pytest.param(reading.dns_name, "a" * 254, None, id="a name of 254 characters"),
        pytest.param(reading.namespace, "a.b", NAMESPACE + "'a.b'", id="a dot in a namespace"),
        pytest.param(reading.namespace, "a" * 64, None, id="a namespace of 64 characters"),
        pytest.param(reading.taints, "a:NoExecute", "must be a list, not text", id="one taint"),
        pytest.param(reading.taints, ["a"], TAINT + "'a'", id="a taint without effect"),
        pytest.param(reading.taints, [":NoExecute"], TAINT + "':NoExecute'", id="no taint key"),
        pytest.param(
            reading.taints, ["-a:NoExecute"], TAINT + "'-a:NoExecute'", id="no key of a label"
        ),
        pytest.param(
            reading.taints, ["a=b c:NoExecute"], TAINT + "'a=b c:NoExecute'", id="no label value"
        ),
        pytest.param(
            reading.taints,
            ["a=b:Evict"],
            f"unknown effect 'Evict' in 'a=b:Evict'; known: {EFFECTS}",
            id="no effect of Kubernetes",
        ),
        pytest.param(reading.taint_keys, ["a", "b.c/*"], KEY + "'b.c/*'", id="a star in a key"),
        pytest.param(reading.taint_keys, ["/"], KEY + "'/'", id="a prefix of nothing"),
        pytest.param(reading.address, "8888", ADDRESS + "'8888'", id="a port alone"),
        pytest.param(reading.address, ":8888", ADDRESS + "':8888'", id="no host"),
        pytest.param(reading.address, "host:", ADDRESS + "'host:'", id="no port"),
        pytest.param(reading.address, "host:http", ADDRESS + "'host:http'", id="a named port"),
        pytest.param(reading.address, "host:65536", ADDRESS + "'host:65536'", id="a high port"),
        pytest.param(reading.address, "host:-1", ADDRESS + "'host:-1'", id="a negative port"),
        pytest.param(reading.address, "host:\u0665", None, id="a foreign digit"),
        pytest.param(reading.address, "::1:80", ADDRESS + "'::1:80'", id="IPv6 bare"),
        pytest.param(reading.address, "[]:80", ADDRESS + "'[]:80'", id="empty brackets"),
        pytest.param(reading.address, 8888, "must be text, not a number", id="no text"),
        pytest.param(reading.address, "host:" + "9" * 5000, None, id="a port of 5,000 digits"),
    ],
)
def test_bad_values(read: Read, raw: object, says: str | None) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(says)}$" if says else "."):
        read(raw)


def test_a_problem_has_the_path_of_its_key() -> None:
    problems: list[str] = []
    root = Reader({"a": {"b": [{"c": 1}, 5]}}, problems, flags={})
    for section in root.section("a").sections("b"):
        section.value("c", "", reading.text)
        section.finish()
    root.finish()

    assert problems == [
        "a.b[0].c: must be text, not a number",
        "a.b[1]: must be a mapping, not a number",
    ]


def test_a_problem_of_a_flag_names_the_flag() -> None:
    problems: list[str] = []
    root = Reader({"a": {"b": 5}}, problems, flags={"a.b": "--a-b"})
    root.section("a").value("b", "", reading.text)

    assert problems == ["--a-b: must be text, not a number"]


def test_keys_that_nobody_asked_for_are_unknown() -> None:
    problems: list[str] = []
    root = Reader({"a": 1, "typo": 2, "b": None}, problems, flags={})
    root.value("a", 0, reading.integer(0, 9))
    known = "b" in root
    root.finish()

    assert not known
    assert problems == ["typo: unknown key; known here: a, b"]


def test_a_null_value_is_an_absent_one() -> None:
    problems: list[str] = []
    root = Reader({"a": None, "b": None, "c": None}, problems, flags={})

    assert root.value("a", 7, reading.integer(0, 9)) == 7
    assert list(root.sections("b")) == []
    root.section("c").finish()
    assert problems == []


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        pytest.param([], "a: must be a mapping, not a list", id="a list"),
        pytest.param("x", "a: must be a mapping, not text", id="text"),
    ],
)
def test_a_section_that_is_no_mapping(raw: Any, says: str) -> None:
    problems: list[str] = []
    Reader({"a": raw}, problems, flags={}).section("a")

    assert problems == [says]
