"""The contract between plugins and the machine, the snapshot, and the machine itself.

Pure: no I/O, no clock of its own, no log, no metric.
"""
