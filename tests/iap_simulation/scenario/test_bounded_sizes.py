# SPDX-License-Identifier: BSD-3-Clause
"""Sizes that a configuration asks for are refused by their keys before memory is asked for."""

import pytest

from iap_description.errors import BadInput
from iap_physics.batch.threads import MAX_THREADS, Threads
from iap_simulation.scenario.resolving import Options, resolve, resolve_tree
from iap_simulation.vehicles.vehicle import Vehicle

TREES = "world.objects={wood: {preset: trees, count: 100000}}"


@pytest.mark.parametrize(
    ("scenario", "setting", "key"),
    [
        ("hover", "model_error.delay=1e9", "model_error.delay"),
        ("hover", "rates.physics_hz=1e12", "rates.physics_hz"),
        ("hover", "faults=[{at: 0.0, commands_late: 1e9}]", "commands_late"),
        ("hover", TREES, "world.objects.wood"),
        ("figure_eight", "reference.laps=100000000000000000000", "reference.laps"),
        ("velocity_steps", "reference.duration=1e12", "duration"),
        ("hover", "duration=1e300", "duration"),
    ],
)
def test_what_would_take_all_memory_is_refused_by_its_key(scenario, setting, key):
    with pytest.raises(BadInput, match=key):
        resolve(scenario, Options(assignments=(setting,)))


def test_more_vehicles_than_fly_together_are_refused_before_any_is_made():
    with pytest.raises(BadInput, match="key 'vehicles': 1000 vehicles, at most 100"):
        resolve_tree("many", {"vehicles": [{"name": "a"}] * 1000}, "many", Options())


def test_a_reference_that_no_recording_can_keep_is_refused_before_the_flight():
    fast = ("reference.amplitude=[1e9, 0.0, 0.0]",)
    scenario, _ = resolve("figure_eight", Options(assignments=fast))
    with pytest.raises(BadInput, match="key 'reference'"):
        Vehicle.of(scenario, scenario.vehicles[0])


def test_more_threads_than_a_machine_can_start_are_refused():
    with pytest.raises(BadInput, match="threads"):
        Threads(MAX_THREADS + 1)
