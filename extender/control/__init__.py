"""The controller of compile mode: it writes compiled tolerations into pods.

The only room that writes pods. Writes only add, and only the leader writes, so two leaders for a
moment do no harm. It never deletes, never binds and never touches a pod's status: Kubernetes
schedules and evicts.
"""
