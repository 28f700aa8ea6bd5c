# SPDX-License-Identifier: BSD-3-Clause
"""Made-up flights of a crew: exact motions, and what sensors tell of them, with noise where asked for.

    flight = Flight.of(duration=20.0, noise=TABLE_VI, seed=1)
    for arrival in flight.stream():            # in order of their stamps
        arrival.aircraft, arrival.message      # -1 for the central body; Inertial, Tracks, Ranges, Tilt
    flight.truth(0, t).p_WB_W                  # exact, at any t
    flight.state(0, t, alignment)              # (16,) as a row of States.x

Stamps are multiples of `STEP`. World W is z up; gravity 9.81 m/s^2.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from analytic_motion import AircraftSensors, AnalyticMotion, Kinematics, Motion, shown
from synthetic_fleet import (
    ANCHORS,
    FOCAL,
    GRAVITY,
    NONE,
    Noise,
    figure_eight,
    fleet_of,
    room,
    tilts,
)

from iap_description.math import so3
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.messages import ImuSample, Ranges, Tilt, Tracks

STEP = 0.005  # of inertial units [s]
HALF_VIEW = np.array([1.0, 0.75])  # tangents of half the field of view: 640 x 480
CENTRE = -1
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


class Arrival(NamedTuple):
    """A message and whose it is."""

    aircraft: int
    message: ImuSample | Tracks | Ranges | Tilt


@dataclass(frozen=True, eq=False)
class Flight:
    """A crew in motion and its surroundings.

    Attributes:
        fleet: with the rigs that see.
        centre: motion of the central body.
        bodies: motion of each aircraft.
        points: (N, 3) landmarks in W [m].
        anchors: (M, 3) in W [m].
        noise: of the sensors.
        seed: of the noise.
        duration: [s].
        image_rate, range_rate: [Hz], divisors of 200.
        most: tracks in one image.
    """

    fleet: Fleet
    centre: AnalyticMotion
    bodies: tuple[Motion, ...]
    points: np.ndarray
    anchors: np.ndarray
    noise: Noise
    seed: int
    duration: float
    image_rate: float
    range_rate: float
    most: int

    @classmethod
    def of(
        cls,
        duration: float,
        *,
        fleet: Fleet | None = None,
        centre: AnalyticMotion | None = None,
        noise: Noise = NONE,
        seed: int = 0,
        points: int = 1500,
        anchors: np.ndarray = ANCHORS,
        image_rate: float = 10.0,
        range_rate: float = 200.0,
        most: int = 80,
    ) -> "Flight":
        """A flight: by default of three aircraft on a figure-eight in a hall with four anchors."""
        fleet, centre = fleet or fleet_of(), centre or figure_eight()
        places = np.zeros((len(fleet.aircraft), 3)) if fleet.d is None else fleet.d
        bodies = tuple(
            AircraftSensors(centre, tuple(d), tilts(i), tuple(craft.p_BJ_B))
            for i, (d, craft) in enumerate(zip(places, fleet.aircraft, strict=True))
        )
        hall = room(points, seed)
        return cls(
            fleet,
            centre,
            bodies,
            hall,
            anchors,
            noise,
            seed,
            duration,
            image_rate,
            range_rate,
            most,
        )

    def motion(self, aircraft: int) -> Motion:
        """Of an aircraft, or of the central body."""
        return self.centre if aircraft == CENTRE else self.bodies[aircraft]

    def truth(self, aircraft: int, t: float) -> Kinematics:
        """Its place."""
        return shown(self.motion(aircraft), t)

    def state(self, aircraft: int, t: float, alignment: np.ndarray | None = None) -> np.ndarray:
        """Its true state (16,) in L, which lies at `alignment` (x, y, z, psi) in W; L is W without one."""
        x, y, z, psi = np.zeros(4) if alignment is None else alignment
        back = so3.quaternion_exp(np.array([0.0, 0.0, -psi]))
        now = self.truth(aircraft, t)
        p = so3.rotate(back, now.p_WB_W - [x, y, z])
        q, v = so3.multiply(back, now.q_WB), so3.rotate(back, now.v_WB_W)
        return np.concatenate([p, q, v, self.bias(aircraft, t)])

    def bias(self, aircraft: int, t: float) -> np.ndarray:
        """True biases (6,) of its inertial unit: bg, ba."""
        return self._inertial[aircraft][1][round(t / STEP)]

    def samples(self, aircraft: int, begin: float, end: float) -> np.ndarray:
        """Samples of its inertial unit between two stamps (S, 7): length, w, f of each."""
        first, last = round(begin / STEP), round(end / STEP)
        told = self._inertial[aircraft][0][first:last]
        return np.column_stack([np.full(len(told), STEP), told])

    def inertial(self, aircraft: int) -> list[ImuSample]:
        """All samples of an aircraft's inertial unit."""
        told = self._inertial[aircraft][0]
        return [ImuSample((k + 1) * STEP, row[:3], row[3:]) for k, row in enumerate(told)]

    def tracks(self, aircraft: int) -> list[Tracks]:
        """Tracks of an aircraft's cameras; a point lost and found again is a new track."""
        rng = self._rng(aircraft, 1)
        followed: dict[int, int] = {}  # point -> track
        born, told = 0, []
        for t in self.stamps(self.image_rate).tolist():
            views, has_right = self.views(aircraft, t)
            visible = ~np.isnan(views[:, 0])
            kept = [p for p in followed if visible[p] and rng.random() >= self.noise.losses]
            fresh = rng.permutation(np.flatnonzero(visible))
            fresh = [p for p in fresh if p not in followed][: self.most - len(kept)]
            followed = {p: followed[p] for p in kept} | {p: born + i for i, p in enumerate(fresh)}
            born += len(fresh)
            chosen = np.array(list(followed), dtype=np.int64)
            ids = np.array(list(followed.values()), dtype=np.int64)
            noisy = self._seen(views[chosen], rng)
            told.append(Tracks(t, ids, noisy, has_right[chosen]))
        return told

    def views(self, aircraft: int, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Exact views (N, 4) of all points, NaN where out of sight, and whether the right camera sees them."""
        now, eyes = self.truth(aircraft, t), self.fleet.aircraft[aircraft].rig
        body = so3.rotate(so3.conjugate(now.q_WB), self.points - now.p_WB_W)
        both = np.full((len(self.points), 4), np.nan)
        for side in range(2):
            s = (body - eyes.p_BC_B[side]) @ eyes.R_BC[side]
            in_front = s[:, 2] > 0.3
            uv = s[:, :2] / np.where(in_front, s[:, 2], 1.0)[:, None]
            seen = in_front & (np.abs(uv) < HALF_VIEW).all(axis=1)
            both[seen, 2 * side : 2 * side + 2] = uv[seen]
        both[np.isnan(both[:, 0])] = np.nan
        return both, ~np.isnan(both[:, 2])

    def ranges(self, aircraft: int) -> list[Ranges]:
        """Rounds of ranges from its antenna to all anchors."""
        rng = self._rng(aircraft, 2)
        ids = np.arange(len(self.anchors))
        deviations = np.full(len(ids), self.noise.range or 0.05)
        stamps = self.stamps(self.range_rate)[1:]
        exact = self.distances(aircraft, stamps)
        told = exact + self.noise.range * rng.normal(size=exact.shape)
        return [
            Ranges(t, ids, self.anchors, row, deviations)
            for t, row in zip(stamps.tolist(), told, strict=True)
        ]

    def distances(self, aircraft: int, times: np.ndarray) -> np.ndarray:
        """Exact ranges (n, M) at instants (n,) [m]."""
        now = self.motion(aircraft).at(times)
        tip = now.p_WB_W + so3.rotate(now.q_WB, self.fleet.aircraft[aircraft].p_BA_B)
        return np.linalg.norm(self.anchors - tip[:, None], axis=-1)

    def tilt(self) -> list[Tilt]:
        """Messages of the central autopilot, 200 Hz; its inertial unit has the white noise of the aircraft's."""
        rng = self._rng(len(self.bodies), 0)
        stamps = self.stamps(1.0 / STEP)[1:]
        turned, pushed = _means(self.centre, stamps)
        turned = turned + self.noise.gyro / STEP**0.5 * rng.normal(size=turned.shape)
        turned = turned + self.noise.gyro_bias * rng.normal(size=3)
        off = np.array([1, 1, 0]) * self.noise.tilt * rng.normal(size=(len(stamps), 3))
        q = so3.multiply(self.centre.at(stamps).q_WB, so3.quaternion_exp(off))
        pushed = pushed + self.noise.accel / STEP**0.5 * rng.normal(size=pushed.shape)
        return [Tilt(t, q[k], turned[k], pushed[k]) for k, t in enumerate(stamps.tolist())]

    def stream(self) -> list[Arrival]:
        """Everything, in order of stamps; at one stamp inertial samples come first, images last."""
        order: list[tuple[float, int, int, Arrival]] = []
        for a in range(len(self.bodies)):
            parts = (self.inertial(a), [], self.ranges(a), self.tracks(a))
            for kind, part in enumerate(parts):
                order += [(m.t, kind, a, Arrival(a, m)) for m in part]
        order += [(m.t, 1, 0, Arrival(CENTRE, m)) for m in self.tilt()]
        return [one[3] for one in sorted(order, key=lambda one: (round(one[0] / STEP), *one[1:3]))]

    def stamps(self, rate: float) -> np.ndarray:
        """From 0 to the end."""
        every = round(1.0 / (rate * STEP))
        return np.arange(0, round(self.duration / STEP) + 1, every) * STEP

    @cached_property
    def _inertial(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each aircraft its samples (S, 6) and its biases (S + 1, 6)."""
        return [self._wrench_record(a) for a in range(len(self.bodies))]

    def _wrench_record(self, aircraft: int) -> tuple[np.ndarray, np.ndarray]:
        n, rng = self.noise, self._rng(aircraft, 0)
        stamps = self.stamps(1.0 / STEP)[1:]
        white = np.repeat([n.gyro, n.accel], 3) / STEP**0.5
        walk = np.repeat([n.gyro_walk, n.accel_walk], 3) * STEP**0.5
        start = np.repeat([n.gyro_bias, n.accel_bias], 3) * rng.normal(size=6)
        steps = walk * rng.normal(size=(len(stamps), 6))
        bias = start + np.vstack([np.zeros(6), np.cumsum(steps, axis=0)])
        exact = np.hstack(_means(self.bodies[aircraft], stamps))
        return exact + bias[:-1] + white * rng.normal(size=exact.shape), bias

    def _seen(self, views: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Views with noise and outliers."""
        told = views + self.noise.pixels / FOCAL * rng.normal(size=views.shape)
        wild = rng.random(len(views)) < self.noise.outliers
        told[wild] += rng.uniform(-50, 50, (int(wild.sum()), 4)) / FOCAL
        return told

    def _rng(self, aircraft: int, sensor: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, aircraft, sensor])


def _means(motion: Motion, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of angular velocity and specific force (n, 3) over the steps that end at given times."""
    times = ends[:, None] + 0.5 * STEP * (_NODES - 1.0)
    now = motion.at(times.ravel())
    force = so3.rotate(so3.conjugate(now.q_WB), now.a_WB_W + [0.0, 0.0, GRAVITY])
    shape = (*times.shape, 3)
    weights = 0.5 * _WEIGHTS
    return tuple(np.einsum("k,nki->ni", weights, one.reshape(shape)) for one in (now.w_B, force))
