"""What every test shares."""

from hypothesis import HealthCheck, settings

# A busy machine is not a fault: no example is judged by the time it takes.
settings.register_profile(
    "leeway",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("leeway")
