"""The language of kube-scheduler, bytes to arguments and verdicts to bytes."""
