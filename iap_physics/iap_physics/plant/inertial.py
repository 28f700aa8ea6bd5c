# SPDX-License-Identifier: BSD-3-Clause
"""Specific force and angular velocity of ideal inertial units on moving bodies.

A unit S sits at r = p_BS_B on a body B. Its acceleration is that of the body and the tangential
and the centripetal part of the lever arm,

    a_S = a_B + alpha x r + w x (w x r),    f_S = R_SW (a_S - g),

with the accelerations that the engine itself used: the change of velocity over a physics step.
"""

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from iap_description.arrays import Array, Integers
from iap_description.math.kernels import (
    Quat,
    Vec,
    add,
    cross,
    halfway,
    put,
    qconj,
    qlog,
    qmul,
    quat,
    rotate,
    scale,
    sub,
    unrotate,
    vec,
)
from iap_description.sensors.readings import InertialMounts, InertialSamples, Sampling
from iap_description.states import Q, V, W
from iap_physics.engines.engine import world_indices
from iap_physics.plant.part import PlantPart
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.plant.vehicle_spec import InertialUnitsSpec


class InertialProbe(PlantPart):
    """Samples of units on bodies, taken after every physics step.

    ``integrating`` samples are means over the interval that ends at their stamp, as real units
    give. ``instantaneous`` ones hold for the instant of their stamp: they take the acceleration of the
    physics step that begins then, so that they are complete one step later.

    Args:
        mounts: of the units of one world, M of them.
        physics_hz: rate of physics steps.
        every: physics steps between samples.
        sampling: mean or instant.
        gravity: along -z of `map` [m/s^2].
        batch: number of worlds B.
    """

    def __init__(
        self,
        mounts: InertialMounts,
        *,
        physics_hz: float,
        every: int,
        sampling: Sampling,
        gravity: float,
        batch: int = 1,
    ) -> None:
        self._every, self._batch = every, batch
        self._is_mean = sampling == "integrating"
        self._rows = mounts.rows
        self._p_BS_B = np.repeat(mounts.p_BS_B[None], batch, axis=0)
        self._q_BS = np.repeat(mounts.q_BS[None], batch, axis=0)
        self._last = np.zeros((batch, len(mounts.rows), 13))
        self._sums = np.zeros((batch, 2, len(mounts.rows), 3))  # of w_WS_S and f_S
        self._constants = (gravity, 1.0 / physics_hz)
        self._samples: list[tuple[int, Array]] = []
        self._tick = 0

    def set_mounts(self, world: int, p_BS_B: Array, q_BS: Array) -> None:
        """Let the units of one world sit at places (M, 3) and attitudes (M, 4) of their own, from its next reset on."""
        self._p_BS_B[world], self._q_BS[world] = p_BS_B, q_BS

    def reset(self, x: Array, worlds: ArrayLike | None = None) -> None:
        """Start worlds anew from their state rows; all of them if none are named.

        Time begins anew with all of them: of some, units go on at the others' pace.

        Args:
            x: (B, bodies, 13) of all worlds.
            worlds: their indices, or a mask (B,).
        """
        indices = world_indices(worlds, self._batch)
        self._last[indices] = x[indices][:, self._rows]
        self._sums[indices] = 0.0
        if len(indices) == self._batch:
            self._samples.clear()
            self._tick = 0

    def after_step(self, x: Array) -> None:
        """Take the state rows (B, bodies, 13) at the end of a physics step."""
        at = self._tick
        arrays = (
            x,
            self._last,
            self._rows,
            self._p_BS_B,
            self._q_BS,
            *self._constants,
            self._sums,
        )
        if self._is_mean:
            _add_means(*arrays)
            if (at + 1) % self._every == 0:
                self._samples.append((at + 1, self._sums / self._every))
                self._sums[:] = 0.0
        else:
            if at % self._every == 0:
                _measure(*arrays)
                self._samples.append((at, self._sums.copy()))
            np.take(x, self._rows, axis=1, out=self._last)
        self._tick += 1

    @property
    def steps(self) -> int:
        """Physics steps that it has seen, of which ticks are counted."""
        return self._tick

    def take(self) -> InertialSamples:
        """The samples of the first world since the last call."""
        every = self.take_all()
        return InertialSamples(every.ticks, every.w_WS_S[:, 0], every.f_S[:, 0])

    def take_all(self) -> InertialSamples:
        """The samples of all worlds since the last call: arrays (S, B, M, 3)."""
        samples, self._samples = self._samples, []
        ticks = np.array([tick for tick, _ in samples], dtype=np.int64)
        values = np.array([each for _, each in samples]).reshape(-1, *self._sums.shape)
        return InertialSamples(ticks, values[:, :, 0], values[:, :, 1])


