# SPDX-License-Identifier: BSD-3-Clause
"""Arms in flight: places that their tips are asked for, their own motions, and loads that they carry."""

from types import SimpleNamespace

import numpy as np
import pytest
from flying import DT, model_of

from iap_control.arm.arm_control import ArmControl, JointCoordinates
from iap_control.arm.arm_model import ArmModel
from iap_control.arm.arm_spec import ArmSpec
from iap_control.arm.tip_guidance import PathSource, TipGuidance
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import REF_FIXED, resting_state
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.chain_inertia import composite, holding_torques
from iap_description.vehicles.gripper import Load, carrying
from iap_description.vehicles.moving_chain import arm_momentum, arm_wrench
from iap_description.vehicles.platform import load_platform


def state():
    q = so3.quaternion_exp(np.array([0.05, -0.02, 0.3]))
    return resting_state(np.array([0.3, 0.1, -0.2]), q)


def reference(count):
    row = np.zeros(REF_FIXED + count)
    row[6] = 1.0
    return Reference(row)


def test_a_tip_is_asked_for_from_the_begin_of_its_motion_on():
    def at(t):
        r = np.stack([t, 2.0 * t, 0.0 * t, 3.0 * t], -1)
        return r, np.stack([10.0 * t, 0.0 * t, 0.0 * t, 0.0 * t], -1)

    source = PathSource(SimpleNamespace(at=at))
    goal, rates = source(2.0, 0.1, np.zeros(4))
    np.testing.assert_allclose(goal, [2.0, 4.0, 0.0, 6.0])
    np.testing.assert_allclose(rates, [21.0, 0.0, 0.0, 0.0])  # at the period's end
    assert source.reference(-1e-6) is None
    np.testing.assert_allclose(source.reference(0.0), 0.0)
    guidance = SimpleNamespace(source=source, _lead=3.0)
    assert TipGuidance.tip_reference(guidance, 2.9) is None
    np.testing.assert_allclose(TipGuidance.tip_reference(guidance, 4.5), [1.5, 3.0, 0.0])


def test_an_arm_without_a_guide_is_asked_for_no_place_and_plans_its_own_motion():
    targets = np.arange(3 * 3 * 2.0).reshape(3, 3, 2)
    control = SimpleNamespace(guide=None, _model=None, _targets=targets)
    assert ArmControl.tip_reference(control, 1.0) is None
    assert ArmControl.stick.fget(control) is None
    assert ArmControl.is_plain.fget(control)
    control._model = "model"
    assert not ArmControl.is_plain.fget(control)
    planned = ArmControl.planned(control, np.array([1, 9]))
    np.testing.assert_array_equal(planned, targets[[1, 2], :2])
    control.guide = SimpleNamespace(tip_reference=lambda t: 2.0 * t)
    assert ArmControl.tip_reference(control, 1.5) == 3.0
    assert ArmControl.stick.fget(control) is None


@pytest.mark.parametrize("feed_forward", ["none", "inertia"])
def test_an_arms_control_counts_with_a_load_in_its_torques_and_its_model(feed_forward):
    arm, model = Assembly.of(load_platform("m100_arm")).arm, model_of("m100_arm")
    keys = {"motion": {"type": "hold"}, "feed_forward": feed_forward, "holding": True}
    control = ArmControl.of(arm, model, ArmSpec.model_validate(keys), lead=0.0, last=3, dt=DT)
    load = Load(0.5, np.array([0.02, 0.0, 0.01]), 1e-3 * np.eye(3))
    home, told = arm.record.home_pose, []
    pilot = SimpleNamespace(follow_arm=told.append)
    joints = JointCoordinates(home, np.zeros(len(home)))
    assert control.count == len(home) == 3 and control.target.shape == (3, 3)
    for carried in (None, load):
        control.carry(carried)
        control(0, state(), joints, pilot, reference(1))
        bodies = carrying(arm.bodies, carried)
        R = so3.matrix_from_quaternion(state()[3:7])
        weight = holding_torques(arm.chain, bodies, R, home, model.inertia.gravity)
        np.testing.assert_allclose(control.target[2], weight, atol=1e-12)
    if feed_forward == "none":
        assert told == [] and control.is_plain
    else:
        assert told[1].inertia.mass - told[0].inertia.mass == pytest.approx(0.5)
        assert not control.is_plain


def test_an_arm_that_carries_a_load_is_as_heavy_and_moves_as_both():
    assembly, model = Assembly.of(load_platform("m100_arm")), model_of("m100_arm")
    arm = ArmModel(assembly.arm, model.inertia, moves=True)
    load = Load(0.5, np.array([0.02, 0.0, 0.01]), 1e-3 * np.eye(3))
    q, v, a = np.array([0.4, 1.1, -0.7]), np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, -1.0])
    x = state()
    x[7:13] = [0.1, -0.2, 0.3, 0.4, -0.5, 0.6]
    empty = arm(x, q, v, a)
    arm.carry(load)
    both, bodies = arm(x, q, v, a), carrying(assembly.arm.bodies, load)
    assert both.inertia.mass == pytest.approx(empty.inertia.mass + 0.5)
    chain = assembly.arm.chain
    mass, d, _ = composite(chain, bodies, np.eye(3), q)
    bare = composite(chain, assembly.arm.bodies, np.eye(3), q)
    shift = both.inertia.mass * both.inertia.d_0 - empty.inertia.mass * empty.inertia.d_0
    np.testing.assert_allclose(shift, mass * d - bare.mass * bare.p_PC_W, atol=1e-12)
    back = so3.conjugate(x[3:7])
    twist = np.concatenate([so3.rotate(back, x[7:10]), so3.rotate(back, x[10:13])])
    np.testing.assert_allclose(both.wrench_P, arm_wrench(chain, bodies, q, v, a, twist))
    np.testing.assert_allclose(both.momentum_P, arm_momentum(chain, bodies, q, v))
    np.testing.assert_allclose(both.tip_P, assembly.arm.tip_P(q))
    arm.carry(None)
    np.testing.assert_allclose(arm(x, q, v, a).inertia.J, empty.inertia.J)
    still = ArmModel(assembly.arm, model.inertia, moves=False)(x, q, v, a)
    assert not still.wrench_P.any() and not still.momentum_P.any()
    np.testing.assert_allclose(still.inertia.J, empty.inertia.J)
