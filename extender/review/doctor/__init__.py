"""What is wrong with an installation: the scheduler's configuration, ours, and how they fit.

Every check is a function of what was read; nothing here reads a file or asks a server.
"""
