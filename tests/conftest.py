"""Settings for all tests: properties try the same examples every time, and no machine is too slow for them."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "portcheck",
    derandomize=True,
    deadline=None,
    max_examples=200,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("portcheck")
