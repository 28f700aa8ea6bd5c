# SPDX-License-Identifier: BSD-3-Clause
"""Speed of images in physical light: light, matter, noise, glare and smooth edges, of 640x480, by scene."""

import time

import numpy as np
import pytest
import trimesh

from iap_description.config.plain_yaml import yaml_text
from iap_description.math import so3
from iap_description.math.random_streams import stream
from iap_description.scenes.library import scene_names
from iap_description.sensors.mounts import optical
from iap_description.world.world import World
from iap_sensors.cameras.camera import Camera
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.spec import PRESETS, CameraSpec

SENSOR = {"pixel_size": 6.0, "full_well": 12000.0, "read_noise": 20.0, "prnu": 0.01, "dsnu": 5.0}
EFFECTS = {  # glare, vignetting, and the noise and exposure of a real image sensor
    "glare": {},
    "vignetting": {},
    "exposure": {"time": 0.001},
    "sensor": SENSOR,
    "auto_exposure": {},
}
NEEDED_RATE, NEEDED_IN_CROWD = 50.0, 20.0  # images/s on two quiet cores; among 100 000 triangles
BALLS, SUBDIVISIONS = 20, 4  # of 5120 triangles each
VIEWS, ROUNDS = 6, 8
NO_BODIES = np.zeros((0, 7))


@pytest.mark.parametrize("scene", scene_names())
def test_images_in_physical_light(benchmark, figure, scene):
    """Six views from the middle of a scene that ships."""
    _take(benchmark, figure, scene, scene, NEEDED_RATE)


def test_images_of_many_triangles_in_physical_light(benchmark, figure, tmp_path):
    """The same in a yard with meshes of 102 400 triangles around its middle."""
    ball = trimesh.creation.icosphere(SUBDIVISIONS, radius=0.5)
    ball.export(tmp_path / "ball.obj")
    parts = [{"type": "scene", "file": "textured_walls"}]
    for k, angle in enumerate(2.0 * np.pi * np.arange(BALLS) / BALLS):
        place = [6.0 * np.cos(angle), 6.0 * np.sin(angle), 1.0 + 0.1 * k]
        mesh = {"type": "mesh", "name": f"ball_{k}", "file": "ball.obj", "contact": "none"}
        parts.append({**mesh, "position": [round(float(each), 3) for each in place]})
    scene = tmp_path / "crowd.yaml"
    scene.write_text(yaml_text({"parts": parts}), encoding="utf-8")
    count = BALLS * len(ball.faces)
    assert count > 100_000
    _take(benchmark, figure, str(scene), f"{count} triangles", NEEDED_IN_CROWD)


def _take(benchmark, figure, scene, what, needed):
    """Take images of a scene by each renderer in turns, so that other load falls on both, and print the rates."""
    tree = PRESETS.tree("vi_g")
    plain, real = (
        Camera(CameraSpec(**{**tree, **keys}), stream(1, "benchmark"))
        for keys in ({"noise": 2.0}, {"effects": EFFECTS})
    )
    yaws = np.linspace(0.0, 2.0 * np.pi, VIEWS, endpoint=False)
    q = so3.quaternion_from_matrix(
        so3.matrix_from_euler(np.stack([0.0 * yaws, 0.0 * yaws, yaws], -1))
    )
    places = [(np.array([0.0, 0.0, 2.5]), each) for each in q]
    assert np.allclose(plain.shot(places[0]).q_WC, optical(q[0]))
    renderers = {name: make_renderer(name) for name in ("opengl", "physical")}
    for renderer in renderers.values():
        renderer.load(World(scene=scene).surroundings(), [])
    cases = {"opengl": plain, "physical": plain, "physical, effects": real}
    wall, cpu = ({name: [] for name in cases} for _ in range(2))

    def both():
        for name, camera in cases.items():
            began = time.perf_counter(), time.process_time()
            shots = [camera.shot(place) for place in places]
            for frame in renderers[name.partition(",")[0]].render(shots, NO_BODIES):
                camera.develop(frame)
            wall[name].append(time.perf_counter() - began[0])
            cpu[name].append(time.process_time() - began[1])

    benchmark.pedantic(both, rounds=ROUNDS, warmup_rounds=2)
    for name in cases:
        rate = VIEWS / np.median(wall[name][-ROUNDS:])
        load = 1000.0 * np.median(cpu[name][-ROUNDS:]) / VIEWS
        figure(f"{what}, {name}", rate, f"images/s, 640x480, {VIEWS} views", 1, bar=needed)
        figure(f"{what}, {name}, an image", load, "ms of a core", 1)
    for renderer in renderers.values():
        renderer.close()
