# SPDX-License-Identifier: BSD-3-Clause
"""All estimates of `iap experiment virpo_tables`: every flight once, every seed and method on it, in two processes."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from iap_bringup.experiments.virpo.cases import (
    MAIN,
    METHODS,
    LocalizationCase,
    LocalizationStudy,
    Method,
)
from iap_bringup.experiments.virpo.flights import Event, ObservedFlight, observe, with_noise_of
from iap_bringup.experiments.virpo.scores import EstimateKey, FailedEstimate, TrajectoryScore
from iap_bringup.plots.localized_flights import BodyPath, LocalizedFlight
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import P
from iap_estimation.evaluation.comparison import nees
from iap_estimation.frontend.calibration import StereoCalibration
from iap_estimation.navigation.settings import load_settings
from iap_estimation.virpo.localizer import LOST, make_localizer, named_estimates, pass_on
from iap_estimation.virpo.messages import CENTRE_NAME, Estimate, Ranges, Tracks
from iap_estimation.virpo.spec import VirpoSpec
from iap_sensors.cameras.make import make_renderer
from iap_simulation.sweeps.process_pool import ProcessPool

DRAWN = 10  # of the estimates one in so many is drawn
TERMS = {"pos": "position", "velo": "velocity", "att": "attitude", "drift": "drift"}


@dataclass
class CaseResults:
    """Findings of a case: scores, and the flight with the first seed's estimates for the figure."""

    scores: dict[EstimateKey, TrajectoryScore | FailedEstimate] = field(default_factory=dict)
    drawn: LocalizedFlight | None = None


def run_study(
    study: LocalizationStudy, report: Callable[[str], None]
) -> Iterator[tuple[str, CaseResults]]:
    """Run all cases, as many at a time as there are processors; title and findings of each as it is done.

    Args:
        study: see there.
        report: called with what is done.
    """
    pool = ProcessPool(min(len(study.cases), len(os.sched_getaffinity(0))))
    with closing(pool.map(partial(run_case, seeds=study.seeds), study.cases)) as finished:
        for count, (case, results) in enumerate(finished, 1):
            report(f"{count} of {len(study.cases)} flights: {case.title}")
            yield case.title, results


def run_case(case: LocalizationCase, seeds: tuple[int, ...]) -> CaseResults:
    """Fly one case and estimate it with all its methods and seeds."""
    rendered, results = watch_case(case, seeds[0]), CaseResults()
    frontend = load_settings(frontend=case.frontend).frontend
    paths: dict[str, BodyPath] = {}
    for seed in seeds:
        observed = rendered
        if seed != seeds[0]:  # what was seen, with the noise of another seed in all other sensors
            observed = with_noise_of(rendered, observe(case, seed, frontend, None, lambda _: None))
        for name in case.methods:
            scores, path = _scored(case, name, observed)
            results.scores |= {
                EstimateKey(case.name, name, seed, body): s for body, s in scores.items()
            }
            if path is not None and seed == seeds[0] and name in MAIN:
                paths[name] = path
    results.drawn = _drawn(case, rendered, paths, results, seeds[0])
    return results


def watch_case(case: LocalizationCase, seed: int) -> ObservedFlight:
    """Fly a case with cameras."""
    renderer = make_renderer(case.resolve(seed)[0].renderer)
    try:
        frontend = load_settings(frontend=case.frontend).frontend
        return observe(case, seed, frontend, renderer, lambda _: None)
    finally:
        renderer.close()


def settings_of(method: Method) -> VirpoSpec:
    """The estimators' settings for a method."""
    spec = load_settings(method.preset).estimator
    flags = {flag: term in method.terms for term, flag in TERMS.items()}
    changes = {**flags, "instants": method.size, "sharing": method.neighbours}
    pixels = spec.pixels if method.pixels is None else method.pixels
    physical = spec.physical.model_copy(update=changes)
    return spec.model_copy(update={"physical": physical, "pixels": pixels})


def with_anchors(events: Iterable[Event], count: int | None) -> Iterator[Event]:
    """The same with ranges to the first anchors only."""
    for who, measurement in events:
        if count is not None and isinstance(measurement, Ranges):
            few = measurement.anchors < count
            names = ("anchors", "p_W", "ranges", "deviations")
            yield who, replace(measurement, **{n: getattr(measurement, n)[few] for n in names})
        else:
            yield who, measurement


def with_pixel_noise(
    observed: ObservedFlight, events: Iterable[Event], pixels: float
) -> Iterator[Event]:
    """The same with white noise on every coordinate of every track [px]; the same noise each time."""
    deviations = [pixels / _focal_lengths(each.cameras) for each in observed.own.aircraft]
    rng = np.random.default_rng(observed.scenario.seed)
    for who, measurement in events:
        if isinstance(measurement, Tracks):
            noise = deviations[who] * rng.standard_normal(measurement.views.shape)
            yield who, replace(measurement, views=measurement.views + noise)
        else:
            yield who, measurement


def _focal_lengths(cameras: StereoCalibration) -> Array:
    """Focal lengths (4,) of the columns of `Tracks.views` [px]."""
    right = cameras.left if cameras.right is None else cameras.right
    return np.concatenate([cameras.left.focal, right.focal])


