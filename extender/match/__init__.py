"""Does A select B? Compile once, ask often.

Pure functions over `model`. A value that cannot be parsed is never an exception here: it does
not match, and it is reported as a finding.
"""
