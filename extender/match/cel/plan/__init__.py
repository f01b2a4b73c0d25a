"""Step 4: a checked expression becomes closures that count their cost while they run.

This step never changes what an expression means: a rewrite for speed keeps upstream's result,
error text and cost.
"""
