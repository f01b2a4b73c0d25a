"""What extended rules come to as plain tolerations, for those who read nothing else.

The scheduler, taint-eviction, kubelet and autoscalers judge taints by `spec.tolerations` alone.
This room computes what to add for them, from values to values. It never removes what a user wrote,
never adds an `Exists` to a pod that waits for a node, and never reaches outside: no I/O, no clock,
no log.
"""
