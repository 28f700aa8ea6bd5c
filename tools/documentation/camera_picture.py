# SPDX-License-Identifier: BSD-3-Clause
"""The picture of docs/how_to/camera_effects.md: one scene through several cameras."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from light_picture import LAMPS, NIGHT
from PIL import Image

from iap_description.arrays import Pixels
from iap_description.config.record import validate
from iap_description.math import euler
from iap_description.math.random_streams import stream
from iap_description.world.world import World
from iap_sensors.cameras.camera import Camera
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.spec import PRESETS, CameraSpec

FILE = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "camera_effects.webp"
SIZE, QUALITY = (480, 300), 66  # of a picture [pixels], of WebP
IMAGES = 12  # that a camera takes before the one that is shown, so that its exposure settles
RATE = 20.0  # of those [Hz]
PLACE, PITCH, YAW = (-8.0, -4.0, 2.5), 1.0, 25.0  # [m], [deg]
DAY = {"light": {"sun": {"elevation_deg": 24.0, "azimuth_deg": 40.0}}, "weather": {"clouds": 0.3}}
DARK = {"light": {"sun": NIGHT, "lamps": LAMPS}}
LENS = {"width": 640, "height": 400, "fx": 352.0, "fy": 352.0, "cx": 319.5, "cy": 199.5}
STILL, TURN = (0.0, 0.0, 0.0), (0.0, 0.0, 5.0)  # rates of cameras [rad/s]
STRIPES = {"flicker": {"modulation": 0.9}, "rolling_shutter": {"line_time": 6e-5}}
Case = tuple[dict[str, Any], str, dict[str, Any], tuple[float, float, float]]
CASES: tuple[Case, ...] = (  # world, preset, further effects, and how the camera turns
    (DAY, "mt9v034", {}, STILL),
    (DAY, "imx219", {}, STILL),
    (DARK, "imx219", {"auto_exposure": {"time_max": 0.05, "gain_max_db": 36.0}}, STILL),
    (DAY, "imx219", {"rolling_shutter": {"line_time": 7e-5, "bands": 64}}, TURN),
    (DAY, "imx219", {"lens_drops": {"count": 40}, "glare": {"share": 0.2}}, STILL),
    (
        DAY,
        "imx219",
        {"depth_of_field": {"focal_length": 0.05, "f_number": 0.95, "focus": 3.0}},
        STILL,
    ),
    (
        DARK,
        "imx273",
        {**STRIPES, "auto_exposure": {"time_max": 0.003, "gain_max_db": 42.0}},
        STILL,
    ),
    (DAY, "d435", {}, STILL),
)
ACROSS = 4  # pictures in a row
NEAR, FAR = 3.0, 60.0  # depths that are shown from white to black [m]


def take_camera_picture() -> int:
    """Draw the picture anew; returns the exit code."""
    width, height = SIZE
    sheet = Image.new("RGB", (width * ACROSS, height * (len(CASES) // ACROSS)))
    with closing(make_renderer("physical")) as renderer:
        for k, (keys, preset, effects, turn) in enumerate(CASES):
            world = validate(
                World, {"scene": "building_cluster", **keys}, source="picture of cameras"
            )
            renderer.load(world.surroundings(), [])
            tree = PRESETS.tree(preset)
            tree |= {"effects": {**tree["effects"], **effects}}
            if preset != "d435":
                tree |= LENS
            camera = Camera(validate(CameraSpec, tree, source=preset), stream(1, str(k)))
            q = euler.quaternion_from_rpy_deg([0.0, PITCH, YAW])
            for i in range(IMAGES):
                shot = camera.shot((np.array(PLACE), q), (np.zeros(3), np.array(turn)))
                frame = renderer.render([shot], np.zeros((0, 7)))[0]
                frame = camera.develop(frame, i / RATE)
            image = _shown(frame.depth) if frame.depth is not None else frame.rgb
            image = frame.mono if image is None else image
            assert image is not None  # noqa: S101 - the camera's output
            picture = Image.fromarray(image).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
            sheet.paste(picture, (k % ACROSS * width, k // ACROSS * height))
    sheet.save(FILE, quality=QUALITY, method=6)
    sys.stdout.write(f"{FILE}\n")
    return 0


def _shown(depth: np.ndarray) -> Pixels:
    """Grey levels of a depth (h, w) [m]; what was not measured is black."""
    shares = np.log(FAR / np.maximum(depth, NEAR)) / np.log(FAR / NEAR)
    return np.asarray(255.0 * np.clip(np.nan_to_num(shares), 0.0, 1.0), np.uint8)
