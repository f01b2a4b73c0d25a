"""What would change: verdicts on the pods of a cluster, before and after.

`population.py` collects pods and the workloads that they belong to, `changes.py` makes one cluster
of another, `comparing.py` judges the pods of both, and `evictions.py` says who is evicted.
"""
