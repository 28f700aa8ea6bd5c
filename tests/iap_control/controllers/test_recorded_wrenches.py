# SPDX-License-Identifier: BSD-3-Clause
"""Recorded wrenches are flown by platforms of about the weight that they hold up."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import controller_of

from iap_control.controllers.wrench_follower import WrenchFollower, model_wrench
from iap_control.references.wrench_replay import WrenchCommand
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.signals import Reference
from iap_description.states import REF_A, REF_ALPHA, REF_Q, REF_W, Level


@pytest.mark.parametrize(
    ("share", "flies"), [(0.39, False), (0.41, True), (1.0, True), (1.98, True), (2.02, False)]
)
def test_a_mean_force_holds_up_between_four_tenths_of_the_weight_and_twice_it(share, flies):
    controller = controller_of("three_star")
    model = controller.model
    weight = model.inertia.mass * model.inertia.gravity
    wrenches = np.zeros((4, 6))
    wrenches[:, 2] = share * weight * np.array([0.5, 1.5, 0.9, 1.1])
    command: Any = SimpleNamespace(source="flight.mcap", wrenches=wrenches)
    if flies:
        WrenchFollower.of(command, model, controller, 0.0)
        return
    said = (
        rf"^flight\.mcap: its mean force along z is .* N, and the platform weighs {weight:.3g} N"
    )
    with pytest.raises(BadInput, match=said):
        WrenchFollower.of(command, model, controller, 0.0)


def test_a_platform_that_cannot_push_sideways_flies_no_recorded_wrenches():
    controller = controller_of("f450")
    command: Any = SimpleNamespace(source="flight.mcap", wrenches=np.zeros((4, 6)))
    with pytest.raises(BadInput, match=r"flown by platforms that push along every axis"):
        WrenchFollower.of(command, controller.model, controller, 0.0)


def recorded(**changes):
    """Wrenches at 1.0, 1.1 and 1.2 s of a recording."""
    about = {"frame": "body", "use": "feed_forward", "source": "flight.mcap"}
    return WrenchCommand(
        np.array([1.0, 1.1, 1.2]), np.arange(18.0).reshape(3, 6), **{**about, **changes}
    )


def moving_row():
    row = np.zeros(22)
    row[REF_Q] = so3.quaternion_exp(np.array([0.2, -0.3, 0.5]))
    row[REF_W], row[REF_A], row[REF_ALPHA] = [0.4, -0.6, 0.3], [0.5, 1.0, -0.7], [0.2, 0.5, -0.7]
    return row


def test_the_wrench_of_a_motion_is_that_of_newton_and_euler_about_the_origin():
    """f = m R^T (a_CoM - g), tau = J alpha + w x J w + d x m R^T (a_P - g), J about the origin."""
    inertia = controller_of("three_star").model.inertia
    row = moving_row()
    R, w, alpha = so3.matrix_from_quaternion(row[REF_Q]), row[REF_W], row[REF_ALPHA]
    d, m = inertia.d_0, inertia.mass
    lift_P = m * R.T @ (row[REF_A] + [0.0, 0.0, inertia.gravity])
    force = lift_P + m * (np.cross(alpha, d) + np.cross(w, np.cross(w, d)))
    torque = inertia.J @ alpha + np.cross(w, inertia.J @ w) + np.cross(d, lift_P)
    np.testing.assert_allclose(model_wrench(inertia, row), [*force, *torque], atol=1e-9)


@pytest.mark.parametrize(("frame", "turned"), [("body", False), ("world", True)])
def test_a_recorded_wrench_takes_the_place_of_what_the_model_asks_for(frame, turned):
    controller = controller_of("three_star")
    follower = WrenchFollower(recorded(frame=frame), controller.model, controller, begin=5.0)
    reference, q = Reference(moving_row()), so3.quaternion_exp(np.array([0.0, 0.0, 0.4]))
    assert follower.reference(6.15, q, reference) is reference
    wrench = np.arange(6.0, 12.0)
    if turned:
        R = so3.matrix_from_quaternion(q)
        wrench = np.concatenate([R.T @ wrench[:3], R.T @ wrench[3:]])
    expected = wrench - model_wrench(controller.model.inertia, reference.row)
    np.testing.assert_allclose(controller.feed_forward_P, expected)
    for t in (5.9, 6.31):
        assert follower.reference(t, q, reference) is reference
        assert not np.any(controller.feed_forward_P)


def test_open_loop_the_recorded_wrench_is_the_reference():
    controller = controller_of("three_star")
    follower = WrenchFollower(recorded(use="open_loop"), controller.model, controller, begin=5.0)
    given = Reference(moving_row())
    asked = follower.reference(6.0, np.array([0.0, 0.0, 0.0, 1.0]), given)
    assert asked.level == Level.WRENCH and asked.row is given.row
    np.testing.assert_array_equal(asked.wrench_P, np.arange(6.0))
