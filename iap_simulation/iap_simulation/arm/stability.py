# SPDX-License-Identifier: BSD-3-Clause
"""Stability of the law along a flown path, aerial_manipulator section IV, and of what the paper leaves out.

With V = e^T e / 2 of the error e = r_d - r, eq. (25), the paper takes the commanded velocities for the real ones and
finds V' = -e^T K_2 tanh(K_2^-1 K_1 e) < 0, eq. (28). The plant has gains and lags: V rises wherever what they leave of
r_d' is larger than the correction. Near the path, with J, M and C held, error and velocities follow

    e' = -J v + ...        M v' + C v = J^+ K_1 e + ...

whose poles, and whose eigenvalues from one held command to the next, tell whether the loop is stable.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from iap_control.arm.tip_velocities import TipVelocities
from iap_control.laws.end_effector import EndEffectorLaw
from iap_description.arrays import Array
from iap_description.vehicles.arm import Arm
from iap_physics.identified.dynamics import SIZE, damping, inertia
from iap_physics.identified.plant_file import DynamicPlant, PlantFile, load_plant
from iap_simulation.flights.state_log import StateLog
from iap_simulation.scenario.scenario import Scenario

INSTANTS = 40  # of the path at which poles are computed


@dataclass(frozen=True)
class PathLoop:
    """The loop of (27) on an identified plant, as data.

    Attributes:
        arm: that is moved.
        law: with its gains.
        slope: (4,) diagonal of K_1 [1/s].
        plant: the model.
        static_inverse: whether commands are those at which it holds velocities.
        period: for which a command is held [s].
    """

    arm: Arm
    law: EndEffectorLaw
    slope: Array
    plant: PlantFile
    static_inverse: bool
    period: float

    @classmethod
    def of(cls, scenario: Scenario, motion: TipVelocities) -> Self:
        """The loop of a scenario with an identified plant."""
        plant, arm = scenario.identified, scenario.vehicles[0].platform.arm
        assert plant is not None and arm is not None  # noqa: S101 - the scenario has been checked
        law, slope = EndEffectorLaw(arm, motion.control), np.array(motion.control.slope)
        model = load_plant(plant.file)
        return cls(arm, law, slope, model, plant.static_inverse, scenario.dt)


def stability(loop: PathLoop, log: StateLog, r_d: Array, settle: float) -> dict[str, Any]:
    """The check of a flight, with plain numbers.

    Args:
        loop: that flew.
        log: of its K states.
        r_d: (K, 4) where the end effector should have been.
        settle: time from which the error's rising counts [s].

    Returns:
        `lyapunov_rate_max`: largest V' of (28); below zero by its derivation.
        `rising_share`: share of the time in which the real V rises.
        `rising_error_max`: largest |e| at which it does so; beyond it the error shrinks.
        `singular_value_min`: smallest of J along the path.
        `pole_max_per_s`, `sampled_radius`: the slowest pole and the largest eigenvalue of held commands.
        Of a plant that is not of eq. (18) the last two are None.
    """
    pose, q = log.pose, log.q
    rows = zip(r_d, pose, q, strict=True)
    errors = np.array([loop.law.error(goal, p[:3], p[3], each) for goal, p, each in rows])
    corrections = np.array([loop.law.correction(e) for e in errors])
    sizes = np.linalg.norm(errors, axis=1)[log.t >= settle]
    rises, sizes = np.diff(sizes) > 0.0, sizes[:-1]
    poses = [(pose[k, 3], q[k]) for k in _instants(len(pose))]
    spread = [np.linalg.svd(loop.law.jacobian(*each), compute_uv=False)[-1] for each in poses]
    return {
        "lyapunov_rate_max": float(-np.min(np.sum(errors * corrections, axis=1))),
        "rising_share": float(rises.mean()) if len(rises) else None,
        "rising_error_max": float(sizes[rises].max(initial=0.0)),
        "singular_value_min": float(min(spread)),
        **_poles(loop, poses),
    }


def _instants(count: int) -> Array:
    return np.unique(np.linspace(0, count - 1, INSTANTS).astype(int))


def _poles(loop: PathLoop, poses: list[tuple[float, Array]]) -> dict[str, float | None]:
    """Slowest pole and largest eigenvalue along the path, without the directions in which the task is free."""
    if not isinstance(loop.plant, DynamicPlant):
        return {"pole_max_per_s": None, "sampled_radius": None}
    loops = [linear_loop(loop, *each) for each in poses]
    poles = [np.linalg.eigvals(free + held).real.max() for free, held in loops]
    radii = [np.abs(np.linalg.eigvals(sampled(*each, loop.period))).max() for each in loops]
    return {"pole_max_per_s": float(max(poles)), "sampled_radius": float(max(radii))}


def linear_loop(loop: PathLoop, yaw: float, q: Array) -> tuple[Array, Array]:
    """X' = A x + B x_held of x = (e, v), with the platform and the arm in a pose.

    Args:
        loop: of a dynamic plant.
        yaw: of the platform [rad].
        q: (3,) joint angles [rad].

    Returns:
        A and B, square.
    """
    assert isinstance(loop.plant, DynamicPlant)  # noqa: S101 - see `_poles`
    dynamics, J = loop.plant.dynamics(), loop.law.jacobian(yaw, q)
    rows = len(J)
    lag = np.linalg.inv(inertia(dynamics, q))
    C = damping(dynamics, q, np.zeros(SIZE))
    gain = loop.law.inverse(J) @ np.diag(loop.slope[:rows])
    if loop.static_inverse:
        gain = C @ gain
    A, B = np.zeros((2, rows + SIZE, rows + SIZE))
    A[:rows, rows:], A[rows:, rows:] = -J, -lag @ C
    B[rows:, :rows] = lag @ gain
    return A, B


def sampled(A: Array, B: Array, period: float) -> Array:
    """State after a period [s] by the state at its beginning, whose command is held."""
    n = len(A)
    from scipy.linalg import expm  # takes a fifth of a second, and few flights have this loop

    sampled = expm(period * np.block([[A, B], [np.zeros((n, 2 * n))]]))
    return np.asarray(sampled[:n, :n] + sampled[:n, n:])
