# SPDX-License-Identifier: BSD-3-Clause
"""Images of cameras with effects, of light that is given in place of being drawn."""

import numpy as np
from small_scenes import spec

from iap_description.math.random_streams import stream
from iap_sensors.cameras.camera import Camera
from iap_sensors.cameras.renderer import Frame

SENSOR = {"pixel_size": 6.0, "full_well": 10000.0}


def camera_with(effects, *, seed=1, topic="left", **keys):
    """A camera with effects, 160x120 where no size is given."""
    size = {"width": 160, "height": 120, "cx": 79.5, "cy": 59.5, "fx": 80.0, "fy": 80.0}
    return Camera(spec(**{**size, "effects": effects, **keys}), stream(seed, topic))


def light_of(camera, level=0.5):
    """An image of even light as large as a camera's."""
    shape = (camera.spec.height, camera.spec.width)
    if "rgb8" in camera.spec.outputs or camera.spec.effects.needs_color:
        shape += (3,)
    return np.full(shape, level, np.float32)


def developed(camera, light, t=0.0, **frame):
    """The camera's grey levels of an image of light, or its colours."""
    out = camera.develop(Frame(light=light.astype(np.float32), **frame), t)
    return out.mono if out.mono is not None else out.rgb


def numbers(camera, light, t=0.0, **frame):
    """The same as real numbers from 0 to 1."""
    return developed(camera, light, t, **frame).astype(float) / 255.0
