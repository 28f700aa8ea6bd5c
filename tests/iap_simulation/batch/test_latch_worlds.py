# SPDX-License-Identifier: BSD-3-Clause
"""Worlds with latches, of faces and of ports: each is its single run in MuJoCo bit for bit."""

import numpy as np
import pytest
from support.held_flights import PAIR, SCENARIO, SETTINGS

from iap_description.errors import BadInput
from iap_physics.engines.make import is_installed
from iap_physics.latching.batch_latches import BatchLatches
from iap_physics.latching.kernel import LOCKED
from iap_physics.latching.latches import Latches
from iap_simulation.batch.worlds import Worlds
from iap_simulation.scenario.randomization import drawn_latches
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

pytestmark = pytest.mark.skipif(not is_installed("mujoco"), reason="without mujoco")

PERIODS, KEPT = 300, 190


def state_of(plant, world, latches):
    """Whatever a world is, of a batch and of a single run."""
    rpm = [each.rpm[world].tobytes() for each in plant.propulsion]
    return plant.engine.state()[world].tobytes(), rpm, latches.numbers


def test_worlds_that_perch_are_their_single_runs_and_go_on_from_a_snapshot():
    seeds, one = [4, 9, 2], 1
    worlds = Worlds.of(SCENARIO, seeds, settings=SETTINGS, threads=2)
    flown = []
    for k in range(PERIODS):
        if k == KEPT:
            kept = worlds.snapshot()
        worlds.advance()
        latches = worlds.plant.part(BatchLatches).of_world(one)
        state = state_of(worlds.plant, one, latches)
        flown.append((*state, worlds.contact_wrenches[one].tobytes()))
    phases = worlds.plant.part(BatchLatches).phase_numbers
    assert (phases == LOCKED).all() and not worlds.status.any()
    last = worlds.state.copy()
    worlds.restore(kept)
    for _ in range(KEPT, PERIODS):
        worlds.advance()
    np.testing.assert_array_equal(worlds.state, last)
    with Simulation.of(SCENARIO, settings={**SETTINGS, "seed": seeds[one]}) as alone:
        for k in range(PERIODS):
            alone.step()
            latches, felt = alone.plant.part(Latches), alone.plant.contact_wrench(0)
            state = state_of(alone.plant, 0, latches)
            assert (*state, felt.tobytes()) == flown[k], k
        assert alone.plant.propulsion[0].rpm.max() < 100.0  # they run down


def test_worlds_whose_vehicles_latch_and_part_are_their_single_runs():
    worlds, one = Worlds.of("docking", [1, 2], settings=PAIR), 1
    flown = []
    for _ in range(340):
        worlds.advance()
        felt = worlds.plant.contact_wrenches(1)[one].tobytes()
        flown.append((worlds.plant.engine.state()[one].tobytes(), felt))
    with Simulation.of("docking", settings={**PAIR, "seed": 2}) as alone:
        for k in range(340):
            alone.step()
            felt = alone.plant.contact_wrench(1).tobytes()
            assert (alone.plant.engine.state()[0].tobytes(), felt) == flown[k], k
        events = alone.plant.part(Latches).events
    assert [event.what for event in events] == ["caught", "locked", "released"]
    assert worlds.plant.part(BatchLatches).of_world(one).events == events


def test_seeds_draw_the_speeds_at_which_faces_catch():
    scenario = resolved(SCENARIO, {"draw.face_speed": 0.2, "seed": 5}, {})[0]
    nominal, drawn = scenario.latches["patch"], drawn_latches(scenario)["patch"]
    ratios = [drawn.speed / nominal.speed, drawn.face.least_speed / nominal.face.least_speed]
    ratios += [drawn.face.slip / nominal.face.slip, drawn.face.turn_rate / nominal.face.turn_rate]
    assert all(0.8 <= ratio <= 1.2 for ratio in ratios) and len(set(ratios)) == 4
    assert (drawn.face.max_torque, drawn.max_force) == (nominal.face.max_torque, nominal.max_force)


def test_latches_need_an_engine_with_contact():
    with pytest.raises(BadInput, match="closed_form has no contact"):
        Worlds.of(SCENARIO, 2)
