# SPDX-License-Identifier: BSD-3-Clause
"""The picture of docs/how_to/light.md: two scenes by day, at dusk, at night and in bad weather."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from iap_description.config.record import validate
from iap_description.math import euler
from iap_description.world.world import World
from iap_sensors.cameras.camera import Camera
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.spec import CameraSpec

FILE = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "light.webp"
SIZE, QUALITY = (400, 300), 62  # of a picture [pixels], of WebP
FOCAL = 0.55  # over the width
PLACES = {  # scene -> place [m], pitch and heading [deg]
    "building_cluster": ((-8.0, -4.0, 2.5), 1.0, 25.0),
    "broad_station": ((-9.0, -13.0, 3.0), 2.0, 50.0),
}
LAMPS = {
    f"lamp{k}": {
        "position": [x, y, 6.4],
        "flux": 8000.0,
        "direction": [0, 0, -1],
        "cone_deg": 140.0,
    }
    for k, (x, y) in enumerate(((-2.6, 9.4), (2.8, -9.4), (-13.8, -6.6), (13.8, 6.2)))
} | {"bulb": {"position": [6.0, 0.0, 2.2], "flux": 1500.0}}
NIGHT = {"elevation_deg": -20.0, "azimuth_deg": 0.0}
CASES: tuple[dict[str, Any], ...] = (  # keys of the world: day, dusk, night, fog or wet
    {"light": {"sun": {"elevation_deg": 42.0, "azimuth_deg": 200.0}}, "weather": {"clouds": 0.35}},
    {"light": {"sun": {"elevation_deg": 4.0, "azimuth_deg": 140.0}}, "weather": {"clouds": 0.3}},
    {"light": {"sun": NIGHT, "lamps": LAMPS}},
    {"weather": {"visibility": 90.0, "clouds": 1.0, "wetness": 1.0}},
)


def take_light_picture() -> int:
    """Draw the picture anew; returns the exit code."""
    width, height = SIZE
    spec = CameraSpec.for_pictures(SIZE, FOCAL, outputs=["rgb8"], antialiasing=4)
    camera = Camera(spec, np.random.default_rng(0))
    sheet = Image.new("RGB", (width * len(CASES), height * len(PLACES)))
    with closing(make_renderer("physical")) as renderer:
        for row, (scene, (place, pitch, yaw)) in enumerate(PLACES.items()):
            q = euler.quaternion_from_rpy_deg([0.0, pitch, yaw])
            for column, keys in enumerate(CASES):
                world = validate(World, {"scene": scene, **keys}, source="picture of light")
                renderer.load(world.surroundings(), [])
                (frame,) = renderer.render([camera.shot((np.array(place), q))], np.zeros((0, 7)))
                assert frame.rgb is not None  # noqa: S101 - the camera's output
                sheet.paste(Image.fromarray(frame.rgb), (column * width, row * height))
    sheet.save(FILE, quality=QUALITY, method=6)
    sys.stdout.write(f"{FILE}\n")
    return 0
