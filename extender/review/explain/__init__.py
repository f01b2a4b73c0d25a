"""Why a pod can be placed or cannot: verdicts, how they come about, and what would help.

`explaining.py` puts it together, `schema.py` is what comes out of it. A derivation says what the
core compared, a cure proposes what could be changed, and `fixes.py` tries it.
"""
