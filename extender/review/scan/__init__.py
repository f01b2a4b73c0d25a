"""Who uses which rule in a cluster, and where rules and cluster do not fit together.

Every verdict is the core's own: the same functions judge here that judge for kube-scheduler.
"""