def estimated(
    observed: ObservedFlight, events: Iterable[Event], base: str, spec: VirpoSpec
) -> dict[str, list[Estimate]] | FailedEstimate:
    """Estimates of all bodies, by name, at every keyframe of a method."""
    sensors = observed.own

    def first(aircraft: int, t: float) -> Array:
        k = int(np.searchsorted(observed.t, t - 1e-6))
        return sensors.mounts[aircraft].unit(observed.x[k, sensors.rows[aircraft]])

    localizer = make_localizer(base, sensors.fleet(spec), spec, first)
    results: dict[str, list[Estimate]] = {}
    names = [each.name for each in sensors.aircraft]
    try:
        for who, measurement in events:
            if pass_on(localizer, who, measurement):
                for name, one in named_estimates(localizer, names).items():
                    kept = results.setdefault(name, [])
                    if not kept or one.t > kept[-1].t:
                        kept.append(one)
    except LOST as error:
        return FailedEstimate(str(error))
    if faults := localizer.faults:
        return FailedEstimate(f"at {faults[0].t:.1f} s: {faults[0].reason}")
    return results if results else FailedEstimate("no estimate came")


def score_of(observed: ObservedFlight, body: str, estimates: list[Estimate]) -> TrajectoryScore:
    """Score of the estimates of a body, which are some."""
    sensors, t = observed.own, [each.t for each in estimates]
    k = np.round(np.interp(t, observed.t, range(len(observed.t)))).astype(int)
    names, inside = [each.name for each in sensors.aircraft], None
    if body == CENTRE_NAME:
        true = observed.x[k, 0, :7]
    else:
        a = names.index(body)
        true = np.array(
            [sensors.mounts[a].unit(row)[:7] for row in observed.x[k, sensors.rows[a]]]
        )
        inside = biases_inside(observed, a, estimates)
    errors = np.array([each.p_WB_W for each in estimates]) - true[:, :3]
    q_WB = np.array([each.q_WB for each in estimates])
    turns = so3.quaternion_log(so3.multiply(so3.conjugate(true[:, 3:]), q_WB))
    C = np.array([each.covariance for each in estimates])
    consistency = nees(errors, C[:, :3, :3]), nees(turns, C[:, 3:6, 3:6])
    return TrajectoryScore.of(errors, turns, *consistency, inside)


def biases_inside(observed: ObservedFlight, aircraft: int, estimates: list[Estimate]) -> float:
    """Share of the biases' numbers that are within three of their deviations of the truth."""
    true = observed.biases(aircraft)
    k = np.searchsorted(true[:, 0], [each.t - 1e-6 for each in estimates]).clip(0, len(true) - 1)
    biases = np.array([[*each.gyro_bias, *each.accel_bias] for each in estimates])
    sigma = np.sqrt([np.diag(each.covariance)[9:] for each in estimates])
    return float(np.mean(np.abs(biases - true[k, 1:]) < 3.0 * sigma))


def _scored(
    case: LocalizationCase, method_name: str, observed: ObservedFlight
) -> tuple[dict[str, TrajectoryScore | FailedEstimate], BodyPath | None]:
    """Scores of all bodies, and the path of the last one."""
    method = METHODS[method_name]
    events: Iterable[Event] = with_anchors(observed.events, method.anchors)
    if method.pixels is not None:
        events = with_pixel_noise(observed, events, method.pixels)
    results = estimated(observed, events, method.base, settings_of(method))
    if isinstance(results, FailedEstimate):
        return dict.fromkeys(case.bodies, results), None
    scores: dict[str, TrajectoryScore | FailedEstimate] = {}
    for body in case.bodies:
        name = _known_as(body, observed)
        estimates = results.get(name, [])
        if not estimates:
            scores[body] = FailedEstimate("no estimate came")
            continue
        scores[body] = score_of(observed, name, estimates)
    last = results[_known_as(case.bodies[-1], observed)]
    positions = np.array([each.p_WB_W for each in last])
    return scores, BodyPath(np.array([each.t for each in last]), positions)


def _known_as(body: str, observed: ObservedFlight) -> str:
    """A body's name on the vehicle: a single aircraft has another than one of several."""
    names = [each.name for each in observed.own.aircraft]
    return names[0] if len(names) == 1 else body


def _drawn(
    case: LocalizationCase,
    observed: ObservedFlight,
    paths: dict[str, BodyPath],
    results: CaseResults,
    seed: int,
) -> LocalizedFlight:
    body = case.bodies[-1]
    row = 0 if body == CENTRE_NAME else observed.own.rows[0]
    quartiles = {
        name: {
            each: score.quartiles
            for each in case.bodies
            if isinstance(
                score := results.scores[EstimateKey(case.name, name, seed, each)], TrajectoryScore
            )
        }
        for name in paths
    }
    true = BodyPath(observed.t[::DRAWN], observed.x[::DRAWN, row, P])
    return LocalizedFlight(case.title, case.scene, observed.anchors, body, true, paths, quartiles)
