"""A page into which no text of others gets unescaped."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.review import html
from extender.review.html import Markup, tag

EVIL = "</td><script>alert(1)</script>\"' onload=x &lt;\u202e\x00\n"


class Reading(HTMLParser):
    """What a browser makes of it: elements, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


@given(text=st.text(), value=st.text())
def test_text_and_attributes_stay_what_they_are(text: str, value: str) -> None:
    read = Reading(str(tag("p", text, tag("b", text), title=value)))

    assert read.tags == ["p", "b"]
    assert read.attributes == [("title", html.visible(value))]
    assert read.text == html.visible(text) * 2


def test_an_evil_text_is_a_text() -> None:
    page = html.document(EVIL, [html.style("b{}")], [tag("main", EVIL)])
    read = Reading(page)

    assert "script" not in read.tags
    assert page.isascii()
    assert "\\u202e" in read.text
    assert "\\x00" in read.text


def test_children_may_be_lists_and_absent() -> None:
    made = tag("ul", [tag("li", "a"), None, tag("li", "b")], None, "c", class_="x", data_name=None)

    assert str(made) == '<ul class="x"><li>a</li><li>b</li>c</ul>'
    assert str(tag("br")) == "<br>"
    assert str(tag("td", data_name="a b")) == '<td data-name="a b"></td>'


def test_what_cannot_be_escaped_is_refused() -> None:
    for name in ("script", "style"):
        with pytest.raises(ValueError, match="cannot be escaped"):
            tag(name, "x")
    with pytest.raises(ValueError, match="cannot end an element"):
        html.style("</style>")


def test_markup_is_the_only_thing_that_is_not_escaped() -> None:
    assert str(tag("p", Markup("<b>x</b>"))) == "<p><b>x</b></p>"
    assert str(tag("p", "<b>x</b>")) == "<p>&lt;b&gt;x&lt;/b&gt;</p>"


@pytest.mark.parametrize(
    ("text", "seen"),
    [("a b", "a b"), ("a\nb", "a\nb"), ("\x1b[31m", "\\x1b[31m"), ("\ud800", "\\ud800")],
)
def test_what_does_not_print_is_visible(text: str, seen: str) -> None:
    assert html.visible(text) == seen
