"""Step 3: what an expression can cost at most, and what each call costs when it runs.

The figures are upstream's, to the unit. This step never evaluates an expression.
"""
