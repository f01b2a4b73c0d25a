"""Rules as unit tests: the documents of `leeway test`, and what the core says of them.

`reading.py` turns a document into cases and names every problem at once. `judging.py` compares the
verdicts on one case with what it expects. Neither opens a file: the command does.
"""
