# SPDX-License-Identifier: BSD-3-Clause
"""A few keyframes of one aircraft, solved by plain Gauss-Newton, and the same as a graph of gtsam."""

from dataclasses import dataclass

import gtsam
import numpy as np
from gtsam_twins import bias, pose, preintegrated
from synthetic import GRAVITY, Flight
from synthetic_fleet import Noise, fleet_of

from iap_description.math import so3
from iap_estimation.virpo.algebra.marginalization import Prior, mirror
from iap_estimation.virpo.algebra.normal_equations import accumulate, run
from iap_estimation.virpo.algebra.solution import solve
from iap_estimation.virpo.algebra.states import States, retract
from iap_estimation.virpo.factors.inertial import inertial
from iap_estimation.virpo.factors.landmarks import LEFT, RIGHT, Landmarks, add_tracks, begin_depths
from iap_estimation.virpo.factors.preintegration import ImuInterval, preintegrate
from iap_estimation.virpo.factors.ranging import (
    ANCHOR,
    ARM,
    FRAME,
    LIFT,
    RANGE,
    SHARE,
    SIGMA,
    WIDTH,
    add_ranges,
    waypoints,
)
from iap_estimation.virpo.factors.vision import (
    LandmarkElimination,
    System,
    add_vision,
    step_landmarks,
)

FRAMES, APART = 6, 0.25  # keyframes and the time between them [s]
ALIGNMENT = np.array([0.3, -0.2, 0.1, 0.05])
ANTENNA = np.array([0.1, 0.0, 0.2])
ALL, OPEN = -1, 1e9
NOISE = Noise(0.0015, 0.02, 0.0002, 0.02, 0.003, 0.03, pixels=1.0, range=0.2)
FARTHEST = 0.03  # landmarks beyond this inverse depth [1/m] are left out: their bound is only ours
X, V, B, P, A = (gtsam.symbol(letter, 0) for letter in "xvbpa")
# deviations of the first keyframe and of the alignment: p, theta, v, bg, ba; t, psi
FIRST = np.repeat([0.002, 0.003, 0.05, 0.005, 0.05], 3)
ALIGNED = np.array([0.1, 0.1, 0.1, 0.05])


