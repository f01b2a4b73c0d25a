"""Kubernetes objects with the fields that scheduling reads, and documents as plain data.

Frozen structs without behaviour. Nothing here makes a decision or does I/O.
"""
