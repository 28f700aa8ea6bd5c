# SPDX-License-Identifier: BSD-3-Clause
"""The most likely trajectory of a made-up flight, by gtsam's own factors alone."""

from dataclasses import dataclass
from itertools import pairwise

import gtsam
import numpy as np
from gtsam.symbol_shorthand import B, L, V, X
from gtsam_twins import bias, pose, preintegrated
from synthetic import Flight

from iap_description.math import so3
from iap_estimation.virpo.fleet import AircraftModel
from iap_estimation.virpo.messages import Tracks
from iap_estimation.virpo.spec import VirpoSpec

VAGUE = 100.0  # deviation of a landmark's place [m]
LEAST_DISPARITY = 1.0  # with which a landmark begins [px]
PIECES = 4  # of a sample, because gtsam turns the force of each by the attitude at its begin
WIDTH = 2.5  # of Huber's kernel on a stereo view, in deviations: as 2.0 on each image's


@dataclass
class Words:
    """Measurements of one aircraft, and the states at which the search begins.

    Attributes:
        tracks: of K images.
        samples: (S, 7) between each two of them.
        model: of the aircraft.
        gravity: [m/s^2].
        guess: (K, 16) states.
        first: (16,) state that it begins at, as far as is known.
    """

    tracks: list[Tracks]
    samples: list[np.ndarray]
    model: AircraftModel
    gravity: float
    guess: np.ndarray
    first: np.ndarray

    @classmethod
    def of(cls, flight: Flight) -> "Words":
        """Of the first aircraft of a flight, and a guess that is wrong by centimetres at every image."""
        tracks = flight.tracks(0)
        stamps = [one.t for one in tracks]
        samples = [flight.samples(0, *pair) for pair in pairwise(stamps)]
        guess = np.array([_wrong(flight, k, t) for k, t in enumerate(stamps)])
        first = np.r_[flight.state(0, stamps[0])[:10], np.zeros(6)]
        fleet = flight.fleet
        return cls(tracks, samples, fleet.aircraft[0], fleet.gravity, guess, first)


def most_likely(words: Words, spec: VirpoSpec) -> np.ndarray:
    """States (K, 16) at the images."""
    graph, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
    for k, x in enumerate(words.guess):
        values.insert(X(k), pose(x))
        values.insert(V(k), x[7:10].copy())
        values.insert(B(k), bias(x))
    _add_prior(graph, words.first, spec)
    for k, samples in enumerate(words.samples):
        noise = _noise(words.model.noise, samples)
        told = preintegrated(samples, words.guess[k, 10:], noise, words.gravity, PIECES)
        graph.add(gtsam.CombinedImuFactor(X(k), V(k), X(k + 1), V(k + 1), B(k), B(k + 1), told))
    _add_views(graph, values, words, spec.batch.track)
    found = _optimum(graph, values)
    limit = spec.cull / spec.pixels
    found = _optimum(_without_wild(graph, found, limit), found)
    return np.array([_state(found, k) for k in range(len(words.tracks))])


def _optimum(graph: gtsam.NonlinearFactorGraph, values: gtsam.Values) -> gtsam.Values:
    params = gtsam.LevenbergMarquardtParams.CeresDefaults()
    params.setMaxIterations(200)
    params.setRelativeErrorTol(1e-7)
    return gtsam.LevenbergMarquardtOptimizer(graph, values, params).optimize()


def _without_wild(
    graph: gtsam.NonlinearFactorGraph, values: gtsam.Values, limit: float
) -> gtsam.NonlinearFactorGraph:
    """Without views more than so many deviations from their landmarks."""
    kept, cost = gtsam.NonlinearFactorGraph(), WIDTH * (limit - 0.5 * WIDTH)
    for factor in map(graph.at, range(graph.size())):
        is_view = isinstance(
            factor, gtsam.GenericStereoFactor3D | gtsam.GenericProjectionFactorCal3_S2
        )
        if not is_view or factor.error(values) < cost:
            kept.add(factor)
    return kept


