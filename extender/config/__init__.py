"""Reads one YAML file and the flags into a frozen Config.

All problems are reported at once, each with its path in the file or with its flag. A flag
overrides the file. Unknown keys are refused, because a misspelt limit would be no limit.
"""
