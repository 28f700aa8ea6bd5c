# SPDX-License-Identifier: BSD-3-Clause
"""Checks of what methods made of a data set: estimates that are of no use are no completed localisation."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_estimation.datasets.method_results import BLIND, LOST, LocalizationResults
from iap_estimation.evaluation.constant_velocity import constant_velocity
from iap_estimation.evaluation.trajectory_errors import poses_at
from iap_estimation.navigation.vision_log import FEWEST_TRACKS
from iap_estimation.virpo.messages import Ranges

MOST_BLIND = 0.3  # share of the images without tracks, with which a method of images is lost
FEWEST_RESTARTS, LEAST_TIME = (
    3,
    10.0,
)  # restarts from which on, and time for each below which, it is lost [s]
GAP = "a gap in the inertial samples"  # a reason to begin anew that is not the method's fault
LEAST_OFF, WORSE = 0.08, 1.8  # [m], and times more than ranges alone, of which a note is made
MOST_OFF = 0.5  # what ranges may be off an estimate in the median [m]

Check = Callable[[LocalizationResults, str], str | None]


def with_losses(results: LocalizationResults) -> LocalizationResults:
    """The results, with the outcome ``lost: reason`` for methods whose estimates are of no use; see `CHECKS`."""
    methods = dict(results.methods)
    for name, ran in results.methods.items():
        reasons = [] if ran.has_failed else [check(results, name) for check in CHECKS]
        losses = [reason for reason in reasons if reason is not None]
        if losses:
            methods[name] = replace(ran, outcome=f"{LOST}: {'; '.join(losses)}")
    return replace(results, methods=methods)


def without_tracks(results: LocalizationResults, method: str) -> str | None:
    """Images in which nothing was followed, of a method that has nothing else."""
    tracks = np.array(results.frontend.tracks)
    is_by_images = method == "vio" or (method == "batch" and not results.dataset.has_ranges)
    if not is_by_images or not len(tracks):
        return None
    share = float(np.mean(tracks < FEWEST_TRACKS))
    if share <= MOST_BLIND:
        return None
    return (
        f"{share:.0%} of the images show nothing that can be followed (fewer than {FEWEST_TRACKS} tracks): the estimate"
        " is dead reckoning"
    )


def restarting(results: LocalizationResults, method: str) -> str | None:
    """Beginnings anew, over and over, that no gap of the data explains."""
    faults = [fault for fault in results.methods[method].faults if fault.reason != GAP]
    if len(faults) < FEWEST_RESTARTS or results.duration > LEAST_TIME * len(faults):
        return None
    return f"restarted {len(faults)} times in {results.duration:.1f} s: at {faults[0].t:.2f} s: {faults[0].reason}"


def off_ranges(results: LocalizationResults, method: str) -> str | None:
    """Estimates that their own ranges contradict."""
    if method not in BLIND:
        return None
    off = [np.abs(each) for each in range_errors(results, method).values()]
    median = float(np.median(np.concatenate(off))) if off else 0.0
    if median <= MOST_OFF:
        return None
    return f"its places do not fit the ranges, {median:.2f} m in the median: are the anchors' places right?"


CHECKS: tuple[Check, ...] = (without_tracks, restarting, off_ranges)


def doubts(results: LocalizationResults) -> list[str]:
    """Notes on estimates that ranges contradict far more than places of the ranges alone: samples lead them away."""
    notes = []
    for method in filter(BLIND.__contains__, results.methods):
        with_unit = [np.abs(each) for each in range_errors(results, method).values()]
        alone = [_off_alone(rounds) for rounds in results.rounds.values() if len(rounds)]
        if not with_unit or not alone:
            continue
        off, least = (float(np.median(np.concatenate(each))) for each in (with_unit, alone))
        if off > max(LEAST_OFF, WORSE * least):
            notes.append(
                f"{method}: its places are {off:.2f} m off the ranges in the median, and those of the ranges alone"
                f" {least:.2f} m: do axes, signs and clock of the inertial samples fit, and the anchors?"
            )
    return notes


def _off_alone(rounds: list[Ranges]) -> Array:
    """Distances (n,) by which ranges are off places that go by nothing but ranges [m]."""
    _, places = constant_velocity(rounds, rounds[0].p_W.mean(axis=0))
    ways = [np.linalg.norm(p - each.p_W, axis=1) for p, each in zip(places, rounds, strict=True)]
    return np.abs(np.concatenate([each.ranges for each in rounds]) - np.concatenate(ways))


def range_errors(results: LocalizationResults, method: str) -> dict[str, np.ndarray]:
    """Excess (n,) of the ranges to each anchor over the distances from a method's positions [m]."""
    errors: dict[str, list[float]] = {}
    for number, rounds in results.rounds.items():
        one = results.dataset.aircraft[number]
        trajectory = results.methods[method].trajectories.get(one.name)
        if trajectory is None or not len(trajectory.t):
            continue
        inside = [r for r in rounds if trajectory.t[0] <= r.t <= trajectory.t[-1]]
        poses = poses_at(np.array([r.t for r in inside]), trajectory.t, trajectory.poses)
        arms = so3.rotate(poses[:, 3:], np.broadcast_to(one.p_BA_B, (len(poses), 3)))
        for measured, tag in zip(inside, poses[:, :3] + arms, strict=True):
            ways = np.linalg.norm(tag - measured.p_W, axis=1)
            for anchor, off in zip(measured.anchors, measured.ranges - ways, strict=True):
                errors.setdefault(results.dataset.anchor_name(int(anchor)), []).append(float(off))
    return {name: np.array(each) for name, each in sorted(errors.items())}
