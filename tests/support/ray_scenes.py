# SPDX-License-Identifier: BSD-3-Clause
"""Small worlds to cast rays in, and images of one sensor in one of them."""

import numpy as np
from touching import world_of

from iap_description.config.record import validate
from iap_sensors.rays.depth_camera_spec import PRESETS, DepthCameraSpec
from iap_sensors.rays.images import RaySensor
from iap_sensors.rays.world_rays import Rays

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
NOTHING = np.zeros((0, 13))
PLAIN = {"baseline": 0.0, "disparity_noise_deg": 0.0, "dropout": 0.0, "resolution": 0.0}


def box(position, size, **more):
    return {"type": "box", "position": position, "size": size, **more}


def depth_camera(**changes):
    """A d455 of 64x48 pixels without errors, but for what is given."""
    tree = {**PRESETS.tree("d455"), **PLAIN, "width": 64, "height": 48, "range_max": 30.0}
    return validate(DepthCameraSpec, {**tree, **changes}, source="test")


def rays_in(ground=True, **objects):
    rays = Rays(world_of(ground=ground, **objects), [])
    rays.follow(NOTHING, NOTHING)
    return rays


def look(spec, rays, outputs, p=(0.0, 0.0, 2.0), q=LEVEL, key=1, hidden=()):
    """The images of a sensor at a place [m], which looks along x of its mount."""
    keys = np.array([key], np.uint64)
    images = RaySensor(spec, outputs).images([rays], np.array([p]), np.array([q]), keys, hidden)
    return {name: image[0] for name, image in images.items()}
