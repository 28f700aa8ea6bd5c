# SPDX-License-Identifier: BSD-3-Clause
"""Directions in which joints let aircraft push: ranks by numeric differentiation, commands that joints can obey."""

from types import SimpleNamespace

import numpy as np
import pytest
from flying import fly_scenario, model_of
from turning_joints import PLATFORMS
from various_platforms import platform_of, various

from iap_control.allocation.allocator import Allocator
from iap_control.allocation.thrust_directions import (
    CROSSED,
    FIXED,
    FREE,
    HINGED,
    Reach,
    swings_of,
)
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.joint_motion import fitted, joint_attitude
from iap_description.vehicles.platform import load_platform

UP = np.array([0.0, 0.0, 1.0])
SWINGS = dict(zip(PLATFORMS, ([CROSSED] * 3, [HINGED] * 3, [FREE, HINGED, HINGED]), strict=True))
ACROSS = {"type": "revolute", "axes": [[0.0, 1.0, 0.0]]}  # thrust turns outwards


def wrench_of(assembly, inputs):
    """Wrench (6,) in P of each aircraft's thrust [N] and joint angles, spherical ones turned about x and y."""
    wrench, k = np.zeros(6), 0
    for joint in assembly.joints:
        axes = np.eye(3)[:2] if joint.kind.turns_freely else joint.axes
        thrust, angles = inputs[k], inputs[k + 1 : k + 1 + len(axes)]
        k += 1 + len(axes)
        q = so3.multiply(joint.q_PJ, joint_attitude(axes, angles)) if len(axes) else joint.q_PJ
        f = thrust * so3.rotate(q, UP)
        wrench += np.concatenate([f, np.cross(joint.p_PJ_P, f)])
    return wrench


def numeric_rank(assembly, thrust=20.0, h=1e-5):
    counts = [2 if joint.kind.turns_freely else len(joint.axes) for joint in assembly.joints]
    rest = np.concatenate([[thrust, *np.zeros(count)] for count in counts])
    steps = h * np.eye(len(rest))
    J = [(wrench_of(assembly, rest + s) - wrench_of(assembly, rest - s)) / (2 * h) for s in steps]
    return np.linalg.matrix_rank(np.array(J), tol=1e-4)


@pytest.mark.parametrize("name", PLATFORMS)
def test_the_rank_is_that_of_the_wrench_by_thrusts_and_angles(name):
    model, assembly = model_of(name), Assembly.of(load_platform(name))
    assert model.swings.tolist() == SWINGS[name]
    assert model.reach.rank == numeric_rank(assembly) == 6 and model.actuation.name == "full"
    np.testing.assert_allclose(model.B @ model.B_inverse, np.eye(6), atol=1e-12)


def test_hinges_across_the_tubes_turn_nothing_about_z_and_the_line_says_so():
    platform = platform_of(various(**ACROSS))
    assert numeric_rank(Assembly.of(platform)) == 5
    with pytest.raises(BadInput, match="along 5 of 6 axes only, and not along yaw, for which"):
        model_of(platform)


@pytest.mark.parametrize(
    ("joint", "said"),
    [
        ({"type": "revolute", "axes": [[0.0, 0.6, 0.8]]}, "not across its aircraft's thrust"),
        (
            {"type": "universal", "axes": [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]},
            "not across its aircraft's thrust",
        ),
        (
            {"type": "revolute", "axes": [[1.0, 0.0, 0.0]], "offset": [0.0, 0.0, 0.02]},
            "platform.joints.0.offset': .* off the aircraft's CoM",
        ),
    ],
)
def test_joints_without_a_control_law_are_refused(joint, said):
    with pytest.raises(BadInput, match=said):
        model_of(platform_of(various(**joint)))


def test_what_thrusts_reach_does_not_depend_on_where_the_frame_is_nor_on_the_size():
    places = np.array([[0.5, 0.0, 0.0], [-0.3, 0.4, 0.0], [-0.3, -0.4, 0.0], [0.0, 0.1, 0.2]])
    reach = Reach.of(places)
    assert reach.rank == 6 and reach.left.shape == (0, 6)
    for other in (places + [1.0, -2.0, 3.0], 7.0 * places, places[::-1] - 0.4):
        np.testing.assert_allclose(Reach.of(other).singular, reach.singular, atol=1e-12)


@pytest.mark.parametrize(
    ("places", "singular", "lacking"),
    [
        ([[3.0, 4.0, 5.0]], [1.0] * 3 + [0.0] * 3, ["roll", "pitch", "yaw"]),
        ([[2.0, 0.0, 1.0], [6.0, 0.0, 1.0]], [2.0**0.5] * 5 + [0.0], ["roll"]),
    ],
)
def test_what_one_or_two_free_thrusts_reach_is_told_by_number_and_name(places, singular, lacking):
    reach = Reach.of(np.array(places))
    np.testing.assert_allclose(reach.singular, singular, atol=1e-12)
    assert reach.rank == 6 - len(lacking)
    assert sorted(reach.lacking.split(", ")) == sorted(lacking)


