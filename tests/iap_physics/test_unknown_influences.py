# SPDX-License-Identifier: BSD-3-Clause
"""Influences that no controller knows: commands that are late, and wrenches that always act."""

import numpy as np
import pytest
from flying import DT, GRAVITY, STEPPED, plant_of
from numpy.testing import assert_allclose, assert_array_equal

from iap_description.math import so3
from iap_description.states import Command, Mode, P, Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_physics.propulsion.deviation import Deviation

PLATFORM = "three_star"
HOLD = 4000.0  # [rpm] before the first command
PERIODS = 12


def spun(count, rpm):
    command = Command.zeros(count, Mode.RPM)
    command.rpm[:] = rpm
    return command


def flown(delay, first, *, batch=1, **options):
    """States (PERIODS + 1, batch, bodies, 13) under commands that grow, given from period `first` on."""
    plant = plant_of(PLATFORM, deviation=Deviation(delay=delay), batch=batch, **options)
    plant.reset(plant.state().copy(), [np.full((3, 4), HOLD)], np.random.default_rng(0))
    states = [plant.state().copy()]
    for k in range(PERIODS):
        if k >= first:
            plant.command(0, spun(3, 5000.0 + 200.0 * (k - first)))
        plant.advance()
        states.append(plant.state().copy())
    return np.array(states)


@pytest.mark.parametrize("options", [{}, STEPPED], ids=["block", "stepped"])
@pytest.mark.parametrize("periods", [1, 2, 5])
def test_commands_that_are_late_act_as_if_they_were_given_later(periods, options):
    assert_array_equal(flown(periods * DT, 0, **options), flown(0.0, periods, **options))


def test_a_delay_is_rounded_to_whole_control_periods():
    assert_array_equal(flown(1.4 * DT, 0), flown(DT, 0))


def test_the_aircrafts_own_command_overtakes_what_is_on_its_way():
    plant = plant_of(PLATFORM, deviation=Deviation(delay=3 * DT))
    plant.command(0, spun(3, 5000.0))
    plant.advance()
    plant.command(0, spun(3, 6000.0), on_board=True)
    for _ in range(6):
        plant.advance()
        assert (plant.propulsion[0].command.rpm == 6000.0).all()


def test_a_world_that_starts_anew_waits_for_its_first_command_again():
    plant = plant_of(PLATFORM, deviation=Deviation(delay=2 * DT), batch=2)
    for rpm in (5000.0, 5100.0, 5200.0):
        plant.command(0, spun(3, rpm))
        plant.advance()
    speeds = np.full((1, 3, 4), HOLD)
    plant.reset(plant.state()[:1].copy(), [speeds], np.random.default_rng(0), [1])
    seen = []
    for rpm in (5300.0, 5400.0, 5500.0):
        plant.command(0, spun(3, rpm))
        plant.advance()
        seen.append(plant.propulsion[0].command.rpm[:, 0, 0].tolist())
    assert seen == [[5100.0, HOLD], [5200.0, HOLD], [5300.0, 5300.0]]


def momenta(assembly, x):
    """Linear momentum [N s], and angular momentum about the common CoM [N m s], of states (bodies, 13)."""
    mass = np.array([body.mass for body in assembly.bodies])[:, None]
    p_C = (mass * x[:, P]).sum(0) / mass.sum()
    spins = [
        so3.rotate(row[Q], body.inertia @ so3.rotate(so3.conjugate(row[Q]), row[W]))
        for body, row in zip(assembly.bodies, x, strict=True)
    ]
    orbits = np.cross(x[:, P] - p_C, mass * x[:, V])
    return (mass * x[:, V]).sum(0), orbits.sum(0) + np.sum(spins, axis=0)


@pytest.mark.parametrize("options", [{}, STEPPED], ids=["block", "stepped"])
@pytest.mark.parametrize(
    ("force", "torque"), [((3.0, -2.0, 1.0), (0.0, 0.0, 0.0)), ((0.0, 0.0, 0.0), (0.2, 0.1, -0.3))]
)
def test_a_wrench_that_nobody_knows_changes_the_momentum_at_its_rate(force, torque, options):
    """With rotors at rest: linear momentum by force and weight; angular momentum by a torque alone."""
    assembly = Assembly.of(load_platform(PLATFORM))
    plant = plant_of(PLATFORM, deviation=Deviation(force=force, torque=torque), **options)
    (p_0, L_0), duration = momenta(assembly, plant.state()[0]), 20 * DT
    for _ in range(20):
        plant.advance()
    p_1, L_1 = momenta(assembly, plant.state()[0])
    weight = np.array([0.0, 0.0, -GRAVITY * sum(body.mass for body in assembly.bodies)])
    assert_allclose(p_1 - p_0, duration * (force + weight), rtol=1e-9, atol=1e-12)
    if any(torque):
        assert_allclose(L_1 - L_0, duration * np.array(torque), rtol=1e-6, atol=1e-9)
