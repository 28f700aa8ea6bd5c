# SPDX-License-Identifier: BSD-3-Clause
r"""Outcome of docking one module onto another: when it has succeeded, when it has failed, and why, compiled for a pair.

With the follower's offset :math:`e = g n + s` from where it is joined, in the leader's axes, g is the gap along the
leader's face normal n, and |s| the distance aside of it. The closing speed is that of the follower along -n.
"""

from typing import NamedTuple

from iap_description.arrays import Array
from iap_description.math.kernels import (
    dot,
    formula,
    norm,
    quat_at,
    scale,
    sub,
    unrotate,
    vec,
    vec_at,
)
from iap_physics.engines.engine import RUNNING
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    COLLIDED,
    CRASHED,
    OUT_OF_BOUNDS,
    TIME_IS_UP,
    TOO_FAST,
)

TIME_TOLERANCE = 1e-9  # of a sum of control periods [s]


class ModuleDockingLimits(NamedTuple):
    """Limits of a docking of modules.

    Attributes:
        closing_speed: largest at the catch [m/s].
        overlap: largest of the faces without a catch [m].
        size: of a module [m].
        away: largest distance of the follower from where it is joined [m].
        seconds: time by which the latch has caught [s].
    """

    closing_speed: float
    overlap: float
    size: float
    away: float
    seconds: float


class ModuleApproach(NamedTuple):
    """Pose of a follower to where it is joined, see the module.

    Attributes:
        gap: g [m].
        aside: |s| [m].
        distance: |e| [m].
        closing: speed [m/s].
    """

    gap: float
    aside: float
    distance: float
    closing: float


class ModuleDockingInstant(NamedTuple):
    """A docking of modules at an instant.

    Attributes:
        t: simulation time [s].
        status: ``RUNNING``, or why the flight has ended, see `iap_simulation.tasks.outcomes.OUTCOMES`.
        approach: of the follower; once it is caught, at the catch.
        is_caught: whether the latch has caught.
        is_joined: whether the modules are joined.
        is_given_up: whether the coordinator has given the docking up.
    """

    t: float
    status: int
    approach: ModuleApproach
    is_caught: bool
    is_joined: bool
    is_given_up: bool


@formula
def module_approach(
    leader: Array, follower: Array, home_L: Array, normal_L: Array
) -> ModuleApproach:
    """Pose of a follower's state row (13,) to a leader's.

    Args:
        leader: state row.
        follower: state row.
        home_L: (3,) place of the follower's CoM in the leader's frame once joined [m].
        normal_L: (3,) out of the leader's face.
    """
    q_WL, n = quat_at(leader, 3), vec(normal_L)
    e = sub(unrotate(q_WL, sub(vec_at(follower, 0), vec_at(leader, 0))), vec(home_L))
    gap = dot(e, n)
    v_W = sub(vec_at(follower, 7), vec_at(leader, 7))
    closing = -dot(unrotate(q_WL, v_W), n)
    return ModuleApproach(gap, norm(sub(e, scale(gap, n))), norm(e), closing)


@formula
def outcome(now: ModuleDockingInstant, limits: ModuleDockingLimits) -> int:
    """Outcome of a docking of modules at an instant, see `iap_simulation.tasks.outcomes`."""
    if now.status != RUNNING:
        return now.status
    if now.is_caught and not now.approach.closing <= limits.closing_speed:
        return TOO_FAST
    if now.is_given_up:
        return CRASHED
    if now.is_joined:
        return ARRIVED
    if now.is_caught:
        return RUNNING
    if now.approach.gap < -limits.overlap and now.approach.aside < limits.size:
        return COLLIDED
    if now.approach.distance > limits.away:
        return OUT_OF_BOUNDS
    return TIME_IS_UP if now.t >= limits.seconds - TIME_TOLERANCE else RUNNING
