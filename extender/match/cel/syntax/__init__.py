"""Step 1: the text of an expression becomes an AST, with macros expanded, or a list of issues.

This step never looks up a name or a type: `taint.colour` and `1 + 'a'` parse.
"""
