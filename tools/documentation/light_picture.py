# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of light: two scenes by day, at dusk, at night, in bad weather; and for README one beside traced paths."""

import sys
from contextlib import closing
from importlib.util import find_spec
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

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"
FILE, ROW_FILE = PICTURES / "light.webp", PICTURES / "look.webp"
SIZE, ROW_SIZE = (400, 300), (320, 240)  # of a picture [pixels]
QUALITY = 62  # of WebP
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
RAIN = {
    "light": {"sun": {"elevation_deg": 42.0, "azimuth_deg": 200.0}},
    "weather": {"clouds": 1.0, "rain": 20.0, "visibility": 150.0},
}
SCENE = "building_cluster"  # of README's picture
CASES: tuple[dict[str, Any], ...] = (  # keys of the world: day, dusk, night, fog or wet
    {"light": {"sun": {"elevation_deg": 42.0, "azimuth_deg": 200.0}}, "weather": {"clouds": 0.35}},
    {"light": {"sun": {"elevation_deg": 4.0, "azimuth_deg": 140.0}}, "weather": {"clouds": 0.3}},
    {"light": {"sun": NIGHT, "lamps": LAMPS}},
    {"weather": {"visibility": 90.0, "clouds": 1.0, "wetness": 1.0}},
)


def take_light_picture() -> int:
    """Draw the pictures anew, that with traced paths where Mitsuba is installed; returns the exit code."""
    rows = [[_picture("physical", scene, keys, SIZE) for keys in CASES] for scene in PLACES]
    _save(rows, FILE)
    if find_spec("mitsuba") is None:
        sys.stdout.write(f"{ROW_FILE}: not drawn, since Mitsuba is not installed\n")
        return 0
    cases = (
        ("physical", CASES[0]),
        ("physical", CASES[2]),
        ("physical", RAIN),
        ("mitsuba", CASES[0]),
    )
    _save([[_picture(name, SCENE, keys, ROW_SIZE) for name, keys in cases]], ROW_FILE)
    return 0


def _picture(name: str, scene: str, keys: dict[str, Any], size: tuple[int, int]) -> Image.Image:
    """A scene as a renderer shows it."""
    spec = CameraSpec.for_pictures(size, FOCAL, outputs=["rgb8"], antialiasing=4)
    camera = Camera(spec, np.random.default_rng(0))
    place, pitch, yaw = PLACES[scene]
    q = euler.quaternion_from_rpy_deg([0.0, pitch, yaw])
    world = validate(World, {"scene": scene, **keys}, source="picture of light")
    with closing(make_renderer(name)) as renderer:
        renderer.load(world.surroundings(), [])
        (frame,) = renderer.render([camera.shot((np.array(place), q))], np.zeros((0, 7)))
    assert frame.rgb is not None  # noqa: S101 - the camera's output
    return Image.fromarray(frame.rgb)


def _save(rows: list[list[Image.Image]], file: Path) -> None:
    """Write pictures beside and below each other."""
    width, height = rows[0][0].size
    sheet = Image.new("RGB", (width * len(rows[0]), height * len(rows)))
    for row, pictures in enumerate(rows):
        for column, picture in enumerate(pictures):
            sheet.paste(picture, (column * width, row * height))
    sheet.save(file, quality=QUALITY, method=6)
    sys.stdout.write(f"{file}\n")
