"""Refusals by TaintToleration: each taint against each toleration, and how to tolerate it."""
