# SPDX-License-Identifier: BSD-3-Clause
"""The batch of a whole recording: as good as an independent one, and it knows how good."""

from dataclasses import dataclass, replace

import gtsam
import numpy as np
import pytest
from batch_oracle import Words, most_likely
from synthetic import Flight
from synthetic_fleet import TABLE_VI, fleet_of
from whole_estimators import SPEC

from iap_description.math import so3
from iap_estimation.virpo.batch.factors import (
    keys,
    motion_factor,
    pose,
    prior_factor,
    ranges_factor,
    soften,
    state,
)
from iap_estimation.virpo.batch.graph import AircraftGraph
from iap_estimation.virpo.batch.keyframes import Keyframe
from iap_estimation.virpo.batch.smoothing import covariances, inverse_blocks, smooth
from iap_estimation.virpo.factors.imu_chain import propagate
from iap_estimation.virpo.factors.preintegration import ImuInterval, preintegrate
from iap_estimation.virpo.factors.ranging import ANCHOR, RANGE, SHARE, SIGMA, WIDTH
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.localizer import Smoother, make_localizer, pass_on
from iap_estimation.virpo.messages import Estimate, ImuSample, Ranges
from iap_estimation.virpo.spec import StartDeviations
from iap_estimation.virpo.window.window import EstimateLost


@dataclass
class Run:
    """A flight of one aircraft, what its window said on the way, and what the batch says."""

    flight: Flight
    batch: Smoother
    window: list[Estimate]
    smoothed: list[Estimate]

    @classmethod
    def of(
        cls,
        seconds: float,
        seed: int,
        *,
        ranges: bool = False,
        is_wrong: bool = False,
        **noise: float,
    ) -> "Run":
        fleet = Fleet(fleet_of(1).aircraft, gravity=fleet_of(1).gravity)
        flight = Flight.of(
            seconds,
            fleet=fleet,
            noise=replace(TABLE_VI, **noise),
            seed=seed,
            range_rate=20.0,
            most=60,
        )
        settings = SPEC.batch.model_copy(update={"ranges": ranges})
        spec = SPEC.model_copy(update={"batch": settings})

        def first(_: int, t: float) -> np.ndarray:
            x = np.r_[flight.state(0, t)[:10], np.zeros(6)]
            return off_by(x, SPEC.start, np.random.default_rng([seed, 99])) if is_wrong else x

        batch, window = make_localizer("batch", fleet, spec, first), []
        for who, said in flight.stream():
            if who == 0 and pass_on(batch, who, said):
                window += batch.estimates()
        (smoothed,), centre = batch.smoothed()
        assert not centre
        return cls(flight, batch, window, smoothed)

    def errors(self, p_W: np.ndarray) -> np.ndarray:
        """Of places (K, 3) at the keyframes."""
        return p_W - [self.flight.truth(0, one.t).p_WB_W for one in self.smoothed]


def off_by(x: np.ndarray, start: StartDeviations, rng: np.random.Generator) -> np.ndarray:
    """A state (16,) that is off by what is believed of a first one, its alignment included; biases stay."""
    tilt, yaw = np.deg2rad([start.tilt_deg, np.hypot(start.yaw_deg, start.alignment_yaw_deg)])
    place = np.hypot(start.position, start.alignment_position)
    turn = so3.quaternion_exp(
        np.array([tilt, tilt, yaw]) * rng.normal(size=3)
    )  # about the world's axes
    p, v = x[:3] + place * rng.normal(size=3), x[7:10] + start.velocity * rng.normal(size=3)
    return np.concatenate([p, so3.multiply(turn, x[3:7]), v, x[10:]])


def rmse(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.sum(errors**2, axis=1))))


def places(estimates: list[Estimate]) -> np.ndarray:
    return np.array([one.p_WB_W for one in estimates])


def nees(errors: np.ndarray, estimates: list[Estimate]) -> float:
    pairs = zip(errors, estimates, strict=True)
    return float(np.mean([e @ np.linalg.solve(one.covariance[:3, :3], e) for e, one in pairs])) / 3


