"""Why a pod passes or is refused: verdicts, the rules behind them, and fixes.

`explaining.py` assembles an explanation, `schema.py` defines its fields. Each plugin has an entry
in `registry.py`: its derivation shows what the core compared, its cure proposes changes, and
`fixes.py` tries them.
"""
