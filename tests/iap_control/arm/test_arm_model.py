# SPDX-License-Identifier: BSD-3-Clause
"""A controller's model of a platform whose arm moves."""

import numpy as np
import pytest
from flying import DT, GRAVITY, gains_of, model_of

from iap_control.arm.arm_model import ArmModel
from iap_control.controllers.controller import disturbance_settings
from iap_control.controllers.disturbance_observer import DisturbanceObserver
from iap_description.math import so3
from iap_description.states import resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.chain_inertia import composite
from iap_description.vehicles.platform import load_platform


@pytest.mark.parametrize("name", ["m100_arm", "f450_arm"])
def test_at_home_it_is_the_platform_of_the_file_and_elsewhere_the_whole_chain_as_one_body(name):
    platform = load_platform(name)
    assembly, model = Assembly.of(platform), model_of(name)
    arm = ArmModel(assembly.arm, model.inertia, moves=True)
    for own, given in zip(
        arm.inertia_at(assembly.arm.record.home_pose), model.inertia, strict=True
    ):
        np.testing.assert_allclose(own, given, atol=1e-12)
    q, center = np.array([0.4, 1.1, -0.7]), assembly.bodies[0]
    bodies = assembly.arm.bodies_with(center.mass, center.inertia)
    whole, own = composite(assembly.arm.chain, bodies, np.eye(3), q), arm.inertia_at(q)
    cross = so3.hat(whole.p_PC_W)
    np.testing.assert_allclose(own.d_0, whole.p_PC_W, atol=1e-14)
    np.testing.assert_allclose(own.J, whole.inertia - whole.mass * cross @ cross, atol=1e-14)


@pytest.mark.slow
def test_the_disturbance_observer_takes_no_moving_arm_for_a_disturbance():
    """A platform that stands still while its arm swings, under the wrench that this takes: nothing is left over."""
    model, assembly = model_of("m100_arm"), Assembly.of(load_platform("m100_arm"))
    gains = gains_of().disturbance.model_copy(
        update={"actuation": ("rigid",), "bandwidth": (4.0, 4.0)}
    )
    gains = gains_of(disturbance=gains)
    x, largest = resting_state(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])), []
    for moves in (True, False):
        arm = ArmModel(assembly.arm, model.inertia, moves=True)
        observer = DisturbanceObserver(*disturbance_settings(model, gains), DT)
        for k in range(400):
            phase = 4.0 * k * DT
            q, v, a = (
                np.array([0.0, 0.8 * f, 0.0])
                for f in (np.sin(phase), 4.0 * np.cos(phase), -16.0 * np.sin(phase))
            )
            told = arm(x, q, v, a)
            weight = model.inertia.mass * GRAVITY * np.array([0.0, 0.0, 1.0])
            made = told.wrench_P + np.concatenate([weight, np.cross(told.inertia.d_0, weight)])
            if moves:
                observer.set_inertia(told.inertia, told.momentum_P)
            observer(x, np.zeros(6))
            observer.note(made)
        largest.append(np.abs(observer.wrench_P).max())
    assert largest[0] < 0.02 * largest[1]
