# SPDX-License-Identifier: BSD-3-Clause
"""Control of platforms whose aircraft or joints differ, whose travel is limited, or whose joints are off the CoM."""

import numpy as np
import pytest
from flying import fly_scenario, model_of
from various_platforms import platform_of, various

from iap_control.allocation.allocator import Allocator
from iap_control.lever import LeverCompensation
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import Q, V, W
from iap_description.vehicles.assembly import Assembly
from iap_physics.engines.joints import joined_rows

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
HOVER = {"type": "hover", "duration": 3.0, "position": [0.0, 0.0, 1.5], "rpy_deg": [0.0, 0.0, 0.0]}


def model(**joint):
    return model_of(platform_of(various(**joint)))


def test_two_free_aircraft_and_a_fixed_one_make_any_wrench():
    mixed = model(fixed=(0,))
    assert mixed.actuation.name == "full"
    np.testing.assert_allclose(mixed.B @ mixed.B_inverse, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(mixed.B_inverse[:2], 0.0, atol=1e-12)  # along its own z axis


def test_too_few_free_aircraft_are_refused_with_the_key():
    with pytest.raises(BadInput, match=r"key 'platform\.joints': .* push along 5 of 6 axes"):
        model(fixed=(0, 1))


def test_a_stronger_aircraft_bears_more():
    mixed = model(heavy=0)
    weight = mixed.inertia.mass * 9.81
    thrusts = mixed.B_inverse @ np.array([0.0, 0.0, weight, 0.0, 0.0, 0.0])
    lift = thrusts.reshape(3, 3)[:, 2]
    assert lift.sum() == pytest.approx(weight)
    torque = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    across = np.linalg.norm((mixed.B_inverse @ torque).reshape(3, 3), axis=1)
    assert across[0] > 1.3 * across[1]


def test_equal_aircraft_share_as_the_papers_minimum_norm_says():
    star = model()
    np.testing.assert_allclose(star.B_inverse, np.linalg.pinv(star.B), atol=1e-12)


def test_commands_stay_off_the_stops():
    star = model(limit_deg=20.0)
    allocator, rng = Allocator(star, rate_filter=0.01, dt=0.005), np.random.default_rng(4)
    for U in rng.normal(size=(100, 6)) * 60.0 + [0.0, 0.0, 60.0, 0.0, 0.0, 0.0]:
        q_WP = so3.quaternion_exp(0.1 * rng.normal(size=3))
        command = allocator(U, q_WP, np.zeros(3))
        z_P = so3.rotate(so3.conjugate(q_WP), so3.rotate(command.q_WB, np.array([0.0, 0.0, 1.0])))
        assert np.rad2deg(np.arccos(z_P[:, 2])).max() < 20.0
    assert allocator.saturated


def test_a_fixed_aircraft_is_told_the_attitude_that_it_has():
    mixed = model(fixed=(1,))
    allocator = Allocator(mixed, rate_filter=0.01, dt=0.005)
    q_WP = so3.quaternion_exp(np.array([0.1, -0.2, 0.3]))
    weight = mixed.inertia.mass * 9.81
    command = allocator(np.array([3.0, 1.0, weight, 0.5, 0.2, 0.3]), q_WP, np.zeros(3))
    np.testing.assert_allclose(command.q_WB[1], so3.multiply(q_WP, mixed.q_PB[1]), atol=1e-12)


@pytest.mark.parametrize(
    "joint",
    [{"heavy": 0}, {"fixed": (0,)}, {"heavy": 0, "fixed": (1,)}, {"heavy": 2, "fixed": (0, 1, 2)}],
)
def test_platforms_of_several_kinds_hover(joint):
    (flown,) = fly_scenario({"description": "", "platform": various(**joint), "reference": HOVER})
    assert flown.position_rmse < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("joint", [{"heavy": 0}, {"fixed": (0,)}])
def test_platforms_of_several_kinds_fly_the_figure_eight(joint):
    eight = {"type": "figure_eight", "half_lap": 24.0, "laps": 1, "altitude": 4.1}
    eight |= {"amplitude": [4.5, 4.5, 2.4], "ramp_deg": [22.5, -22.5, 45.0]}
    tree = {"description": "", "platform": various(**joint), "reference": eight}
    (flown,) = fly_scenario(tree, duration=30.0)
    assert flown.position_rmse < 3e-3


def test_without_levers_nothing_is_compensated():
    assert LeverCompensation.of(Assembly.of(platform_of(various()))) is None
    rigid = platform_of(various(fixed=(0, 1, 2), offset=[0.0, 0.0, 0.02]))
    assert LeverCompensation.of(Assembly.of(rigid)) is None


def test_a_lever_adds_nothing_to_the_compensated_velocity():
    """The aircraft turn about their CoMs, which stand still: so does the platform, but for its levers."""
    assembly = Assembly.of(platform_of(various(offset=[0.0, 0.0, -0.02])))
    lever = LeverCompensation.of(assembly)
    q = np.array([joint.q_PJ for joint in assembly.joints])
    w = np.tile([0.7, -0.3, 0.0], (3, 1))
    base = np.concatenate([np.zeros(6), [1.0], np.cross(w[0], [0.0, 0.0, -0.02]), np.zeros(3)])
    x = joined_rows(assembly, base, q, w)
    np.testing.assert_allclose(x[1:, V], 0.0, atol=1e-12)
    np.testing.assert_allclose(lever(x, x[0])[[*range(7, 13)]], 0.0, atol=1e-12)


def test_a_motion_of_the_whole_platform_is_left_as_it_is():
    assembly = Assembly.of(platform_of(various(offset=[0.01, 0.0, -0.02])))
    base = np.concatenate(
        [np.zeros(3), so3.quaternion_exp(np.array([0.2, 0.1, -0.4])), np.arange(6.0)]
    )
    x = joined_rows(assembly, base)
    seen = LeverCompensation.of(assembly)(x, x[0])
    np.testing.assert_allclose(seen, x[0], atol=1e-12)
    assert seen[V] is not x[0, V] and (x[1:, W] == x[0, W]).all() and (x[0, Q] == base[Q]).all()
