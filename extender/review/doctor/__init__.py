"""Checks of an installation: the scheduler's configuration, ours, and whether they match.

Every check is a pure function; nothing here reads a file or calls a server.
"""
