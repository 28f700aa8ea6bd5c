# SPDX-License-Identifier: BSD-3-Clause
"""Time of the front end for a stereo pair: textured_walls from an aircraft in flight, in one thread."""

import time

import numpy as np

from iap_description.config.record import validate
from iap_description.scenes.library import load_scene
from iap_estimation.frontend.calibration import CameraCalibration, StereoCalibration
from iap_estimation.frontend.spec import PRESETS, FrontendSpec
from iap_estimation.frontend.tracker import StereoTracker
from iap_sensors.cameras.make import make_renderer
from iap_sensors.mounted.cameras import POSE, mounted_cameras_of
from iap_sensors.mounted.visible_bodies import visible_bodies
from iap_simulation.runs.unrecorded_flight import watch
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.scenario.rig_spec import rig_spec

SCENE, START, PAIRS = "textured_walls", 8.0, 120  # [s], and images at 20 Hz
NEEDED = 10.0  # ms a pair
WARM = 5  # pairs until everything is compiled


def test_stereo_pair(benchmark, figure):
    mounted, pairs = _seen()
    calibration = _calibration(mounted)
    spec = validate(FrontendSpec, PRESETS.tree("default"), source="default")
    walls, cpus, counts = [], [], []

    def follow():
        tracker = StereoTracker(calibration, spec)
        for k, (left, right) in enumerate(pairs):
            wall, cpu = time.perf_counter(), time.thread_time()
            tracks = tracker.track(0.05 * k, left, right)
            if k >= WARM:
                walls.append(time.perf_counter() - wall)
                cpus.append(time.thread_time() - cpu)
                counts.append(len(tracks.ids))

    benchmark.pedantic(follow, rounds=3, warmup_rounds=1)
    figure("tracks of a pair of 640x480", np.mean(counts), "tracks")
    for name, seconds in (("wall", walls), ("thread", cpus)):
        middle, late = 1e3 * np.percentile(seconds, [50, 95])
        figure(f"a pair, {name}", middle, "ms (median)", 2, bar=NEEDED)
        figure(f"a pair, {name}, 95 %", late, "ms", 2)


def _seen():
    """The cameras of the first aircraft, and its pairs of images."""
    flown = watch("figure_eight", Options(duration=START + PAIRS / 20.0 + 0.5))
    seeing, _ = resolve("figure_eight", Options(sensors="stereo"))
    mounted = mounted_cameras_of(rig_spec(seeing))[:2]
    renderer = make_renderer("opengl")
    renderer.load(load_scene(SCENE), visible_bodies(rig_spec(flown.scenario)))
    first, every = int(np.searchsorted(flown.t, START)), mounted[0].sampling.every
    states = flown.x[first : first + PAIRS * every : every]
    pairs = []
    for x in states:
        left, right = renderer.render([each.shot(x) for each in mounted], x[:, POSE])
        pairs.append((left.mono, right.mono))
    renderer.close()
    return mounted, pairs


def _calibration(mounted):
    infos = [each.info for each in mounted]
    cameras = [
        CameraCalibration.of(
            (i.width, i.height), i.K, i.D, model=i.distortion_model, source=i.topic
        )
        for i in infos
    ]
    places, attitudes = [np.array(i.p_BS_B) for i in infos], [np.array(i.q_BS) for i in infos]
    return StereoCalibration.of(*cameras, places, attitudes)