def test_a_wrench_counts_as_made_above_a_millionth():
    reach = Reach.of_map(np.diag([2.0, 1.0, 1.0, 1.0, 1.05e-6, 0.95e-6]))
    assert reach.rank == 5 and np.abs(reach.left).tolist() == [[0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]
    few = Reach.of_map(np.eye(6)[:, :2])
    assert few.rank == 2 and few.singular.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]


X, Y, Z = np.eye(3).tolist()


@pytest.mark.parametrize(
    ("axes", "kind", "found"),
    [
        ([X, Y], CROSSED, [X, Y]),
        ([Y, X], CROSSED, [Y, [-1.0, 0.0, 0.0]]),  # so that the cross product is z
        ([[-1.0, 0.0, 0.0], Y], CROSSED, [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]),
        ([Y], HINGED, [Y, [0.0] * 3]),
        ([Z], FIXED, [Z, [0.0] * 3]),
    ],
)
def test_axes_of_a_universal_joint_are_turned_so_that_their_cross_product_is_the_thrust(
    axes, kind, found
):
    free = SimpleNamespace(turns_freely=False, is_free=True)
    joint = SimpleNamespace(
        axes=np.array(axes), kind=free, is_sprung=False, type="any", p_CJ_C=np.zeros(3)
    )
    sprung = SimpleNamespace(axes=np.array(axes), kind=free, is_sprung=True)
    assembly = SimpleNamespace(name="any", aircraft=(1, 2), joints=(joint, sprung))
    kinds, turned = swings_of(assembly)
    assert kinds.tolist() == [kind, FIXED]
    np.testing.assert_array_equal(turned[0], found)


def test_a_wrench_that_cannot_be_made_is_told_without_its_small_parts():
    left = np.zeros((2, 6))
    left[0, [0, 4, 5]], left[1, 2] = [-1.0, 0.051, 0.049], -0.3
    assert Reach(4, np.ones(6), left).lacking == "x with pitch, z"


@pytest.mark.parametrize("name", PLATFORMS)
def test_commands_are_attitudes_that_joints_allow_and_make_the_wrench(name):
    model, assembly = model_of(name), Assembly.of(load_platform(name))
    allocate = Allocator(model, rate_filter=0.02, dt=0.005)
    rng = np.random.default_rng(1)
    for _ in range(20):
        q_WP = so3.quaternion_exp(rng.normal(0.0, 0.15, 3))
        U = np.array([0.0, 0.0, 58.0, 0.0, 0.0, 0.0]) + rng.uniform(-1.0, 1.0, 6) * [
            6,
            6,
            5,
            2,
            2,
            2,
        ]
        command = allocate(U, q_WP, np.zeros(3))
        assert not allocate.saturated
        parent = np.concatenate([np.zeros(3), q_WP, np.zeros(6)])
        for joint, q in zip(assembly.joints, command.q_WB, strict=True):
            near, _ = fitted(joint, parent, q, None)
            assert abs(near @ q) == pytest.approx(1.0, abs=1e-12)
        f_P = so3.rotate(
            so3.conjugate(q_WP), command.thrust[:, None] * so3.rotate(command.q_WB, UP)
        )
        np.testing.assert_allclose(model.B @ f_P.ravel(), U, atol=1e-9)
        np.testing.assert_allclose(allocate.made_P, U, atol=1e-9)


def test_a_hinge_gives_up_what_is_beyond_its_limits_and_tells_the_lack():
    model = model_of("three_star_hinge")
    allocate = Allocator(model, rate_filter=0.02, dt=0.005)
    U = np.array([60.0, 0.0, 58.0, 0.0, 0.0, 8.0])
    level = np.array([0.0, 0.0, 0.0, 1.0])
    command = allocate(U, level, np.zeros(3))
    assert allocate.saturated and (command.thrust <= 36.0 + 1e-9).all()
    tilts = np.arccos(so3.rotate(command.q_WB, UP)[:, 2])
    assert np.rad2deg(tilts).max() <= 50.0 + 1e-9
    f_P = command.thrust[:, None] * so3.rotate(command.q_WB, UP)
    np.testing.assert_allclose(model.B @ f_P.ravel(), allocate.made_P, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLATFORMS)
def test_six_degrees_of_freedom_follow_the_spiral(name):
    (flown,) = fly_scenario("three_star_spiral", engine="pybullet", platform=name, duration=8.0)
    assert np.sqrt((flown.position_error**2).sum(axis=1).mean()) < 0.005
    assert np.sqrt((flown.attitude_error_deg**2).mean(axis=0)).max() < 0.5
