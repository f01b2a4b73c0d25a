"""HTML from elements: text is always escaped, because nothing else can be put into a page.

A `Markup` is made by `tag` alone, which escapes every text and every attribute. Characters that do
not print are shown as escapes, as on a terminal: marks of direction could show a text in another
order than it has.
"""

import html
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

_VOID: Final = frozenset({"meta", "br"})
# Their content is not HTML to a browser, so no text may be put there; `style` takes only our own.
_RAW: Final = frozenset({"script", "style"})
_NOT_STYLE: Final = "</"


class Markup(Struct, frozen=True):
    """HTML that needs no escaping; made by `tag`."""

    _html: str

    def __str__(self) -> str:
        return self._html


Content = Markup | str | None


def tag(name: str, /, *children: Content | Iterable[Content], **attributes: str | None) -> Markup:
    """An element; a trailing underscore of an attribute is cut, others become dashes."""
    if name in _RAW:
        raise ValueError(f"{name}: its content cannot be escaped")
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(visible(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{''.join(map(_escaped, _flat(children)))}</{name}>")


def style(text: str) -> Markup:
    """A style sheet of our own; never text of others."""
    if _NOT_STYLE in text:
        raise ValueError("a style sheet cannot end an element")
    return Markup(f"<style>{text}</style>")


def document(title: str, head: Iterable[Markup], body: Iterable[Content]) -> str:
    """A whole page, in ASCII: it reads the same in every encoding."""
    metas = (
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
    )
    page = tag(
        "html", tag("head", *metas, tag("title", title), *head), tag("body", body), lang="en"
    )
    return f"<!DOCTYPE html>\n{page}\n".encode("ascii", "xmlcharrefreplace").decode()


def visible(text: str) -> str:
    """The text with everything that does not print as escapes, line ends aside."""
    if text.isprintable():
        return text
    return "".join(
        char
        if char == "\n" or char.isprintable()
        else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )


def _escaped(content: Content) -> str:
    if content is None:
        return ""
    return str(content) if isinstance(content, Markup) else html.escape(visible(content))


def _flat(children: Iterable[Content | Iterable[Content]]) -> Iterable[Content]:
    for child in children:
        if child is None or isinstance(child, str | Markup):
            yield child
        else:
            yield from child
