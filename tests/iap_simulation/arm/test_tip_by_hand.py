# SPDX-License-Identifier: BSD-3-Clause
"""An end effector that is flown by hand arrives where the stick took it, and stays there while joints are centred."""

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.states import P, Q
from iap_description.vehicles.serial_chain import tip_pose
from iap_simulation.simulation.simulation import Simulation

DEMANDS = [
    {"t": 0.2, "velocity": [0.4, 0.0, 0.0], "turn_deg": 0.0},
    {"t": 1.2, "velocity": [0.0, 0.0, 0.0], "turn_deg": 0.0},
    {"t": 2.0, "velocity": [0.0, 0.3, -0.2], "turn_deg": 0.0},
    {"t": 3.0, "velocity": [0.0, 0.0, 0.0], "turn_deg": 0.0},
]
MOVED = np.array([0.4, 0.3, -0.2])  # speed times time: ramps up and down are alike


@pytest.mark.slow
def test_the_end_effector_arrives_where_the_stick_took_it() -> None:
    settings = {"arm.motion.demands": DEMANDS, "reference.duration": 5.5, "metrics.window": None}
    with Simulation.of("arm_teleop", settings=settings) as simulation:
        motors, control = simulation.plant.arm(0), simulation.loop.vehicles[0].arm
        assert motors is not None
        assert control is not None
        chain, tips, joints, errors = motors.arm.chain, [], [], []
        while not simulation.is_done:
            x = simulation.step()[0]
            tips.append(tip_pose(chain, x[P], so3.matrix_from_quaternion(x[Q]), motors.q)[0])
            joints.append(motors.q.copy())
            errors.append(tips[-1] - control.tip_reference(simulation.t))
    np.testing.assert_allclose(tips[-1] - tips[0], MOVED, atol=5e-3)
    assert np.linalg.norm(errors, axis=1).max() < 0.08
    low, high = motors.arm.record.limits
    middle = np.abs(np.array(joints) - 0.5 * (low + high))[:, 1]
    assert middle[-1] < 0.5 * middle[0]  # the elbow leaves its stop meanwhile
    assert (motors.clipped + control.clipped == 0).all()
