"""Step 2: every node of the AST gets a type and every call its overloads, or issues say why not.

This step never runs anything and never asks what a call costs.
"""
