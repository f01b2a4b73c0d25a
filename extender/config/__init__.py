"""One YAML file and some flags to a frozen Config.

Every problem is reported at once, each with its path in the file or with its flag. A flag wins
over the file; an unknown key is refused, because a misspelt limit is no limit.
"""
