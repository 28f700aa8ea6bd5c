# SPDX-License-Identifier: BSD-3-Clause
"""Speed of rendered images, and agreement of both renderers: textured_walls from a three_star in flight."""

import time

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.scenes.library import load_scene
from iap_description.sensors.mounts import optical
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.body_parts import body_parts
from iap_description.vehicles.platform import load_platform
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.spec import PRESETS, CameraSpec

SCENE, HEIGHT = "textured_walls", 3.0  # [m]
ROUNDS = 15
RENDERERS = "opengl", "pybullet"
NEEDED_RATE, NEEDED_RATIO = 120.0, 8.0  # images/s of six cameras; OpenGL's rate over PyBullet's


class Stage:
    """A three_star that hovers in the scene, with the paper's cameras."""

    def __init__(self, name: str) -> None:
        assembly = Assembly.of(load_platform("three_star"))
        rest = [[0.0, 0.0, 0.0, 1.0], *(joint.q_PJ for joint in assembly.joints)]
        self.poses = np.hstack([assembly.p_PB_P + [0.0, 0.0, HEIGHT], rest])
        self._bodies = assembly.bodies
        self.renderer = make_renderer(name)
        self.renderer.load(load_scene(SCENE), [body_parts(body) for body in assembly.bodies])

    def shots(self, rows, mounts=("left_camera", "right_camera"), **keys):
        camera = CameraSpec(**{**PRESETS.tree("vi_g"), **keys})
        model = CameraModel.of(camera)
        return [self._shot(model, camera, row, mount) for row in rows for mount in mounts]

    def render(self, shots):
        return self.renderer.render(shots, self.poses)

    def _shot(self, model, camera, row, mount):
        place, pose = self._bodies[row].mounts[mount], self.poses[row]
        q_BS = so3.quaternion_from_matrix(so3.matrix_from_euler(np.deg2rad(place.rpy_deg)))
        p_W = pose[:3] + so3.rotate(pose[3:], np.array(place.position))
        q_WC = optical(so3.multiply(pose[3:], q_BS))
        return Shot(model, camera, p_W, q_WC, hidden=(row,))


@pytest.mark.parametrize("count", [1, 6])
def test_render_side_by_side(benchmark, figure, count):
    """Both renderers in turns, so that what else the machine does falls on both; depth where both see a surface."""
    stages = {name: Stage(name) for name in RENDERERS}
    shots = {name: stage.shots([1, 2, 3])[:count] for name, stage in stages.items()}
    seconds = {name: [] for name in RENDERERS}

    def both():
        for name, stage in stages.items():
            began = time.perf_counter()
            stage.render(shots[name])
            seconds[name].append(time.perf_counter() - began)

    benchmark.pedantic(both, rounds=ROUNDS, warmup_rounds=3)
    rates = {name: count / np.median(times[-ROUNDS:]) for name, times in seconds.items()}
    for name, rate in rates.items():
        figure(f"{count} cameras, {name}", rate, f"images/s, 640x480, in {SCENE}", 1)
    ratio = rates["opengl"] / rates["pybullet"]
    figure(f"{count} cameras, opengl over pybullet", ratio, "", 1, bar=NEEDED_RATIO)
    if count == 1:
        off = _off(*(_depths(stage) for stage in stages.values()))
        figure("depths of both, median difference", 100.0 * np.median(off), "%", 4)
        figure("depths of both, pixels within 1 %", 100.0 * np.mean(off < 0.01), "%", 2)
    for stage in stages.values():
        stage.renderer.close()


def test_render_six_cameras(benchmark, figure):
    """Three stereo pairs at once."""
    stage = Stage("opengl")
    shots = stage.shots([1, 2, 3])
    benchmark.pedantic(lambda: stage.render(shots), rounds=30, warmup_rounds=3)
    rate = len(shots) / benchmark.stats.stats.median
    figure("six cameras, opengl", rate, f"images/s on {stage.renderer.device}", 1, bar=NEEDED_RATE)
    stage.renderer.close()


def _depths(stage):
    shots = stage.shots([1, 2, 3], ["left_camera"], outputs=["depth"])
    return np.stack([frame.depth for frame in stage.render(shots)])


def _off(one, other):
    """Relative difference of depths wherever both see something."""
    both = np.isfinite(one) & np.isfinite(other)
    return np.abs(other / one - 1.0)[both]
