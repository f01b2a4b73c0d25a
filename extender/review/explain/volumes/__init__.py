"""Refusals by VolumeBinding: each claim of the pod, and the claim that was probably meant."""
