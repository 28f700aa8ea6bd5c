# SPDX-License-Identifier: BSD-3-Clause
"""Flights with sensors, of which everything that they said is kept."""

from iap_simulation.runs.unrecorded_flight import watch as watch_flight
from iap_simulation.scenario.resolving import Options

SMALL = tuple(
    f"sensors.cameras.{camera}.{key}={value}"
    for camera in ("left", "right")
    for key, value in (("width", 96), ("height", 72), ("fx", 48.0), ("fy", 48.0), ("cx", 47.5), ("cy", 35.5))
)  # fmt: skip


def watch(name, *assignments, renderer=None, **options):
    """Fly a scenario with settings as on the command line; cameras need a renderer."""
    return watch_flight(name, Options(assignments=assignments, **options), renderer)
