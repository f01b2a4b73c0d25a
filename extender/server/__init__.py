"""The doors: the scheduler's and the operator's.

The only room that speaks HTTP. It measures, logs and turns faults into answers; verdicts are
made below.
"""
