# SPDX-License-Identifier: BSD-3-Clause
"""Speed of images in physical light: light, matter, noise, glare and smooth edges, of 640x480, by scene."""

import time

import numpy as np
import pytest

from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.scenes.library import scene_names
from iap_description.sensors.mounts import optical
from iap_description.world.world import World
from iap_sensors.cameras.camera import Camera
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.spec import PRESETS, CameraSpec

NEEDED_RATE = 50.0  # images/s on two quiet cores
VIEWS, ROUNDS = 6, 8
NO_BODIES = np.zeros((0, 7))


@pytest.mark.parametrize("scene", scene_names())
def test_images_in_physical_light(benchmark, scene):
    """Six views from the middle of a scene; the fast renderer in turns, so that other load falls on both."""
    camera = Camera(CameraSpec(**{**PRESETS.tree("vi_g"), "noise": 2.0}), stream(1, "benchmark"))
    yaws = np.linspace(0.0, 2.0 * np.pi, VIEWS, endpoint=False)
    q = so3.quaternion_from_matrix(
        so3.matrix_from_euler(np.stack([0.0 * yaws, 0.0 * yaws, yaws], -1))
    )
    shots = [camera.shot((np.array([0.0, 0.0, 2.5]), each)) for each in q]
    assert np.allclose(shots[0].q_WC, optical(q[0]))
    renderers = {name: make_renderer(name) for name in ("opengl", "physical")}
    for renderer in renderers.values():
        renderer.load(World(scene=scene).surroundings(), [])
    wall, cpu = ({name: [] for name in renderers} for _ in range(2))

    def both():
        for name, renderer in renderers.items():
            began = time.perf_counter(), time.process_time()
            for frame in renderer.render(shots, NO_BODIES):
                camera.develop(frame)
            wall[name].append(time.perf_counter() - began[0])
            cpu[name].append(time.process_time() - began[1])

    benchmark.pedantic(both, rounds=ROUNDS, warmup_rounds=2)
    print(
        f"\n{scene}: {VIEWS} views, 640x480, mono8 (medians of {ROUNDS}; needed: {NEEDED_RATE:.0f})"
    )
    for name, renderer in renderers.items():
        rate = VIEWS / np.median(wall[name][-ROUNDS:])
        load = 1000.0 * np.median(cpu[name][-ROUNDS:]) / VIEWS
        print(f"  {name:9s} {rate:7.1f} images/s {load:7.1f} ms of a core")
        renderer.close()
