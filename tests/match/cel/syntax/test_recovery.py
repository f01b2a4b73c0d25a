import pytest

from extender.match.cel.syntax.lexer import tokenize
from extender.match.cel.syntax.recovery import TokenStream
from extender.match.cel.syntax.source import HaltError, Source
from tests.match.cel.outlines import complaints

AB = frozenset({"(", ")"})
NAME = frozenset({"IDENTIFIER"})


def stream_of(text: str) -> TokenStream:
    return TokenStream(*tokenize(Source(text)))


def said(stream: TokenStream) -> list[str]:
    return [issue.message.removeprefix("Syntax error: ") for issue in stream.issues]


def test_a_token_too_many_is_deleted() -> None:
    stream = stream_of("% ) a")

    taken = stream.match(")", "here", NAME)

    assert taken is not None
    assert taken.offset == 2
    assert (stream.kind, stream.failed) == ("IDENTIFIER", "")
    assert said(stream) == ["extraneous input '%' expecting ')'"]


def test_a_missing_token_is_made_up() -> None:
    stream = stream_of("a b")

    taken = stream.match(")", "here", NAME)

    assert taken is not None
    assert (taken.kind, taken.text) == (")", "<missing ')'>")
    assert stream.kind == "IDENTIFIER"
    assert said(stream) == ["missing ')' at 'a'"]


def test_after_a_fault_nothing_matches_until_recovery() -> None:
    stream = stream_of("% % ( )")

    assert stream.match("(", "here", NAME) is None
    assert stream.failed == "here"
    assert stream.match("%", "there", NAME) is None
    assert not stream.accept("%")
    stream.sync(AB, "there")
    stream.recover(AB)

    assert (stream.kind, stream.failed) == ("(", "")
    assert said(stream) == ["mismatched input '%' expecting '('"]


def test_recovery_stops_at_what_may_follow_an_open_rule() -> None:
    stream = stream_of("% % , a")
    stream.contexts.append(frozenset({","}))

    stream.require(AB, "here")
    stream.recover()

    assert stream.kind == ","


def test_a_consequence_of_a_fault_is_not_reported() -> None:
    stream = stream_of("% % a ( %")
    stream.require(AB, "here")
    stream.recover(NAME)

    stream.require(AB, "consequence")
    stream.recover(AB)
    assert stream.accept("(")
    stream.require(AB, "again")

    assert said(stream) == [
        "mismatched input '%' expecting {'(', ')'}",
        "mismatched input '%' expecting {'(', ')'}",
    ]


def test_the_same_fault_at_the_same_place_is_skipped() -> None:
    stream = stream_of("a % a %")
    for _ in range(2):
        stream.mismatch(AB, "here")
        stream.recover(NAME)

    assert stream.token.offset == 4


def test_a_loop_skips_to_its_next_turn() -> None:
    stream = stream_of("% % (")

    stream.resync(AB)
    stream.resync(NAME)

    assert stream.kind == "("
    assert said(stream) == ["extraneous input '%' expecting {'(', ')'}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (". x", "no viable alternative at input '. x'"),
        (".", "no viable alternative at input '.'"),
        (".# //y\n'\t'", "no viable alternative at input '. //y\\n'\\t''"),
        (".null", "mismatched input 'null' expecting IDENTIFIER"),
    ],
)
def test_a_dead_end_is_shown_with_what_led_to_it(text: str, expected: str) -> None:
    stream = stream_of(text)

    stream.no_alternative("here")

    assert said(stream)[-1] == expected


def test_unreadable_text_comes_up_when_it_is_passed() -> None:
    stream = stream_of("# a # b # c")
    seen = [len(stream.issues)]
    for ahead in range(3):
        stream.peek(ahead)
        seen.append(len(stream.issues))

    assert seen == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "x " * 300,
            [
                "-1:0: error recovery token lookahead limit exceeded: 256",
                "1:3: mismatched input 'x' expecting <EOF>",
            ],
            id="too much to skip",
        ),
        pytest.param(
            "(" * 50,
            [
                "1:51: mismatched input '<EOF>' expecting OPERAND",
                "1:51: error recovery attempt limit exceeded: 30",
            ],
            id="too many attempts",
        ),
        pytest.param(
            "#" * 150,
            [f"1:{n}: token recognition error at: '#'" for n in range(1, 101)]
            + ["1 more errors were truncated"],
            id="too much that is unreadable",
        ),
    ],
)
def test_recovery_has_limits(text: str, expected: list[str]) -> None:
    assert complaints(text) == expected


def test_a_limit_ends_the_parse_at_once() -> None:
    stream = stream_of("#" * 101)

    with pytest.raises(HaltError, match="More than 100 syntax errors"):
        stream.peek(0)
