"""Nodes as rows, facets as columns of codes, and what rules say of a code.

A verdict depends on a node only through a facet, so it is made once for each code of a column and
never for a row. Nothing here is kept for a row, a list of names or an answer.
"""
