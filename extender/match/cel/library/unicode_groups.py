r"""The names that Go's regular expressions know behind `\p`, in the spelling of RE2."""

import functools
from array import array
from collections.abc import Mapping
from typing import Final

import re2  # type: ignore[import-untyped]

# Category -> its other names.
_CATEGORIES: Final[Mapping[str, str]] = {
    "C": "Other",
    "Cc": "Control Cntrl",
    "Cf": "Format",
    "Cn": "Unassigned",
    "Co": "Privateuse",
    "Cs": "Surrogate",
    "L": "Letter",
    "Lc": "Casedletter",
    "Ll": "Lowercaseletter",
    "Lm": "Modifierletter",
    "Lo": "Otherletter",
    "Lt": "Titlecaseletter",
    "Lu": "Uppercaseletter",
    "M": "Combiningmark Mark",
    "Mc": "Spacingmark",
    "Me": "Enclosingmark",
    "Mn": "Nonspacingmark",
    "N": "Number",
    "Nd": "Decimalnumber Digit",  # codespell:ignore nd
    "Nl": "Letternumber",
    "No": "Othernumber",
    "P": "Punctuation Punct",
    "Pc": "Connectorpunctuation",
    "Pd": "Dashpunctuation",
    "Pe": "Closepunctuation",
    "Pf": "Finalpunctuation",
    "Pi": "Initialpunctuation",
    "Po": "Otherpunctuation",
    "Ps": "Openpunctuation",
    "S": "Symbol",
    "Sc": "Currencysymbol",
    "Sk": "Modifiersymbol",
    "Sm": "Mathsymbol",
    "So": "Othersymbol",
    "Z": "Separator",
    "Zl": "Lineseparator",
    "Zp": "Paragraphseparator",
    "Zs": "Spaceseparator",
}
_ALIASES: Final[Mapping[str, str]] = {
    alias: name for name, aliases in _CATEGORIES.items() for alias in aliases.split()
}
# Names of several words are missing: upstream removes the space or underscore before it looks the
# name up, and then does not find it.
_SCRIPTS: Final = (
    "Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo "
    "Brahmi Braille Buginese Buhid Carian Chakma Cham Cherokee Chorasmian Common Coptic "
    "Cuneiform Cypriot Cyrillic Deseret Devanagari Dogra Duployan Elbasan Elymaic Ethiopic "
    "Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo Hatran "
    "Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki "
    "Khudawadi Lao Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic "
    "Manichaean Marchen Medefaidrin Miao Modi Mongolian Mro Multani Myanmar Nabataean "
    "Nandinagari Newa Nko Nushu Ogham Oriya Osage Osmanya Palmyrene Phoenician Rejang Runic "
    "Samaritan Saurashtra Sharada Shavian Siddham Sinhala Sogdian Soyombo Sundanese Syriac "
    "Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta "
    "Toto Ugaritic Vai Vithkuqi Wancho Yezidi Yi "  # codespell:ignore vai
)
_NAMED: Final = frozenset({"Any", *_CATEGORIES, *_SCRIPTS.split()})
_VISIBLE: Final = r"\pL\pM\pN\pP\pS\pZ"
# Groups without a name in RE2: as a class, and negated.
_UNNAMED: Final[Mapping[str, tuple[str, str]]] = {
    "Ascii": (r"[\x00-\x7f]", r"[^\x00-\x7f]"),
    "Assigned": (rf"[{_VISIBLE}\pC]", rf"[^{_VISIBLE}\pC]"),
    "C": (rf"[^{_VISIBLE}]", rf"[{_VISIBLE}]"),
    "Cn": (rf"[^{_VISIBLE}\pC]", rf"[{_VISIBLE}\pC]"),
    "Lc": (r"[\p{Lu}\p{Ll}\p{Lt}]", r"[^\p{Lu}\p{Ll}\p{Lt}]"),
}


def alone(name: str, *, negative: bool) -> str | None:
    """A group as a class of its own; None if there is no such group."""
    name = _resolved(name)
    if name in _UNNAMED:
        return _UNNAMED[name][negative]
    return _named(name, negative=negative)


def member(name: str, *, negative: bool, fold: bool) -> str | None:
    """A group as a part of a class; None if there is no such group."""
    name = _resolved(name)
    if name not in _UNNAMED:
        return _named(name, negative=negative)
    whole = _UNNAMED[name][negative]
    return _ranges(whole, fold=fold) if whole.startswith("[^") else whole[1:-1]


@functools.cache
def _ranges(negated: str, *, fold: bool) -> str:
    """The ranges of a negated class, because RE2 can negate only a whole class."""
    every = array("I", range(0x110000)).tobytes().decode("utf-32", "ignore")  # no surrogates
    runs = re2.compile(f"{'(?i)' if fold else ''}{negated}+").finditer(every)
    ends = ((ord(every[run.start()]), ord(every[run.end() - 1])) for run in runs)
    return "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in ends)


def _named(name: str, *, negative: bool) -> str | None:
    return f"\\{'P' if negative else 'p'}{{{name}}}" if name in _NAMED else None


def _resolved(name: str) -> str:
    name = _canonical(name)
    return _ALIASES.get(name, name)


def _canonical(name: str) -> str:
    letters = "".join(char for char in name if char not in "_- ")
    # No name has characters beyond ASCII.
    return letters[:1].upper() + letters[1:].lower() if letters.isascii() else ""
