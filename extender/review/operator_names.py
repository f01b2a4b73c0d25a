"""Operators that do not exist, or are off: which ones there are, and which one was meant."""

from extender.match import operators
from extender.match.gates import FeatureGates
from extender.match.operators import Operators
from extender.match.spelling import spelling
from extender.match.versions import go_quote


def meant(name: str, table: Operators) -> str | None:
    """The operator that somebody means who writes an unknown one: `gt`, `>`, `SemverGT`."""
    return None if name in table else operators.meant_by(name, table) or spelling(name, table)


def supported(name: str, table: Operators, allowed: FeatureGates) -> str:
    """The operators of an annotation, for somebody who writes another one.

    Upstream lists two for tolerations and none for node affinity: it does not know the others.
    """
    known = [each.name for each in table.values() if each.is_on(allowed)]
    text = f"supported values: {', '.join(map(go_quote, known))}"
    if table is operators.TOLERATION and allowed.cel:
        text += ", or an expression instead"
    if name in table:
        return f"{text}; feature gate {table[name].gate} is off"
    word = meant(name, {each: table[each] for each in known})
    return f"{text}; did you mean {go_quote(word)}?" if word else text
