"""Quotes strings in error texts as Go's %q and protobuf's text format do."""

from collections.abc import Mapping
from typing import Final

from extender.match.versions import go_quote

_UNDECODABLE: Final = range(0xDC80, 0xDD00)


class _Escapes(dict[int, str]):
    """Code point -> its escape. Others are computed each time and not stored."""

    def __missing__(self, code: int) -> str:
        return go_quote(chr(code))[1:-1]


_ESCAPES: Final = _Escapes(
    {code: go_quote(chr(code))[1:-1] for code in range(0x80)}
    | {code: f"\\x{code & 0xFF:02x}" for code in _UNDECODABLE}
)


def quoted(text: str) -> str:
    """The text in quotes; takes invalid UTF-8 as `surrogateescape` decodes it."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{text.translate(_ESCAPES)}"'


_TEXT_ESCAPES: Final = {
    **{code: f"\\x{code:02x}" for code in (*range(0x20), 0x7F)},
    **{code: f"\\u{code:04x}" for code in range(0x80, 0xA0)},
    **{code: f"\\x{code & 0xFF:02x}" for code in _UNDECODABLE},
    **{
        ord(char): escape
        for char, escape in zip('"\\\n\r\t', ('\\"', "\\\\", "\\n", "\\r", "\\t"), strict=True)
    },
}


def text_format(fields: Mapping[str, bytes]) -> str:
    """A message as protobuf's text format shows it, without the fields that are empty."""
    return " ".join(
        f'{name}:"{data.decode(errors="surrogateescape").translate(_TEXT_ESCAPES)}"'
        for name, data in fields.items()
        if data
    )
