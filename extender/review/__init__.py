"""What is said about rules before and beside scheduling, as functions over the core.

The doors and the commands both call them. Nothing here listens, prints, logs or counts.
"""
