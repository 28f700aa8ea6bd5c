# SPDX-License-Identifier: BSD-3-Clause
"""Autopilots with a rate loop like PX4's in worlds side by side and in snapshots: each world is its single run."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_simulation.batch.worlds import Worlds
from iap_simulation.flights.flight import Flight
from iap_simulation.simulation.simulation import Simulation

SCATTERED = {"draw.position": 0.2, "draw.attitude_deg": 8.0}
DRAWN = {**SCATTERED, "draw.mass": 0.1, "draw.rotor_lag": 0.3}
WINDY = {**SCATTERED, "wind.speed": 3.0, "wind.turbulence": 5.0}
CASES = [("closed_form", WINDY), ("mujoco", DRAWN)]


def worlds_of(engine, settings, seeds=3):
    """Worlds of a hover with gains `px4`."""
    return Worlds.of("hover", seeds, settings={"engine.name": engine, **settings}, gains="px4")


@pytest.mark.parametrize(("engine", "settings"), CASES)
def test_worlds_are_single_runs_also_where_one_begins_anew(engine, settings):
    worlds = worlds_of(engine, settings)
    for _ in range(20):
        worlds.advance()
    worlds.reset([1], seeds=[77])
    for _ in range(40):
        worlds.advance()
    for i, steps in ((0, 60), (1, 40), (2, 60)):
        with Simulation(Flight.of(worlds.world(i))) as simulation:
            alone = [simulation.step() for _ in range(steps)][-1]
        np.testing.assert_array_equal(worlds.state[i], alone)
        np.testing.assert_array_equal(worlds.rpm[i], simulation.plant.propulsion[0].rpm[0])


@pytest.mark.parametrize(("engine", "settings"), CASES)
def test_restored_worlds_fly_on_as_straight_ones(engine, settings):
    worlds = worlds_of(engine, settings, seeds=2)
    for _ in range(20):
        worlds.advance()
    kept, passed = worlds.snapshot(), []
    for _ in range(2):
        for _ in range(20):
            worlds.advance()
        passed.append(worlds.state.copy())
        worlds.restore(kept)
    np.testing.assert_array_equal(*passed)


@pytest.mark.parametrize("engine", ["closed_form", "pybullet"])
def test_a_restored_flight_goes_on_as_it_did(engine):
    settings = {"engine.name": engine, **WINDY}
    with Simulation.of("hover", settings=settings, gains="px4") as simulation:
        for _ in range(20):
            simulation.step()
        kept, passed = simulation.snapshot(), []
        for _ in range(2):
            passed.append(np.array([simulation.step() for _ in range(20)]))
            simulation.restore(kept)
        simulation.reset()
        for _ in range(20):
            simulation.step()
        passed.append(np.array([simulation.step() for _ in range(20)]))
    np.testing.assert_array_equal(passed[0], passed[1])
    np.testing.assert_array_equal(passed[0], passed[2])


def test_drawn_vehicles_need_mujoco():
    with pytest.raises(BadInput, match="whose autopilots have a rate_loop, in closed_form"):
        worlds_of("closed_form", DRAWN)


def test_whole_flights_at_once_are_refused():
    worlds = worlds_of("closed_form", SCATTERED, seeds=1)
    assert not worlds.flies_at_once
    with pytest.raises(BadInput, match="an autopilot's rate_loop change with every control"):
        worlds.fly(1)


def test_single_numbers_are_refused():
    with pytest.raises(BadInput, match="precision 'float32' needs .* without rate_loop"):
        Worlds.of("hover", 1, gains="px4", precision="float32")
