"""Which workloads use which rules, and which rules do not fit the cluster.

Every verdict comes from the core, with the functions that answer kube-scheduler.
"""