@dataclass
class SmallWindow:
    """Keyframes and what was measured.

    Attributes:
        flight: the truth.
        states: believed so far, in the frame L.
        table: the landmarks.
        motions: between the keyframes.
        rows: of the ranges.
        prior: of the first keyframe and the alignment.
    """

    flight: Flight
    states: States
    table: Landmarks
    motions: list[ImuInterval]
    rows: np.ndarray
    prior: Prior

    @classmethod
    def of(cls, seed: int, most: int = 40) -> "SmallWindow":
        """States off by some centimetres, depths from where they put the views."""
        flight = Flight.of(
            (FRAMES - 1) * APART,
            fleet=fleet_of(1, tuple(ANTENNA)),
            noise=NOISE,
            seed=seed,
            image_rate=1.0 / APART,
            range_rate=20.0,
            most=most,
        )
        states, prior = _start(flight)
        table = _landmarks(flight, states)
        motions = [_motion(flight, k) for k in range(FRAMES - 1)]
        return cls(flight, states, table, motions, _ranges(flight), prior)

    @property
    def rig(self):
        """Of the only aircraft."""
        return self.flight.fleet.aircraft[0].rig

    def linearised(
        self, only: int = ALL
    ) -> tuple[np.ndarray, np.ndarray, float, LandmarkElimination]:
        """H, g and cost of everything, or of the prior and what a keyframe takes along; the landmarks out of them."""
        states = self.states
        H, g = np.zeros((states.size, states.size)), np.zeros(states.size)
        cost = self.prior.add(states, H, g)
        out = LandmarkElimination.empty(len(self.table.host), FRAMES)
        system = System(H, g, states.stride, out)
        cost += add_vision(states.x, self.table, self.rig, 0, only, OPEN, 0.0, system)
        cost += add_ranges(states.x, states.alignment, self.rows, only, OPEN, H, g, states.stride)
        r, J, raw, places = np.empty(15), np.empty((15, 30)), np.empty((15, 31)), np.empty(30, int)
        for k, motion in enumerate(self.motions):
            if only not in (ALL, k):
                continue
            inertial(states.x[k, 0], states.x[k + 1, 0], GRAVITY, motion, r, J, raw)
            run(15 * k, 30, places, 0)
            accumulate(H, g, places, J, r)
            cost += 0.5 * r @ r
        return H, g, cost, out

    def descend(self, steps: int = 12) -> list[float]:
        """Gauss-Newton in place; the cost before each step."""
        costs = []
        for _ in range(steps):
            H, g, cost, out = self.linearised()
            step, _ = solve(H, g, 0.0, self.states.inner_motions())
            retract(self.states, step)
            step_landmarks(step, self.table, FRAMES, self.states.stride, out)
            costs.append(cost)
        return costs

    def covariance(self) -> np.ndarray:
        """Of all states."""
        H = self.linearised()[0]
        mirror(H)
        return np.linalg.inv(H)

    def graph(self) -> tuple[gtsam.NonlinearFactorGraph, gtsam.Values]:
        """The same for gtsam, begun at the same place."""
        graph, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
        for k, x in enumerate(self.states.x[:, 0]):
            values.insert(X + k, pose(x))
            values.insert(V + k, x[7:10].copy())
            values.insert(B + k, bias(x))
        values.insert(A, self.states.alignment[0].copy())
        self._add_priors(graph)
        for k in range(FRAMES - 1):
            samples = self.flight.samples(0, k * APART, (k + 1) * APART)
            told = preintegrated(
                samples, self.motions[k].bias, self.flight.fleet.aircraft[0].noise, GRAVITY, 10
            )
            keys = X + k, V + k, X + k + 1, V + k + 1, B + k, B + k + 1
            graph.add(gtsam.CombinedImuFactor(*keys, told))
        self._add_views(graph, values)
        for row in self.rows:
            graph.add(_range_factor(row))
        return graph, values

    def _add_priors(self, graph: gtsam.NonlinearFactorGraph) -> None:
        x, sigma = self.prior.base.x[0, 0], gtsam.noiseModel.Diagonal.Sigmas
        graph.addPriorPose3(X, pose(x), sigma(np.r_[FIRST[3:6], FIRST[:3]]))
        graph.addPriorVector(V, x[7:10], sigma(FIRST[6:9]))
        graph.addPriorConstantBias(B, bias(x), sigma(np.r_[FIRST[12:], FIRST[9:12]]))
        graph.addPriorVector(A, self.prior.base.alignment[0], sigma(ALIGNED))

    def _add_views(self, graph: gtsam.NonlinearFactorGraph, values: gtsam.Values) -> None:
        """One factor of each camera, because ours has the row of the right one too."""
        table, eyes = self.table, self.rig
        calibration = gtsam.Cal3_S2(eyes.focal, eyes.focal, 0.0, 0.0, 0.0)
        noise = gtsam.noiseModel.Isotropic.Sigma(2, eyes.deviation * eyes.focal)
        sensors = [
            gtsam.Pose3(gtsam.Rot3(R), p) for R, p in zip(eyes.R_BC, eyes.p_BC_B, strict=True)
        ]
        for m in np.flatnonzero((table.host >= 0) & (table.known > 0)).tolist():
            a, b, rho = table.place[m]
            camera = pose(self.states.x[table.host[m], 0]).compose(sensors[0])
            values.insert(P + m, camera.transformFrom(np.array([a, b, 1.0]) / rho))
            for j in range(table.host[m], FRAMES):
                for side, bit in enumerate((LEFT, RIGHT)):
                    if table.sides[m, j] & bit:
                        seen = eyes.focal * table.views[m, j, 2 * side : 2 * side + 2]
                        graph.add(
                            gtsam.GenericProjectionFactorCal3_S2(
                                seen, noise, X + j, P + m, calibration, sensors[side]
                            )
                        )


