# SPDX-License-Identifier: BSD-3-Clause
"""The two laws of wrench control by their formulas, a step at a time."""

import numpy as np
import pytest

from iap_control.interaction.wrench_laws import (
    PaperLaw,
    SelectiveLaw,
    Wrenches,
    WrenchMemory,
    paper_wrench,
    selective_wrench,
    start_selective,
    tip_velocity,
)
from iap_control.laws.tracked_axes import TrackedAxes
from iap_description.math import so3
from iap_description.states import Q, V, W

DT = 0.005
SIX = np.arange(1.0, 7.0)
TIP = np.array([0.5, 0.1, -0.2])
MASS, INERTIA = 4.0, np.array([0.2, 0.3, 0.4])
M = np.diag([MASS, MASS, MASS, *INERTIA])
NONE = np.zeros(6)


def paper():
    return PaperLaw(0.1 * SIX, 0.2 * SIX, 0.03 * SIX, np.full(6, 0.02), np.full(6, 0.05))


def selective(**changes):
    law = {"kP": np.full(6, 0.5), "kI": np.full(6, 2.0), "damping": np.full(6, 3.0),
           "speed": np.repeat([0.2, 0.4], 3), "compensation": np.repeat([0.6, 0.3], 3)}  # fmt: skip
    return SelectiveLaw(**{**law, **changes})


def test_the_papers_law_is_proportional_integral_and_derivative_of_a_lagged_error():
    law, memory, out = paper(), WrenchMemory.empty(), np.zeros(6)
    slow, share = None, np.zeros(6)
    for k in range(40):
        measured, desired = np.sin(0.3 * k + SIX), 0.1 * SIX
        e = measured - desired
        slow = e if slow is None else slow
        slow = slow + DT / (0.02 + DT) * (e - slow)
        share = np.clip(share + law.kI * e * DT, -0.05, 0.05)
        paper_wrench(measured, desired, law, memory, DT, out)
        np.testing.assert_allclose(
            out, law.kP * e + share + law.kD * (e - slow) / 0.02, atol=1e-12
        )
    assert np.abs(share).max() == 0.05  # the limit was reached
    memory.reset()
    assert not any(part.any() for part in memory)


def test_the_tip_moves_as_the_body_and_its_turn_say():
    x = np.zeros(13)
    x[Q] = so3.quaternion_exp(np.array([0.3, -0.5, 0.8]))
    x[V], x[W] = [1.0, 2.0, 3.0], [0.4, -0.2, 0.6]
    v = tip_velocity(x, TrackedAxes(np.zeros(6), TIP))
    R = so3.matrix_from_quaternion(x[Q])
    np.testing.assert_allclose(v[:3], R.T @ (x[V] + np.cross(x[W], R @ TIP)), atol=1e-12)
    np.testing.assert_allclose(v[3:], R.T @ x[W], atol=1e-12)


def pushed(measured, desired, *, axes=(1, 1, 1, 1, 1, 1), v=NONE, short=NONE, memory=None, **law):
    """The active wrench of one step at the level with a velocity (6,) of the body, and its memory."""
    x, memory, out = np.zeros(13), memory or WrenchMemory.empty(), np.zeros(6)
    x[6], x[7:] = 1.0, v
    tracked, wrenches = TrackedAxes(np.array(axes, float), TIP), Wrenches(measured, desired, short)
    selective_wrench(x, wrenches, tracked, selective(**law), memory, M, DT, out)
    return out, memory


def test_axes_of_the_pose_are_given_their_share_of_what_is_measured():
    out, memory = pushed(SIX, NONE)
    np.testing.assert_allclose(out, -np.repeat([0.6, 0.3], 3) * SIX)
    assert not memory.share.any()


FORWARD = (0, 1, 1, 1, 1, 1)


@pytest.mark.parametrize(
    ("measured", "desired", "push"),
    [
        (-2.0, -2.0, 2.0),  # all of it is met
        (0.0, -2.0, 0.5 * MASS * 3.0 * 0.2),  # nothing to push against: half of m d v_max
        (-1.0, -2.0, 1.0 + 0.5 * MASS * 3.0 * 0.2),  # what is met, and as much beyond
        (-2.0, -1.8, 1.7),  # too much of a push: + 0.5 (-0.2)
    ],
)
def test_a_push_is_what_is_desired_and_no_more_than_meets_it_by_a_margin(measured, desired, push):
    """At rest U = met + (push - met): a push along x through the tip needs a torque about the origin."""
    out, _ = pushed(measured * np.eye(6)[0], desired * np.eye(6)[0], axes=FORWARD)
    assert out[0] == pytest.approx(push)
    met = min(push, -measured)
    known = np.cross(TIP, [measured, 0.0, 0.0])
    torque = np.cross(TIP, [met, 0.0, 0.0]) - 0.3 * (0.0 - known)
    np.testing.assert_allclose(out[3:], torque, atol=1e-12)


@pytest.mark.parametrize(
    ("v", "push", "undamped"),
    [(0.0, 2.0, 0.5), (0.1, 1.0, 0.5), (0.2, 0.0, 0.0), (-0.1, 2.0, 0.5)],
)
def test_a_push_ends_at_the_speed_of_approach_and_is_damped_by_half_where_it_is_met(
    v, push, undamped
):
    out, _ = pushed(-2.0 * np.eye(6)[0], -2.0 * np.eye(6)[0], axes=FORWARD, v=v * np.eye(6)[0])
    assert out[0] == pytest.approx(push - MASS * 3.0 * v * (1.0 - undamped))


@pytest.mark.parametrize(
    ("measured", "short", "grows"),
    [
        (-1.9, 0.0, True),
        (-1.9, -0.1, True),  # what is short pulls the other way
        (-1.9, 0.1, False),  # rotors give no more
        (0.0, 0.0, False),  # beyond the margin
        (-2.1, 0.0, True),
    ],
)
def test_an_integral_stops_where_the_push_or_the_rotors_are_at_their_limit(measured, short, grows):
    x = np.eye(6)[0]
    _, memory = pushed(measured * x, -2.0 * x, axes=FORWARD, short=short * x)
    expected = 2.0 * (measured + 2.0) * DT if grows else 0.0
    np.testing.assert_allclose(memory.share, expected * x, atol=1e-12)


@pytest.mark.parametrize(("push", "kept"), [(2.0, 2.0), (9.0, 3.2), (-9.0, 0.8)])
def test_control_begins_with_the_push_that_was_there_within_the_margin(push, kept):
    """Measured -2 N, margin 1.2 N: the first step's push is the last one before."""
    memory, x = WrenchMemory.empty(), np.eye(6)[0]
    axes = np.array([True, False, False, False, False, False])
    start_selective(push * np.ones(6), -2.0 * x, -1.5 * x, axes, selective(), memory, M)
    assert memory.share[0] == pytest.approx(kept - 1.5 - 0.5 * (-2.0 + 1.5))
    assert not memory.share[1:].any()
    out, _ = pushed(-2.0 * x, -1.5 * x, axes=FORWARD, memory=memory)
    assert out[0] == pytest.approx(kept)
