"""Matching: tolerations against taints, selectors against labels, versions against versions.

Pure functions over `model` that compile a rule once and evaluate it often. A value that cannot
be parsed raises nothing: it does not match, and it is reported as a finding.
"""