def _start(flight: Flight) -> tuple[States, Prior]:
    """States off the truth, and a prior around a first keyframe that is off by its deviations."""
    rng, states = np.random.default_rng(flight.seed + 100), States.empty(FRAMES, 1)
    for k in range(FRAMES):
        states.x[k, 0] = flight.state(0, k * APART, ALIGNMENT)
        states.x[k, 0, 10:] = 0.0
    states.alignment[0] = ALIGNMENT
    base = states.first(1).copy()
    sigma = np.concatenate([FIRST, ALIGNED])
    step = sigma * rng.normal(size=len(sigma))
    step[9:15] = 0.0  # biases are believed to be none, and are not
    retract(base, step)
    off = np.concatenate([np.tile(np.repeat([0.05, 0.01, 0.05, 0, 0], 3), FRAMES), ALIGNED])
    retract(states, off * rng.normal(size=len(off)))
    return states, Prior.of(np.diag(1.0 / sigma**2), np.zeros(len(sigma)), base)


def _landmarks(flight: Flight, states: States) -> Landmarks:
    table = Landmarks.empty(200, FRAMES)
    for k, told in enumerate(flight.tracks(0)):
        views = np.nan_to_num(told.views)
        add_tracks(table, 0, k, told.ids, views, told.has_right.astype(np.int64))
    begin_depths(states.x, table, flight.fleet.aircraft[0].rig, 0, 0.1)
    table.host[table.place[:, 2] < FARTHEST] = -1
    return table


def _motion(flight: Flight, k: int) -> ImuInterval:
    out = ImuInterval.empty()
    samples = flight.samples(0, k * APART, (k + 1) * APART)
    preintegrate(samples, np.zeros(6), flight.fleet.aircraft[0].noise, out)
    return out


def _ranges(flight: Flight) -> np.ndarray:
    """Rows of all ranges, the antenna's way between keyframes as the samples tell it without their biases."""
    parts, told = [], flight.ranges(0)
    for k in range(FRAMES - 1):
        rounds = [one for one in told if 1e-6 < one.t - k * APART < APART + 1e-6]
        n = len(flight.anchors)
        rows = np.zeros((n * len(rounds), WIDTH))
        times = np.repeat([one.t - k * APART for one in rounds], n)
        samples = flight.samples(0, k * APART, (k + 1) * APART)
        waypoints(samples, np.zeros(6), times, ANTENNA, GRAVITY, rows)
        rows[:, FRAME] = k
        rows[:, ANCHOR : ANCHOR + 3] = np.concatenate([one.p_W for one in rounds])
        rows[:, RANGE] = np.concatenate([one.ranges for one in rounds])
        rows[:, SIGMA] = np.concatenate([one.deviations for one in rounds])
        parts.append(rows)
    return np.concatenate(parts)


def _range_factor(row: np.ndarray) -> gtsam.CustomFactor:
    """gtsam has no range between keyframes; its own of a pose and a point gives length and slopes of this one.

    The antenna is a point of a body that is at the mean of both positions and has the first's attitude.
    """
    k, share = int(row[FRAME]), row[SHARE]
    anchor, arm = row[ANCHOR : ANCHOR + 3], row[ARM : ARM + 3]

    def error(_this: gtsam.CustomFactor, at: gtsam.Values, slopes: list | None) -> np.ndarray:
        first, second = at.atPose3(X + k), at.atPose3(X + k + 1)
        x, y, z, psi = at.atVector(A)
        R, turn = first.rotation(), gtsam.Rot3.Rz(psi)
        p = (1.0 - share) * first.translation() + share * second.translation()
        p_L = p + np.array([0.0, 0.0, row[LIFT]]) + R.rotate(arm)
        p_W = turn.rotate(p_L) + np.array([x, y, z])
        length = np.linalg.norm(p_W - anchor)
        if slopes is not None:
            u = ((p_W - anchor) / length)[None]
            by_p = u @ turn.matrix()
            at_first, at_second = by_p @ R.matrix(), by_p @ second.rotation().matrix()
            slopes[0] = np.hstack([-at_first @ so3.hat(arm), (1.0 - share) * at_first])
            slopes[1] = np.hstack([np.zeros((1, 3)), share * at_second])
            about_z = np.cross([0.0, 0.0, 1.0], turn.rotate(p_L))
            slopes[2] = np.hstack([u, (u @ about_z)[:, None]])
        return np.array([length - row[RANGE]])

    noise = gtsam.noiseModel.Isotropic.Sigma(1, row[SIGMA])
    return gtsam.CustomFactor(noise, [X + k, X + k + 1, A], error)
