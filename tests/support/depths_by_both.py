# SPDX-License-Identifier: BSD-3-Clause
"""Depths and labels of the same scene by rays and by OpenGL, from three places."""

import numpy as np
from ray_scenes import NOTHING

from iap_description.config.record import validate
from iap_description.math import so3
from iap_description.scenes.library import load_scene
from iap_description.sensors.mounts import optical
from iap_description.world.world import World
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.model import CameraModel
from iap_sensors.cameras.renderer import Shot
from iap_sensors.cameras.spec import PRESETS, CameraSpec
from iap_sensors.rays import depth_camera_spec
from iap_sensors.rays.depth_camera_spec import DepthCameraSpec
from iap_sensors.rays.images import RaySensor
from iap_sensors.rays.world_rays import Rays

WIDTH, HEIGHT, FOCAL = 320, 240, 200.0
NEAR, FAR = 0.1, 60.0
EULER_DEG = ([0.0, 0.0, 0.0], [5.0, 10.0, 100.0], [-8.0, -6.0, 210.0])


def rendered(scene):
    size = {"width": WIDTH, "height": HEIGHT, "cx": 0.5 * (WIDTH - 1), "cy": 0.5 * (HEIGHT - 1)}
    how = {
        "fx": FOCAL,
        "fy": FOCAL,
        "near": NEAR,
        "far": FAR,
        "outputs": ["depth", "segmentation"],
    }
    camera = validate(CameraSpec, {**PRESETS.tree("vi_g"), **size, **how}, source="test")
    p, q = places()
    model = CameraModel.of(camera)
    shots = [Shot(model, camera, each, turn) for each, turn in zip(p, optical(q), strict=True)]
    renderer = make_renderer("opengl")
    renderer.load(load_scene(scene), [])
    frames = renderer.render(shots, np.zeros((0, 7)))
    renderer.close()
    return np.stack([f.depth for f in frames]), np.stack([f.labels for f in frames])


def cast(scene):
    angles = [2.0 * np.rad2deg(np.arctan(0.5 * n / FOCAL)) for n in (WIDTH, HEIGHT)]
    size = {"width": WIDTH, "height": HEIGHT, "hfov_deg": angles[0], "vfov_deg": angles[1]}
    exact = {"baseline": 0.0, "disparity_noise_deg": 0.0, "dropout": 0.0, "resolution": 0.0}
    tree = {
        **depth_camera_spec.PRESETS.tree("d455"),
        **size,
        **exact,
        "range_min": NEAR,
        "range_max": FAR,
    }
    sensor = RaySensor(validate(DepthCameraSpec, tree, source="test"), ["depth", "segmentation"])
    rays = Rays(World(scene=scene), [])
    rays.follow(NOTHING, NOTHING)
    p, q = places()
    images = sensor.images([rays] * len(p), p, q, np.zeros(len(p), np.uint64))
    return images["depth"], images["segmentation"]


def places():
    q = so3.quaternion_from_matrix(so3.matrix_from_euler(np.deg2rad(EULER_DEG)))
    return np.tile([1.0, 0.5, 3.0], (len(q), 1)), q
