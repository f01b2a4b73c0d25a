"""What plugins can ask about the pods of the cluster: who is selected, in which domains, in flight.

Everything here is kept event by event. It never walks over all pods.
"""
