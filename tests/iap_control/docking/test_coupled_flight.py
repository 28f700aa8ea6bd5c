# SPDX-License-Identifier: BSD-3-Clause
"""A docked pair flies as one body, and laws predict over late commands: against rigid bodies and flights."""

import numpy as np
import pytest

from iap_control.docking.approach import ENTERS, RETREATS
from iap_control.docking.guidance import (
    PREDICTED,
    ROW,
    PairLinks,
    empty_memory,
    script_accelerations,
    script_command,
    split_memory,
    start_script,
)
from iap_description.math import so3
from iap_description.states import P, Q, V
from iap_description.vehicles.aircraft import inertia_matrix
from iap_simulation.docking.pair_laws import docked_positions, pair_laws
from iap_simulation.docking.worlds import DockingWorlds
from iap_simulation.scenario.resolving import Options, resolve

NOISE = ("position", "attitude_deg", "velocity", "rate_deg")
QUIET = {f"vehicles.{i}.state_noise.{key}": 0.0 for i in (0, 1) for key in NOISE}
LATE = {f"vehicles.{i}.model_error.delay": 0.03 for i in (0, 1)}


def test_the_rate_loops_of_a_locked_pair_turn_the_inertia_of_both():
    scenario, _ = resolve("docking", Options())
    pair, vehicle = pair_laws(scenario).pair, scenario.vehicles[0]
    aircraft, at = vehicle.platform.aircraft, docked_positions(scenario)
    J, m = inertia_matrix(aircraft.inertia), aircraft.mass
    both = np.zeros((3, 3))
    for r in at - at.mean(axis=0):
        both += J - m * so3.hat(r) @ so3.hat(r)
    gains = np.array(vehicle.control.gains.autopilot.rate)
    np.testing.assert_allclose(pair.coupled_rate_gain, gains * 2.0 * np.diag(J) / np.diag(both))
    assert pair.coupled_rate_gain[1] == pytest.approx(gains[1])  # along the line between both


def test_states_are_predicted_to_where_they_are_when_commands_act():
    """Six periods later, without noise; the approach accelerates and turns meanwhile."""
    settings = {**QUIET, **LATE, "docking.script.assumed_delay": 0.03}
    worlds = DockingWorlds.of("docking", [1], settings=settings)
    memory, out, predicted, flown = empty_memory(), np.zeros((2, 4)), [], []
    for _ in range(200):
        rows = worlds.measured()[0]
        flown.append(rows)
        links = PairLinks(touches=False, caught=False, locked=False)
        script_command((rows[0], rows[1]), links, worlds.laws, memory, out)
        predicted.append(memory[PREDICTED : PREDICTED + 2 * ROW].reshape(2, ROW).copy())
        worlds.advance(out[None, :, 0], out[None, :, 1:])
    ahead, later, now = np.array(predicted[20:-6]), np.array(flown[26:]), np.array(flown[20:-6])
    for columns in (P, V):
        error, change = ((each - later)[..., columns] for each in (ahead, now))
        assert np.linalg.norm(error) < 0.3 * np.linalg.norm(change)
    left, turned = (
        so3.quaternion_log(so3.multiply(so3.conjugate(each[..., Q]), later[..., Q]))
        for each in (ahead, now)
    )
    assert np.linalg.norm(left) < 0.3 * np.linalg.norm(turned)


@pytest.mark.parametrize(("aside", "backs_off"), [(0.1, True), (0.003, False)])
def test_a_probe_that_has_passed_beside_the_socket_comes_back_for_another_approach(
    aside, backs_off
):
    """0.15 m beyond the mouth, where it was sent: in the bore it goes on pushing."""
    scenario, _ = resolve("docking_hard", Options())
    laws, memory, rows = pair_laws(scenario), empty_memory(), np.zeros((2, ROW))
    rows[:, Q] = [0.0, 0.0, 0.0, 1.0]
    rows[:, P] = docked_positions(scenario)
    rows[1, P] += [aside, 0.15 - scenario.latches["dock"].depth, 0.0]
    observers, state = split_memory(memory, laws.pair.ahead)
    start_script(rows[0], rows[1], laws.pair, observers, state)
    state[ENTERS] = 1.0
    accelerations = script_accelerations(
        rows[0], rows[1], False, laws.script, laws.pair, observers, state
    )
    assert bool(state[RETREATS]) == backs_off
    assert (accelerations[1][1] < -0.5) == backs_off


def test_a_pair_of_unlike_weights_comes_to_rest_at_its_place():
    """One is lighter by 30 %, the other heavier: both together lean, and the integral takes the offset away."""
    errors = {
        "vehicles.0.model_error.mass": 1.3,
        "vehicles.1.model_error.mass": 0.7,
        "draw.delay": 0.0,
    }
    settings = {**QUIET, **errors, "draw.mass": 0.0, "wind.speed": 0.0, "wind.turbulence": 0.0}
    worlds = DockingWorlds.of("docking_hard", range(8), settings=settings)
    worlds.fly_script()
    assert worlds.records.succeeded.all()
    place = docked_positions(worlds.scenario).mean(axis=0)
    middle = worlds.pairs.x[:, :, P].mean(axis=1)
    assert np.linalg.norm(middle - place, axis=1).max() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.04, 0.06])
def test_a_pair_docks_and_is_calm_by_late_commands_with_unlike_masses(delay):
    late = {f"vehicles.{i}.model_error.delay": delay for i in (0, 1)}
    worlds = DockingWorlds.of("docking_hard", range(128), settings={"draw.delay": 0.0, **late})
    worlds.fly_script()
    assert worlds.records.succeeded.mean() >= 0.9
