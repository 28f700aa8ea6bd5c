# SPDX-License-Identifier: BSD-3-Clause
"""Platforms with an arm in the closed loop, which holds its arm or is told to move it."""

import numpy as np
import pytest
from contact_engines import NAMES
from flying import Loop, scenario_of

AMPLITUDE, FREQUENCY = 0.8, 0.5  # of the swing [rad], [Hz]


def loop_of(platform, engine, duration, *assignments):
    """A flight in hover with a platform that has an arm."""
    length = f"reference.duration={duration}"
    return Loop.of(scenario_of("hover", length, *assignments, engine=engine, platform=platform))


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["f450_arm", "m100_arm"])
@pytest.mark.parametrize("engine", NAMES)
def test_a_platform_hovers_to_two_millimetres_while_it_holds_its_arm(engine, platform):
    loop = loop_of(platform, engine, 4.0)
    (flight,) = loop.fly()
    assert flight.position_rmse < 2e-3
    home = loop.scenario.vehicles[0].platform.arm.home_pose
    np.testing.assert_allclose(loop.plant.engine.arms[0].q, home, atol=0.1)  # servos give way


def swung(engine, *assignments, seconds=12.0):
    """Errors (T, 3) of a hovering m100_arm [m] while its arm swings, from 4 s on, and the elbow's travel [rad]."""
    loop = loop_of("m100_arm", engine, seconds, *assignments)
    loop.simulation.begin()
    arm, errors, travel = loop.plant.engine.arms[0], [], []
    while loop.simulation.t < seconds - 0.5:
        phase = 2.0 * np.pi * FREQUENCY * loop.simulation.t
        arm.command(q=np.array([0.0, 0.8 + AMPLITUDE * np.sin(phase), 0.0]))
        x = loop.simulation.step()
        if loop.simulation.t > 4.0:
            errors.append(x[0, :3] - [0.0, 0.0, 1.5])
            travel.append(arm.q[1])
    loop.plant.engine.close()
    return np.array(errors), np.ptp(travel)


@pytest.mark.slow
@pytest.mark.parametrize("engine", NAMES)
def test_an_arm_that_swings_moves_a_platform_that_does_not_know_of_it(engine):
    errors, travel = swung(engine)
    rms = np.sqrt((errors**2).sum(axis=1).mean())
    assert travel > 1.8 * AMPLITUDE
    assert 1e-3 < rms < 25e-3


@pytest.mark.slow
def test_an_arm_of_twice_the_mass_moves_it_further():
    heavy = [f"platform.arm.links.{i}.mass={m}" for i, m in enumerate((0.30, 0.24, 0.20))]
    light, double = (swung("pybullet", *keys)[0] for keys in ((), heavy))
    assert (double**2).sum(axis=1).mean() > 2.0 * (light**2).sum(axis=1).mean()
