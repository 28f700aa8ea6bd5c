# SPDX-License-Identifier: BSD-3-Clause
"""Structures of modules, the wrenches in their joints and the feed-forward that takes them away."""

from dataclasses import dataclass

import numpy as np
import pytest
from support.module_joints import SIZE, chain, lift, square

from iap_control.modules.feed_forward import Compensation, FeedForward
from iap_control.modules.guidance import put_member_row
from iap_control.modules.joint_wrench import (
    disturbance,
    joint_wrenches,
    potential,
    potential_of_joints,
)
from iap_control.modules.structure import ModuleJoint, Structure, structures
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3

MASS = 4.6


def felt(structure: Structure, joint_S: Array, common: Array) -> Array:
    """(n, 6) what modules feel of wrenches in joints about their places, and of one that all feel."""
    out = np.tile(common, (len(structure.modules), 1))
    for e, wrench in enumerate(joint_S):
        for i, sign in enumerate(structure.incidence[:, e]):
            arm = structure.joints_S[e] - structure.offsets_S[i]
            out[i, :3] += sign * wrench[:3]
            out[i, 3:] += sign * (wrench[3:] + np.cross(arm, wrench[:3]))
    return out


@pytest.mark.parametrize("count", range(2, 9))
def test_the_leader_of_a_chain_is_the_module_nearest_its_centre(count: int) -> None:
    structure = Structure.of(chain(count), 0)
    assert structure.leader == (count - 1) // 2
    np.testing.assert_allclose(structure.offsets_S.mean(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("joints", [chain(2), chain(5), chain(8)])
def test_wrenches_of_a_chain_are_found_by_the_recursion(joints: dict[str, ModuleJoint]) -> None:
    """W_(i+1) = W_i + W_dist - W_ext,i from W_1 = 0, forces; the printed sign gives the opposite."""
    structure, rng = Structure.of(joints, 0), np.random.default_rng(1)
    W, common = rng.normal(size=(len(joints), 6)), rng.normal(size=6)
    external = felt(structure, W, common)
    found = joint_wrenches(structure, potential(structure, external))
    np.testing.assert_allclose(found, W, atol=1e-12)
    np.testing.assert_allclose(disturbance(structure, external), common, atol=1e-12)
    recursive = np.cumsum(common[:3] - external[:-1, :3], axis=0)
    np.testing.assert_allclose(recursive, W[:, :3], atol=1e-12)


def test_wrenches_of_a_branch_are_found_about_their_own_places() -> None:
    tree = {key: joint for key, joint in square().items() if key != "d"}
    structure, rng = Structure.of(tree, 0), np.random.default_rng(2)
    W = rng.normal(size=(3, 6))
    external = felt(structure, W, rng.normal(size=6))
    found = joint_wrenches(structure, potential(structure, external))
    np.testing.assert_allclose(found, W, atol=1e-12)
    np.testing.assert_allclose(
        joint_wrenches(structure, potential_of_joints(structure, W)), W, atol=1e-12
    )


def test_a_wrench_that_circulates_in_a_closed_loop_is_not_seen() -> None:
    structure = Structure.of(square(), 0)
    circulating = np.zeros((4, 6))
    circulating[:, 2] = [1.0, -1.0, 1.0, -1.0]  # a: 0 -> 1, b: 0 -> 2, c: 1 -> 3, d: 2 -> 3
    external = felt(structure, circulating, np.zeros(6))
    assert np.abs(external[:, :3]).max() < 1e-12
    found = joint_wrenches(structure, potential(structure, external))
    assert np.abs(found[:, :3]).max() < 1e-12


def test_a_member_moves_with_its_structure() -> None:
    """Velocity and acceleration of a place are the derivatives of the position."""
    h, d = 1e-5, np.array([0.3, -0.2, 0.1])
    rows = [_motion(t) for t in (1.0 - h, 1.0, 1.0 + h)]
    out = np.zeros((3, 20))
    for row, each in zip(rows, out, strict=True):
        put_member_row(row, d, each)
    velocity = (out[2, :3] - out[0, :3]) / (2.0 * h)
    acceleration = (out[2, :3] - 2.0 * out[1, :3] + out[0, :3]) / h**2
    np.testing.assert_allclose(out[1, 7:10], velocity, atol=1e-8)
    np.testing.assert_allclose(out[1, 13:16], acceleration, atol=1e-5)


def _motion(t: float) -> Array:
    """A reference that turns about its z axis and flies a curve."""
    angle, rate, growth = 0.4 * t * t, 0.8 * t, 0.8
    row = np.zeros(20)
    row[:3] = np.sin(t), np.cos(t), t
    row[3:7] = so3.quaternion_exp(np.array([0.0, 0.0, angle]))
    row[7:10] = np.cos(t), -np.sin(t), 1.0
    row[12], row[18] = rate, growth
    row[13:16] = -np.sin(t), -np.cos(t), 0.0
    return row


@dataclass
class RigidChain:
    """Modules in a row that move along one axis as one body, each under a PID on its own biased place.

    Attributes:
        structure: of the modules.
        biases: (n,) of their places [m].
        forces: (n,) that act on them besides [N].
        lag: of thrusts [s].
        rate: of the control [Hz].
    """

    structure: Structure
    biases: Array
    forces: Array
    lag: float = 0.05
    rate: float = 200.0

    def fly(self, compensation: Compensation, seconds: float, limit: float = 0.1) -> Array:
        """(T, m) force along the axis in each joint under settled compensation [N]; ends beyond 1 kN."""
        n, dt = len(self.biases), 1.0 / self.rate
        feed = FeedForward(lift(n), 0.2, compensation, limit=limit)
        integral, thrust, residual = np.zeros(n), np.zeros(n), np.zeros(n)
        integrates = np.full(n, compensation == "none")
        integrates[self.structure.leader] = True
        p = v = 0.0
        forces = []
        for k in range(round(seconds * self.rate)):
            error = -(p + self.biases)
            integral += np.where(integrates, error * dt, 0.0)
            command = MASS * (10.0 * error - 5.0 * v + 0.2 * integral) + feed.wrenches_P[:, 0]
            thrust += -np.expm1(-dt / self.lag) * (command - thrust)
            a = (thrust.sum() + self.forces.sum()) / (n * MASS)
            v += a * dt
            p += v * dt
            external = MASS * a - thrust
            residual += -np.expm1(-3.0 * dt) * (external - residual)
            if k % round(self.rate / 40.0) == 0:
                wrenches = np.zeros((n, 6))
                wrenches[:, 0] = residual
                feed.update(self.structure, wrenches, np.zeros((n - 1, 6)))
            in_joints = np.linalg.pinv(self.structure.incidence) @ (external - self.forces)
            forces.append(in_joints)
            if np.abs(in_joints).max() > 1e3:
                break
        return np.array(forces)


def rigid_chain(count: int, force: float = 0.0) -> RigidChain:
    """A chain whose modules have biases of 0.05 m, with a force on the first [N]."""
    biases = 0.05 * np.where(np.random.default_rng(count).random(count) < 0.5, -1.0, 1.0)
    biases[0] = -biases[-1]
    return RigidChain(Structure.of(chain(count), 0), biases, force * np.eye(count)[0])


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_accumulated_feed_forward_takes_the_force_out_of_all_joints(count: int) -> None:
    forces = np.abs(rigid_chain(count).fly("default", 40.0))
    assert forces[:200].max() > 1.0
    assert forces[-200:].max() < 1e-3


def test_the_limit_slows_short_chains_down_and_no_chain_of_eight() -> None:
    four, eight = rigid_chain(4), rigid_chain(8)
    np.testing.assert_array_equal(eight.fly("default", 3.0), eight.fly("default", 3.0, limit=1.0))
    limited, free = (np.abs(four.fly("default", 3.0, each)).max(axis=1) for each in (0.1, 1.0))
    assert limited[-1] > free[-1]


@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_without_compensation_the_force_grows(count: int) -> None:
    forces = np.abs(rigid_chain(count).fly("none", 20.0)).max(axis=1)
    assert forces[-1] > 1.05 * forces[1000] > 1.05


@pytest.mark.parametrize("count", [2, 4, 8])
def test_with_printed_signs_modules_fly_apart(count: int) -> None:
    forces = rigid_chain(count).fly("printed", 10.0)
    assert len(forces) < 2000
    assert np.abs(forces[-1]).max() > 1e3


@pytest.mark.slow
def test_a_force_on_one_end_of_three_stays_in_the_joints() -> None:
    """(39) takes the mean for what all feel: 2/3 and 1/3 of it stay, for ever."""
    found = np.abs(rigid_chain(3, force=2.0).fly("default", 100.0)[-1])
    np.testing.assert_allclose(found, [4.0 / 3.0, 2.0 / 3.0], rtol=1e-3)


def test_measured_joints_tell_a_force_on_one_module_from_one_between_two() -> None:
    structure, feed = Structure.of(chain(3), 0), FeedForward(lift(3), 0.2, "default", limit=1.0)
    feed.update_measured(structure, np.zeros((2, 6)), np.zeros((2, 6)))
    assert not feed.wrenches_P.any()
    external = np.zeros((3, 6))
    external[0, 0] = 2.0
    feed.update(structure, external, np.zeros((2, 6)))
    assert np.abs(feed.wrenches_P).max() > 0.1


def test_a_wanted_wrench_is_approached_about_the_joints_place() -> None:
    """Rigid modules at rest: what feed-forward adds appears in the joints at once."""
    structure, feed = Structure.of(chain(3), 0), FeedForward(lift(3), 0.2, "default", limit=1.0)
    desired = np.zeros((2, 6))
    desired[0] = [0.0, 0.0, 5.0, 0.0, 1.0, 0.0]
    bound = np.zeros((2, 6))
    for _ in range(200):
        feed.update(structure, felt(structure, bound, np.zeros(6)), desired)
        bound = joint_wrenches(structure, potential(structure, -feed.wrenches_P))
    np.testing.assert_allclose(bound, desired, atol=1e-4)


def test_modules_apart_are_structures_of_their_own() -> None:
    found = structures({"j": ModuleJoint(2, 1, (SIZE, 0.0, 0.0))}, range(4))
    assert [each.modules for each in found] == [(0,), (1, 2), (3,)]
    np.testing.assert_allclose(found[1].offset_S(1), [0.5 * SIZE, 0.0, 0.0])


def test_a_loop_that_does_not_fit_is_refused() -> None:
    crooked = {**square(), "d": ModuleJoint(2, 3, (SIZE, 0.1, 0.0))}
    with pytest.raises(BadInput, match="misses itself by 0.1 m"):
        Structure.of(crooked, 0)


def test_all_modules_of_a_structure_push_against_a_wind_and_go_on_alone():
    structure, feed = Structure.of(chain(3), 0), FeedForward(lift(3), 0.2, "default", limit=1.0)
    wind = np.array([0.6, -0.2, 0.0])
    for _ in range(200):
        feed.push_against(structure, wind, 0.05)
    np.testing.assert_allclose(feed.wrenches_P, [[-0.6, 0.2, 0.0, 0.0, 0.0, 0.0]] * 3, atol=1e-4)
    feed.put(2, np.zeros(6))
    np.testing.assert_allclose(feed.wrenches_P[2, :3], -wind, atol=1e-4)


def test_a_joint_is_halfway_between_the_modules_that_it_joins():
    structure = Structure.of(square(), 0)
    row = {module: i for i, module in enumerate(structure.modules)}
    for k, joint in enumerate(square().values()):
        ends = structure.offsets_S[[row[joint.a], row[joint.b]]]
        np.testing.assert_allclose(structure.joints_S[k], ends.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(ends[1] - ends[0], joint.d_ab_S, atol=1e-12)


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_the_gain_falls_with_the_least_eigenvalue_of_a_long_chain_and_is_whole_of_a_short_one(
    count,
):
    """Chain of n: 2 - 2 cos(pi / n). What one period adds to the force of the last module is k lambda S."""
    structure, feed = (
        Structure.of(chain(count), 0),
        FeedForward(lift(count), 0.2, "default", limit=1.0),
    )
    joint_S = np.zeros((count - 1, 6))
    joint_S[-1, 0] = 1.0
    feed.update_measured(structure, joint_S, np.zeros_like(joint_S))
    sizes = feed.wrenches_P[-1, 0] - feed.wrenches_P[-2, 0]
    least = 2.0 - 2.0 * np.cos(np.pi / count)
    assert sizes == pytest.approx(0.2 * min(least, 1.0), rel=1e-9)
    assert not feed.wrenches_P[structure.leader].any()
