"""No test depends on how fast the machine is: Hypothesis gets no deadline, and may be slow to draw its examples."""

from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
