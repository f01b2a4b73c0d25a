"""What things are: Kubernetes objects as scheduling reads them, and documents as plain data.

Frozen structs without behaviour. Never judges, never reaches outside.
"""
