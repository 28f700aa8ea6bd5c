# SPDX-License-Identifier: BSD-3-Clause
"""The window's cost over a whole recording, without marginalisation: a factor graph of gtsam.

Landmarks are points L(m) in `map`, because gtsam has the reprojection of these compiled; all else is the window's own
code.
"""

from collections.abc import Sequence
from functools import cached_property

import gtsam
import numpy as np
from gtsam.symbol_shorthand import B, L, V, X

from iap_description.arrays import Array
from iap_estimation.virpo.batch.factors import (
    biases,
    motion_factor,
    pose,
    prior_factor,
    ranges_factor,
)
from iap_estimation.virpo.batch.keyframes import Keyframe
from iap_estimation.virpo.batch.sightings import Sighting, sightings_of
from iap_estimation.virpo.factors.preintegration import ImuInterval, preintegrate
from iap_estimation.virpo.factors.ranging import FRAME
from iap_estimation.virpo.fleet import Fleet
from iap_estimation.virpo.spec import VirpoSpec
from iap_estimation.virpo.window.window import SILENT

VAGUENESS = 10.0  # deviation of a landmark's place over its first distance: it decides only where views say nothing


class AircraftGraph:
    """Everything that one aircraft measured, as a graph.

    Args:
        keyframes: at least one.
        fleet: that aircraft alone, which has cameras.
        spec: see `VirpoSpec`.
    """

    def __init__(self, keyframes: Sequence[Keyframe], fleet: Fleet, spec: VirpoSpec) -> None:
        rig = fleet.aircraft[0].rig
        assert rig is not None  # noqa: S101 - data sets without cameras are refused
        self._keyframes, self._fleet, self._spec, self._rig = keyframes, fleet, spec, rig
        self._sightings = sightings_of(keyframes, spec.batch.track)

    def begin_landmarks(self, x: Array) -> None:
        """Lay the landmarks where their views meet for states (K, 16)."""
        for sighting in self._sightings:
            sighting.begin(x, self._rig)

    def cull(self, x: Array) -> None:
        """Forget views that are too far from their landmarks for states (K, 16)."""
        for sighting in self._sightings:
            sighting.cull(x, self._rig, self._spec.cull / self._rig.focal)

    def graph(self, x: Array) -> gtsam.NonlinearFactorGraph:
        """All factors; samples are integrated at the biases of states (K, 16)."""
        graph = gtsam.NonlinearFactorGraph()
        graph.add(prior_factor(self._keyframes[0].x, self._keyframes[0].estimate.covariance))
        for k, keyframe in enumerate(self._keyframes):
            if keyframe.is_still:
                sigma = gtsam.noiseModel.Isotropic.Sigma(3, self._spec.rest.velocity)
                graph.addPriorVector(V(k), np.zeros(3), sigma)
            if keyframe.interval is not None:
                self._add_interval(graph, k - 1, keyframe, x[k - 1])
        for m, sighting in self._counted():
            self._add_views(graph, m, sighting, x)
        return graph

    def values(self, x: Array) -> gtsam.Values:
        """The variables at states (K, 16) and landmarks."""
        values = gtsam.Values()
        for k, row in enumerate(x):
            values.insert(X(k), pose(row))
            values.insert(V(k), row[7:10].copy())
            values.insert(B(k), biases(row))
        for m, sighting in self._counted():
            values.insert(L(m), sighting.place)
        return values

    def take_positions(self, values: gtsam.Values) -> None:
        """Lay the landmarks where they are found to be."""
        for m, sighting in self._counted():
            sighting.p_W = values.atPoint3(L(m))

    def landmarks(self) -> list[int]:
        """The variables of the landmarks."""
        return [L(m) for m, _ in self._counted()]

    def _counted(self) -> list[tuple[int, Sighting]]:
        return [(m, each) for m, each in enumerate(self._sightings) if each.counts]

    def _add_interval(
        self, graph: gtsam.NonlinearFactorGraph, k: int, keyframe: Keyframe, x: Array
    ) -> None:
        """Add the factors between keyframe k, whose state is x, and the next."""
        craft, interval, z = self._fleet.aircraft[0], keyframe.interval, ImuInterval.empty()
        assert interval is not None  # noqa: S101 - of the first alone
        noise = SILENT if keyframe.is_silent else craft.noise
        preintegrate(interval.samples[0], x[10:], noise, z)
        graph.add(motion_factor(k, z, self._fleet.gravity))
        rows = interval.range_rows(x[None, 10:], craft.p_BA_B[None], self._fleet.gravity)
        rows[:, FRAME] = k
        if len(rows):
            graph.add(ranges_factor(k, rows, self._spec.huber.ranges))

    def _add_views(
        self, graph: gtsam.NonlinearFactorGraph, m: int, sighting: Sighting, x: Array
    ) -> None:
        noise, calibration, cameras = self._camera
        for frame, side, view in sighting.counted():
            graph.add(
                gtsam.GenericProjectionFactorCal3_S2(
                    self._rig.focal * view, noise, X(frame), L(m), calibration, cameras[side]
                )
            )
        distance = float(np.linalg.norm(sighting.place - x[sighting.frames[0], :3]))
        vague = gtsam.noiseModel.Isotropic.Sigma(3, VAGUENESS * distance)
        graph.addPriorPoint3(L(m), sighting.place, vague)

    @cached_property
    def _camera(self) -> tuple[gtsam.noiseModel.Base, gtsam.Cal3_S2, list[gtsam.Pose3]]:
        """Noise of a view under Huber's kernel [px], calibration, and the cameras on the body."""
        rig = self._rig
        sigma = gtsam.noiseModel.Isotropic.Sigma(2, rig.deviation * rig.focal)
        kernel = gtsam.noiseModel.mEstimator.Huber.Create(self._spec.huber.vision)
        noise = gtsam.noiseModel.Robust.Create(kernel, sigma)
        cameras = [
            gtsam.Pose3(gtsam.Rot3(R), p) for R, p in zip(rig.R_BC, rig.p_BC_B, strict=True)
        ]
        return noise, gtsam.Cal3_S2(rig.focal, rig.focal, 0.0, 0.0, 0.0), cameras
