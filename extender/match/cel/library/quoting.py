"""Texts inside of error texts, as Go's %q prints them."""

from typing import Final

from extender.match.versions import go_quote

_UNDECODABLE: Final = range(0xDC80, 0xDD00)


class _Escapes(dict[int, str]):
    """Code point -> how it is printed. What is not in it is worked out and not kept."""

    def __missing__(self, code: int) -> str:
        return go_quote(chr(code))[1:-1]


_ESCAPES: Final = _Escapes(
    {code: go_quote(chr(code))[1:-1] for code in range(0x80)}
    | {code: f"\\x{code & 0xFF:02x}" for code in _UNDECODABLE}
)


def quoted(text: str) -> str:
    """The text in quotes; bytes that are no UTF-8 are in it as `surrogateescape` decodes them."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{text.translate(_ESCAPES)}"'
