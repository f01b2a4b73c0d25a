"""filter, prioritize and preempt: bytes to bytes over one snapshot of the cluster.

Each verb is a module with one function, `answer`. This room knows nothing of HTTP, by contract.
"""