def inertial_probe(
    spec: PlantSpec, imu: InertialUnitsSpec, first: int = 0, *, batch: int = 1
) -> InertialProbe:
    """The probe of a vehicle whose central body has the state row `first`, in each of the worlds of a batch."""
    return InertialProbe(
        imu.rows(first),
        physics_hz=spec.rates.physics_hz,
        every=imu.every,
        sampling=imu.sampling,
        gravity=spec.world.gravity,
        batch=batch,
    )


def inertial_probes(spec: PlantSpec) -> list[InertialProbe | None]:
    """The probe of each vehicle's inertial units; None for a vehicle without any."""
    probes: list[InertialProbe | None] = []
    first = 0
    for vehicle in spec.vehicles:
        imu = vehicle.imu
        probes.append(None if imu is None else inertial_probe(spec, imu, first))
        first += len(vehicle.start)
    return probes


@njit(cache=True)
def _specific(gravity: float, a_W: Vec) -> Vec:
    """Specific force of an acceleration, world axes."""
    return (a_W[0], a_W[1], a_W[2] + gravity)


@njit(cache=True)
def _add_means(
    x: Array,
    last: Array,
    rows: Integers,
    p_BS_B: Array,
    q_BS: Array,
    gravity: float,
    dt: float,
    out: Array,
) -> None:
    """Add one step's mean rate and specific force of every unit to `out` (B, 2, M, 3), and keep its state in `last`.

    The rate is the turn of the step per time, the force is seen from the attitude half-way.
    """
    for b in range(len(x)):
        for m in range(rows.size):
            old, new = last[b, m], x[b, rows[m]]
            r_B, turn = vec(p_BS_B[b, m]), qconj(quat(q_BS[b, m]))
            q_a, q_b = quat(old[Q]), quat(new[Q])
            w_B = scale(1.0 / dt, qlog(qmul(qconj(q_a), q_b)))
            dv = sub(_speed(new, q_b, r_B), _speed(old, q_a, r_B))
            f_B = unrotate(halfway(q_a, q_b), _specific(gravity, scale(1.0 / dt, dv)))
            put(out[b, 0, m], add(vec(out[b, 0, m]), rotate(turn, w_B)))
            put(out[b, 1, m], add(vec(out[b, 1, m]), rotate(turn, f_B)))
            old[:] = new


@njit(cache=True)
def _measure(
    x: Array,
    last: Array,
    rows: Integers,
    p_BS_B: Array,
    q_BS: Array,
    gravity: float,
    dt: float,
    out: Array,
) -> None:
    """Write rate and specific force of every unit, (B, 2, M, 3), at the beginning of a step.

    An engine steps velocities first and places with the new ones, so that a velocity belongs to the
    middle of the step before: here it is the mean of two.
    """
    for b in range(len(x)):
        for m in range(rows.size):
            old, new = last[b, m], x[b, rows[m]]
            q, turn = quat(old[Q]), qconj(quat(q_BS[b, m]))
            r_W, w_W = rotate(q, vec(p_BS_B[b, m])), scale(0.5, add(vec(old[W]), vec(new[W])))
            a_B = scale(1.0 / dt, sub(vec(new[V]), vec(old[V])))
            alpha = scale(1.0 / dt, sub(vec(new[W]), vec(old[W])))
            a_S = add(a_B, add(cross(alpha, r_W), cross(w_W, cross(w_W, r_W))))
            put(out[b, 0, m], rotate(turn, unrotate(q, w_W)))
            put(out[b, 1, m], rotate(turn, unrotate(q, _specific(gravity, a_S))))


@njit(cache=True)
def _speed(row: Array, q: Quat, r_B: Vec) -> Vec:
    """Velocity of the point r_B of a body, world axes."""
    return add(vec(row[V]), cross(vec(row[W]), rotate(q, r_B)))