@pytest.mark.slow
def test_its_error_is_that_of_an_independent_batch():
    """Built of gtsam's own inertial and stereo factors, from another beginning; no baseline comes as near."""
    run = Run.of(8.0, 1, outliers=0.0)
    theirs = most_likely(Words.of(run.flight), SPEC)
    ours, independent = rmse(run.errors(places(run.smoothed))), rmse(run.errors(theirs[:, :3]))
    assert ours == pytest.approx(independent, rel=0.1)
    assert rmse(places(run.smoothed) - theirs[:, :3]) < 0.3 * independent
    assert rmse(run.errors(dead_reckoned(run.flight))) > 2.0 * independent
    assert rmse(run.errors(places(run.window))) > 1.1 * independent
    assert rmse(run.errors(np.repeat(theirs[:1, :3], len(theirs), axis=0))) > 10.0 * independent


def dead_reckoned(flight: Flight) -> np.ndarray:
    """Places (K, 3) at the images, by inertial samples alone."""
    x, found = np.r_[flight.state(0, 0.0)[:10], np.zeros(6)], []
    stamps = flight.stamps(flight.image_rate)
    for since, until in zip([0.0, *stamps[:-1]], stamps, strict=True):
        propagate(x, flight.fleet.gravity, flight.samples(0, since, until))
        found.append(x[:3].copy())
    return np.array(found)


@pytest.mark.slow
def test_it_is_better_than_its_window_and_knows_how_good_it_is():
    """Its first state is as wrong as it may be; a flight's errors are one walk: 15 numbers, whose mean is 1 +- 0.37."""
    runs = [Run.of(4.0, seed, is_wrong=True) for seed in (3, 4, 5, 6, 7)]
    ours = [rmse(each.errors(places(each.smoothed))) for each in runs]
    theirs = [rmse(each.errors(places(each.window))) for each in runs]
    assert np.mean(ours) < np.mean(theirs)
    told = [nees(each.errors(places(each.smoothed)), each.smoothed) for each in runs]
    assert 0.35 < np.mean(told) < 2.1
    sure = [[np.trace(one.covariance[:3, :3]) for one in each.smoothed] for each in runs]
    before = [[np.trace(one.covariance[:3, :3]) for one in each.window] for each in runs]
    assert (np.sum(sure, axis=1) < np.sum(before, axis=1)).all(), (
        "all measurements say more than some"
    )


@pytest.mark.slow
def test_ranges_count_where_they_are_asked_for():
    plain, ranged = Run.of(6.0, 6), Run.of(6.0, 6, ranges=True, range=0.05)
    assert rmse(ranged.errors(places(ranged.smoothed))) < 0.5 * rmse(
        plain.errors(places(plain.smoothed))
    )
    assert 0.2 < nees(ranged.errors(places(ranged.smoothed)), ranged.smoothed) < 3.0


@pytest.mark.slow
def test_every_aircraft_of_a_platform_and_its_centre_are_smoothed():
    flight = Flight.of(
        2.0, noise=replace(TABLE_VI, outliers=0.0), seed=11, range_rate=20.0, most=40
    )
    batch = make_localizer("batch", flight.fleet, SPEC, flight.state)
    for who, said in flight.stream():
        pass_on(batch, who, said)
    aircraft, centre = batch.smoothed()
    for body, estimates in (*enumerate(aircraft), (-1, centre)):
        errors = [one.p_WB_W - flight.truth(body, one.t).p_WB_W for one in estimates]
        assert len(errors) == 21
        assert rmse(np.array(errors)) < 0.05


@pytest.mark.slow
def test_the_begin_does_not_matter_and_the_cost_is_least_there():
    run = Run.of(3.0, 7)
    log = run.batch.logs[0]
    x, rng = np.array([one.x for one in log.keyframes]), np.random.default_rng(0)
    fleet = run.flight.fleet
    found = []
    for off in (0.0, 0.02):
        moved = [replace_place(one, off * rng.normal(size=3)) for one in log.keyframes[1:]]
        found.append(places(smooth([log.keyframes[0], *moved], fleet, SPEC)))
    assert len(x) == 31
    np.testing.assert_allclose(found[0], found[1], atol=2e-3)