def _noise(noise: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """Densities (4,) over an interval: the gyroscope's error of scale by the mean square of its rate."""
    rate = float(np.mean(np.sum(samples[:, 1:4] ** 2, axis=1)))
    return np.r_[np.hypot(noise[0], noise[4] * rate**0.5), noise[1:4]]


def _wrong(flight: Flight, k: int, t: float) -> np.ndarray:
    rng, x = np.random.default_rng([flight.seed, k]), flight.state(0, t).copy()
    x[:3] += 0.02 * rng.normal(size=3)
    x[3:7] = so3.multiply(x[3:7], so3.quaternion_exp(0.003 * rng.normal(size=3)))
    x[7:10] += 0.1 * rng.normal(size=3)
    x[10:] = 0.0
    return x


def _add_prior(graph: gtsam.NonlinearFactorGraph, x: np.ndarray, spec: VirpoSpec) -> None:
    """The first state, whose yaw is as uncertain as that and the alignment are together; so is its place."""
    start, sigma = spec.start, gtsam.noiseModel.Diagonal.Sigmas
    tilt, yaw = np.deg2rad([start.tilt_deg, np.hypot(start.yaw_deg, start.alignment_yaw_deg)])
    R = so3.matrix_from_quaternion(x[3:7])
    turn = R.T @ np.diag([tilt**2, tilt**2, yaw**2]) @ R
    place = np.hypot(start.position, start.alignment_position) ** 2 * np.eye(3)
    C = np.block([[turn, np.zeros((3, 3))], [np.zeros((3, 3)), place]])
    graph.addPriorPose3(X(0), pose(x), gtsam.noiseModel.Gaussian.Covariance(C))
    graph.addPriorVector(V(0), x[7:10], sigma(np.full(3, start.velocity)))
    biases = sigma(np.repeat([start.accel_bias, start.gyro_bias], 3))
    graph.addPriorConstantBias(B(0), bias(x), biases)


def _add_views(
    graph: gtsam.NonlinearFactorGraph, values: gtsam.Values, words: Words, longest: int
) -> None:
    """Stereo views, of whose rows the mean counts, and those of the left camera alone where others are stereo.

    A landmark begins at the median of where its views put it, and ends after so many of them.
    """
    rig = words.model.rig
    baseline = float(np.linalg.norm(rig.p_BC_B[1] - rig.p_BC_B[0]))
    left = gtsam.Pose3(gtsam.Rot3(rig.R_BC[0]), rig.p_BC_B[0])
    camera = gtsam.Cal3_S2Stereo(rig.focal, rig.focal, 0.0, 0.0, 0.0, baseline)
    kernel = gtsam.noiseModel.mEstimator.Huber.Create(WIDTH)
    pixels = rig.deviation * rig.focal
    triple = gtsam.noiseModel.Diagonal.Sigmas(pixels * np.array([1.0, 1.0, 0.5**0.5]))
    noise = gtsam.noiseModel.Robust.Create(kernel, triple)
    age: dict[int, int] = {}
    left_alone = []
    places: dict[int, list[np.ndarray]] = {}
    for k, one in enumerate(words.tracks):
        for track, (u, v, u_right, v_right), has_right in zip(
            one.ids.tolist(), one.views, one.has_right, strict=True
        ):
            mark = L(longest * track + age.get(track, 0) // longest)
            age[track] = age.get(track, 0) + 1
            if not has_right:
                left_alone.append((rig.focal * np.array([u, v]), X(k), mark))
                continue
            disparity = max(u - u_right, LEAST_DISPARITY / rig.focal)
            ray = np.array([u, v, 1.0]) * baseline / disparity
            place = pose(words.guess[k]).compose(left).transformFrom(ray)
            places.setdefault(mark, []).append(place)
            seen = rig.focal * np.array([u, u_right, 0.5 * (v + v_right)])
            args = gtsam.StereoPoint2(*seen), noise, X(k), mark, camera, left
            graph.add(gtsam.GenericStereoFactor3D(*args))
    for mark, each in places.items():
        p_W = np.median(each, axis=0)
        values.insert(mark, p_W)
        graph.addPriorPoint3(mark, p_W, gtsam.noiseModel.Isotropic.Sigma(3, VAGUE))
    noise = gtsam.noiseModel.Robust.Create(kernel, gtsam.noiseModel.Isotropic.Sigma(2, pixels))
    eye = gtsam.Cal3_S2(rig.focal, rig.focal, 0.0, 0.0, 0.0)
    for seen, at, mark in left_alone:
        if mark in places:
            graph.add(gtsam.GenericProjectionFactorCal3_S2(seen, noise, at, mark, eye, left))


def _state(values: gtsam.Values, k: int) -> np.ndarray:
    at, told = values.atPose3(X(k)), values.atConstantBias(B(k))
    q = so3.quaternion_from_matrix(at.rotation().matrix())
    biases = told.gyroscope(), told.accelerometer()
    return np.concatenate([at.translation(), q, values.atVector(V(k)), *biases])
