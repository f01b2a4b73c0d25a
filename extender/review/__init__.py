"""Validation, explain, scan and doctor, as functions over the core.

The server and the commands call them. Nothing here listens, prints, logs or counts.
"""
