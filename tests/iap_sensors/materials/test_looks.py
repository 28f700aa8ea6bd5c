# SPDX-License-Identifier: BSD-3-Clause
"""Materials and skies look as they did, so that a recording that is rendered again shows the same.

`python tests/iap_sensors/materials/test_looks.py` notes how they look, after a change that is wanted.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from iap_description.scenes.lighting import Sun
from iap_description.world.world import World
from iap_sensors.materials.library import MATERIALS
from iap_sensors.physical.atmosphere import ClearSky
from iap_sensors.physical.environment import Environment
from iap_sensors.physical.skies import clouded as behind_clouds
from iap_sensors.physical.sky_image import directions

MANY_PARTS = {"asphalt", "grass"}  # blades and stones, one by one
LOOKS = Path(__file__).with_name("looks.npz")
SIDE, BLOCKS = 96, 6  # pixels along a material's side, and blocks of them


def blocks_of(maps: np.ndarray) -> np.ndarray:
    """(2, BLOCKS, BLOCKS, 8) means and deviations of the maps of a material within blocks."""
    size = SIDE // BLOCKS
    parts = maps.astype(float).reshape(BLOCKS, size, BLOCKS, size, 8)
    return np.stack([parts.mean(axis=(1, 3)), parts.std(axis=(1, 3))]).astype(np.float32)


def luminances(elevation_deg: float, turbidity: float) -> np.ndarray:
    """(k, 3) of a clear sky all around, and illuminance of its sun."""
    sky = ClearSky(Sun(elevation_deg=elevation_deg, azimuth_deg=30.0).direction_W, turbidity)
    ways = directions(8, 6)[0][:4].reshape(-1, 3)
    return np.vstack([sky.luminance(ways), sky.sun_illuminance])


def clouds(cover: float) -> np.ndarray:
    """(k, 3) of an even sky behind clouds, and of its sun."""
    sky = np.full((32, 64, 3), [0.5, 1.0, 2.0])
    sun, clouded = behind_clouds(np.full(3, 90.0), sky, np.array([0.0, 0.6, 0.8]), cover)
    return np.vstack([clouded[::4, ::8].reshape(-1, 3), sun])


def lights(**keys: object) -> np.ndarray:
    """Numbers of the light of a world: its sun, fog, fog's density, what images are exposed for, and daylight."""
    light = Environment.of(World(**keys).surroundings())  # type: ignore[arg-type]
    return np.array(
        [*light.sun, *light.fog, light.fog_density, light.exposed_for, *light.daylight]
    )


SKIES = {
    "noon": lambda: luminances(60.0, 2.2),
    "evening": lambda: luminances(4.0, 4.0),
    "twilight": lambda: luminances(-4.0, 2.2),
    "broken": lambda: clouds(0.4),
    "overcast": lambda: clouds(1.0),
    "day": lambda: lights(time_of_day={"hour": 15.0}),
    "fog": lambda: lights(time_of_day={"hour": 9.0}, weather={"visibility": 200.0, "clouds": 0.5}),
    "night": lambda: lights(
        time_of_day={"hour": 0.0}, light={"lamps": {"a": {"position": [3, 4, 5], "flux": 5000.0}}}
    ),
}


@cache
def looks() -> dict[str, np.ndarray]:
    with np.load(LOOKS) as file:
        return dict(file)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(each, marks=[pytest.mark.slow] * (each in MANY_PARTS))
        for each in sorted(MATERIALS)
    ],
)
def test_a_material_looks_as_it_did(name: str) -> None:
    """Rounding to 8 bits may differ by a few pixels from one processor to another."""
    blocks = blocks_of(MATERIALS[name][0](SIDE, 7).maps())
    np.testing.assert_allclose(blocks, looks()[name], atol=0.02)


@pytest.mark.parametrize("name", SKIES)
def test_a_sky_looks_as_it_did(name: str) -> None:
    np.testing.assert_allclose(SKIES[name](), looks()[name], rtol=1e-5)


if __name__ == "__main__":
    made = {name: blocks_of(make(SIDE, 7).maps()) for name, (make, _) in MATERIALS.items()}
    np.savez_compressed(LOOKS, **made, **{name: make() for name, make in SKIES.items()})