def replace_place(keyframe: Keyframe, step: np.ndarray) -> Keyframe:
    one = keyframe.estimate
    return replace(keyframe, estimate=replace(one, p_WB_W=one.p_WB_W + step))


@pytest.mark.slow
def test_a_search_that_does_not_come_to_rest_is_a_failure():
    run = Run.of(1.0, 8)
    few = SPEC.model_copy(update={"batch": SPEC.batch.model_copy(update={"iterations": 1})})
    with pytest.raises(EstimateLost, match="did not come to rest in 1 iterations"):
        smooth(run.batch.logs[0].keyframes, run.flight.fleet, few)


@pytest.mark.slow
def test_a_gap_in_the_inertial_samples_is_bridged():
    """The window begins anew with metres of doubt; the batch has both sides of the gap and the views across it."""
    fleet = Fleet(fleet_of(1).aircraft, gravity=fleet_of(1).gravity)
    flight = Flight.of(4.0, fleet=fleet, noise=replace(TABLE_VI, outliers=0.0), seed=9, most=60)
    batch = make_localizer("batch", fleet, SPEC, lambda _, t: flight.state(0, t))
    for who, said in flight.stream():
        lost = isinstance(said, ImuSample) and 2.0 < said.t <= 2.7
        if who == 0 and not lost and not isinstance(said, Ranges):
            pass_on(batch, who, said)
    assert batch.estimators[0].faults
    (smoothed,), _ = batch.smoothed()
    errors = [one.p_WB_W - flight.truth(0, one.t).p_WB_W for one in smoothed]
    assert np.isfinite(errors).all()
    assert rmse(np.array(errors)) < 0.15


@pytest.fixture(scope="module")
def small() -> tuple[AircraftGraph, np.ndarray]:
    """A graph of a dozen keyframes, and their states."""
    run = Run.of(1.1, 10, ranges=True)
    keyframes = run.batch.logs[0].keyframes
    x, recorded = (
        np.array([one.x for one in keyframes]),
        AircraftGraph(keyframes, run.flight.fleet, SPEC),
    )
    recorded.begin_landmarks(x)
    return recorded, x


@pytest.mark.slow
def test_covariances_are_the_marginals_of_gtsam(small):
    recorded, x = small
    graph, values = recorded.graph(x), recorded.values(x)
    ours = covariances(graph.linearize(values), len(x), recorded.landmarks())
    marginals = gtsam.Marginals(graph, values)
    for k in (0, 5, len(x) - 1):
        for key, at in zip(keys(k), (slice(0, 6), slice(6, 9), slice(9, 15)), strict=True):
            theirs = marginals.marginalCovariance(key)
            np.testing.assert_allclose(ours[k, at, at], theirs, rtol=1e-5, atol=1e-9)
        joint = marginals.jointMarginalCovariance(keys(k))
        np.testing.assert_allclose(ours[k, 0:6, 6:9], joint.at(*keys(k)[:2]), rtol=1e-4, atol=1e-9)


def test_landmarks_lie_where_the_search_has_laid_them(small):
    recorded, x = small
    values, step = recorded.values(x), np.array([0.1, -0.2, 0.3])
    before = {key: values.atPoint3(key) for key in recorded.landmarks()}
    assert len(before) > 3
    for key, place in before.items():
        values.update(key, place + step)
    recorded.take_positions(values)
    after = recorded.values(x)
    for key, place in before.items():
        np.testing.assert_allclose(after.atPoint3(key), place + step, atol=1e-12)
        values.update(key, place)
    recorded.take_positions(values)


