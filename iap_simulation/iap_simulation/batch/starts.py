# SPDX-License-Identifier: BSD-3-Clause
"""Starts of many worlds at once: of each what `vehicle_start` gives its single run, bit for bit."""

from collections.abc import Sequence

import numpy as np
from numba import njit

from iap_control.batch.balance import Balance
from iap_description.arrays import Array, Booleans, Integers
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.math.kernels import add, put_at, qmul, quat_at, rotate, scale, sub, vec_at
from iap_description.math.random_streams import uniforms
from iap_description.states import REF_FIXED, REF_P, REF_Q, STATE_SIZE, P, Q
from iap_description.vehicles.assembly import Assembly, JointTable
from iap_simulation.scenario.randomization import START, drawn_coms
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.vehicles.vehicle import Vehicle

MOST_SEEDS = 2**63  # that a number of 64 bits with a sign tells apart


def give_seeds(all_seeds: Integers, indices: Integers, seeds: Sequence[int]) -> None:
    """Write new seeds of chosen worlds into those of all (B,).

    Raises:
        BadInput: there are more or fewer than chosen worlds, or they are no seeds.
    """
    if len(seeds) != len(indices):
        raise BadInput(f"reset: {len(indices)} seeds are expected, got {len(seeds)}")
    all_seeds[indices] = seed_array(seeds)


def seed_array(seeds: Sequence[int]) -> Integers:
    """Seeds as an array (n,).

    Raises:
        BadInput: one of them is none.
    """
    wrong = [seed for seed in seeds if seed < 0 or seed >= MOST_SEEDS]
    if wrong:
        raise BadInput(f"worlds: seed {wrong[0]}: from 0 to {MOST_SEEDS - 1} is expected")
    return np.array(seeds, dtype=np.int64)


class Starts:
    """Starts of a vehicle of a scenario.

    Args:
        scenario: resolved.
        vehicle: of it, of any seed.
        number: of the vehicle in the scenario.

    Attributes:
        assembly: of its platform, as the file says.
    """

    def __init__(self, scenario: Scenario, vehicle: Vehicle, number: int = 0) -> None:
        self._scenario, self._row = scenario, vehicle.timeline.row(0)
        self._name, self._spec = vehicle.name, scenario.vehicles[number]
        self.assembly = Assembly.of(self._spec.platform, self._name).without_looks()
        self._balance = Balance(vehicle.model)
        self._headings = np.ascontiguousarray(self._row[REF_FIXED:])
        fleet = vehicle.model.fleet
        self._per_square = 4.0 * np.array([each.rotor.c_f for each in fleet])
        self._idle = np.array([each.rotor.rpm_min * each.presence for each in fleet])
        self._bodies = len(self.assembly.bodies)
        self._joints = self.assembly.joint_table
        self._stands = self._spec.start.mode == "ground"
        turns = self._joints.turns
        self._turns = turns & (not self._stands and not self._balance.commands_rotors)

    def __call__(self, seeds: Integers) -> tuple[Array, Array, Array]:
        """States (n, bodies, 13), rotor speeds [rpm] and angles [rad] (n, N, 4) at the starts that seeds (n,) draw."""
        base = self._bases(seeds)
        coms = drawn_coms(seeds, self._scenario, self._spec)
        carried = self._balance(np.ascontiguousarray(base[:, Q]), self._headings)
        x = np.zeros((len(seeds), self._bodies, STATE_SIZE))
        _join(base, coms, self._joints, self._turns, carried.q_WB, x)
        if self._stands:
            idle = np.broadcast_to(self._idle, carried.rpm.shape)
            return x, idle, np.zeros_like(carried.tilt)
        if self._balance.commands_rotors:
            return x, carried.rpm, carried.tilt
        rpm = np.sqrt(carried.thrust / self._per_square)
        return x, np.broadcast_to(rpm[..., None], carried.rpm.shape), carried.tilt

    def _bases(self, seeds: Integers) -> Array:
        """State rows (n, 13) of the central bodies: at rest, displaced from the first reference."""
        draw, base = self._scenario.draw, np.zeros((len(seeds), STATE_SIZE))
        dice = uniforms(seeds, START.format(self._name), 6)
        spread = np.zeros(3) if self._spec.start.fixed else np.array(draw.position)
        base[:, P] = self._row[REF_P] + spread * dice[:, :3]
        turns = so3.quaternion_exp(np.deg2rad(draw.attitude_deg) * dice[:, 3:])
        _turn(self._row[REF_Q], turns, base)
        return base


@njit(cache=True)
def _turn(q: Array, turns: Array, base: Array) -> None:
    """Write an attitude (4,) with each of some turns (n, 4) before it into state rows (n, 13)."""
    for b in range(len(turns)):
        row = base[b]
        row[3], row[4], row[5], row[6] = qmul(quat_at(q, 0), quat_at(turns[b], 0))


@njit(cache=True)
def _join(
    base: Array, coms: Array, joints: JointTable, turns: Booleans, q_WB: Array, x: Array
) -> None:
    """Write states at rest whose joints hold, as `iap_physics.engines.joints.joined_rows` has them."""
    bodies, p_PJ_P, q_PJ, p_CJ_C, _ = joints
    for b in range(len(x)):
        x[b, 0] = base[b]
        for i in range(len(bodies)):
            parent, child = x[b, bodies[i, 0]], x[b, bodies[i, 1]]
            q = quat_at(parent, 3)
            arm_W = rotate(q, sub(vec_at(p_PJ_P[i], 0), vec_at(coms[b], 0)))
            q_child = quat_at(q_WB[b, i], 0) if turns[i] else qmul(q, quat_at(q_PJ[i], 0))
            to_com_W = rotate(q_child, scale(-1.0, vec_at(p_CJ_C[i], 0)))
            put_at(child, 0, add(add(vec_at(parent, 0), arm_W), to_com_W))
            child[3], child[4], child[5], child[6] = q_child
