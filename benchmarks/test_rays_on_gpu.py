# SPDX-License-Identifier: BSD-3-Clause
"""Speed of images by rays on a GPU, and their distance from Embree's: `./iap bench rays --device cuda`.

Images stay in the GPU's memory unless it is said that they are copied. Scenes and sizes are those of `test_rays`.
"""

import numpy as np
import pytest
from test_rays import BOXES, CASES, EXACT, ROOM, SIZE

from iap_simulation.batch.ray_sensor import WorldRaySensor
from iap_simulation.batch.worlds import Worlds

ROUNDS = 10
COMPARED = 64  # worlds
SCATTERED = {"world.objects": BOXES, "draw.position": 0.5}
TABLE = {  # rows and columns of aerial_gym TABLE II, and the images a second printed there, by the number of worlds
    (8, 8): {128: 2951, 256: 5770, 512: 10546, 1024: 21690, 2048: 37597},
    (64, 64): {128: 2669, 256: 5358, 512: 10097, 1024: 16501, 2048: 26023},
    (270, 480): {128: 1592, 256: 2057, 512: 2408, 1024: 2627, 2048: 2750},
    (480, 640): {128: 1205, 256: 1269, 512: 1350, 1024: 1185, 2048: 1205},
}


def finish():
    """Wait for the GPU."""
    from iap_sensors.rays.warp.library import wp  # an extra, which other benchmarks do without

    wp.synchronize()


def camera_of(case, worlds, cast_on):
    keys, outputs, _ = CASES[case]
    return WorldRaySensor.of(worlds, "d455", outputs, device=cast_on, **SIZE, **keys)


@pytest.mark.parametrize("count", [128, 512, 2048])
@pytest.mark.parametrize("case", CASES)
def test_rays_rates(benchmark, figure, device, case, count):
    """1 000 triangles of its own in each world."""
    camera = camera_of(case, Worlds.of("hover", count, settings=SCATTERED), device)

    def take():
        camera.images_on_device()
        finish()

    benchmark.pedantic(take, rounds=ROUNDS, warmup_rounds=2)
    rate = count / benchmark.stats.stats.min
    figure(f"{case}: {count} worlds", rate, "images 64x48 a second")


@pytest.mark.parametrize("case", CASES)
def test_rays_and_embree(benchmark, figure, device, case):
    """The same images by both; and twice on the GPU."""
    worlds = Worlds.of("hover", COMPARED, settings=SCATTERED)
    cameras = [camera_of(case, worlds, each) for each in ("cpu", device)]
    embree, first = (camera.images() for camera in cameras)
    second = benchmark.pedantic(cameras[1].images, rounds=1)
    for name, expected in embree.items():
        np.testing.assert_array_equal(first[name], second[name])
        same = np.isclose(first[name], expected, rtol=1e-4, atol=1.5e-3, equal_nan=True).mean()
        figure(f"{case}: {name} as Embree's", 100.0 * same, "% of pixels", 3)
        assert same > 0.998, name


@pytest.mark.parametrize(
    ("rows", "columns", "count"), [(*size, count) for size, row in TABLE.items() for count in row]
)
def test_rays_in_a_room_under_control(benchmark, figure, device, rows, columns, count):
    """Sizes and room of aerial_gym TABLE II: depth and labels of each world after a control period."""
    worlds = Worlds.of("hover", count, settings={"world.objects": ROOM}, device=device)
    size = {"width": columns, "height": rows, "range_max": 20.0}
    outputs = ["depth", "segmentation"]
    camera = WorldRaySensor.of(worlds, "d455", outputs, device=device, **size, **EXACT)

    def step():
        worlds.advance()
        camera.images_on_device()
        finish()

    benchmark.pedantic(step, rounds=ROUNDS, warmup_rounds=2)
    rate, best = count / benchmark.stats.stats.min, TABLE[rows, columns][count]
    figure(f"{rows}x{columns}, {count} worlds", rate, "images/s", bar=best)