def test_blocks_of_the_inverse_are_those_of_a_dense_one():
    """A random banded matrix: seven blocks of three, each coupled with the two behind it."""
    rng, n, K, width = np.random.default_rng(1), 3, 7, 2
    J = np.zeros((60, n * K))
    for row in J:
        k = rng.integers(K - width)
        row[n * k : n * (k + width + 1)] = rng.normal(size=n * (width + 1))
    H = J.T @ J
    band = np.zeros((K, n * (width + 1), n))
    for k in range(K):
        rows = H[n * k : n * (k + width + 1), n * k : n * (k + 1)]
        band[k, : len(rows)] = rows
    dense = np.linalg.inv(H)
    for k, block in enumerate(inverse_blocks(band)):
        at = slice(n * k, n * (k + 1))
        np.testing.assert_allclose(block, dense[at, at], rtol=1e-9)


def test_slopes_of_all_factors_are_right():
    """Every derivative against central differences along gtsam's own steps."""
    rng, values = np.random.default_rng(2), gtsam.Values()
    x = rng.normal(size=(2, 16))
    x[:, 3:7] /= np.linalg.norm(x[:, 3:7], axis=1, keepdims=True)
    for k, row in enumerate(x):
        at, v, b = keys(k)
        values.insert(at, pose(row))
        values.insert(v, row[7:10].copy())
        values.insert(b, gtsam.imuBias.ConstantBias(row[13:], row[10:13]))
        np.testing.assert_allclose(np.abs(state(values, k)), np.abs(row), atol=1e-12)
    z = ImuInterval.empty()
    preintegrate(rng.normal(size=(5, 7)) ** 2 * 0.3, np.zeros(6), np.full(5, 0.1), z)
    rows = np.zeros((3, WIDTH))
    rows[:, SHARE], rows[:, SIGMA] = (0.2, 0.5, 0.9), 0.5
    rows[:, ANCHOR : ANCHOR + 3], rows[:, RANGE] = rng.normal(size=(3, 3)) * 5.0, (1.0, 4.0, 9.0)
    near = x[0] + np.r_[0.1 * rng.normal(size=3), np.zeros(4), 0.1 * rng.normal(size=9)]
    factors = [
        prior_factor(near, np.diag(rng.uniform(0.1, 1.0, 15))),
        motion_factor(0, z, 9.81),
        ranges_factor(0, rows, 1.0),
    ]
    for factor in factors:
        check_slopes(factor, values)


def check_slopes(factor: gtsam.CustomFactor, values: gtsam.Values) -> None:
    linear = factor.linearize(values)
    A, _ = linear.jacobian()
    at = 0
    for key in linear.keys():  # noqa: SIM118 - it is no dictionary
        size = 3 if gtsam.Symbol(key).chr() == ord("v") else 6
        for i in range(size):
            ends = []
            for h in (1e-6, -1e-6):
                step = gtsam.VectorValues()
                for other in linear.keys():  # noqa: SIM118
                    n = 3 if gtsam.Symbol(other).chr() == ord("v") else 6
                    step.insert(other, h * np.eye(n)[i] if other == key else np.zeros(n))
                ends.append(-factor.linearize(values.retract(step)).jacobian()[1])
            slope = (ends[0] - ends[1]) / 2e-6
            np.testing.assert_allclose(A[:, at + i], slope, rtol=2e-5, atol=2e-5 * np.abs(A).max())
        at += size
    assert at == A.shape[1]


def test_half_the_square_of_a_softened_residual_is_hubers_cost():
    r = np.array([-5.0, -0.5, 0.0, 1.0, 1.5, 30.0])
    softened, by_r = soften(r, 1.5)
    costs = np.where(np.abs(r) <= 1.5, 0.5 * r**2, 1.5 * (np.abs(r) - 0.75))
    np.testing.assert_allclose(0.5 * softened**2, costs)
    slopes = (soften(r + 1e-6, 1.5)[0] - soften(r - 1e-6, 1.5)[0]) / 2e-6
    np.testing.assert_allclose(by_r, slopes, rtol=1e-5)
