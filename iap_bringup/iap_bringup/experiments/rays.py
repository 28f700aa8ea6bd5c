# SPDX-License-Identifier: BSD-3-Clause
"""The study of ``iap experiment rays``: what ray sensors see in worlds whose obstacles are drawn, as one picture."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from iap_bringup.experiments.rows import Report, silent
from iap_bringup.terminal.console import make_console
from iap_bringup.terminal.progress import work_bar
from iap_description.arrays import Booleans

Pixels = NDArray[np.uint8]
WORLDS, NAME = 4, "rays"
FIELDS = {
    "trees": {"preset": "trees", "free": [[0.0, 0.0, 2.0]]},
    "panels": {"preset": "panels", "count": 8},
    "rods": {"preset": "rods"},
}
SETTINGS = {"world.objects": FIELDS, "draw.position": 0.5, "draw.attitude_deg": 10.0}
SIZE: dict[str, Any] = {"width": 320, "height": 200}
MAX_DEPTH = 12.0  # of the colours of depths [m]
RADIUS = 12.0  # of the part that is drawn from above [m]
MAX_HEIGHT = 6.0  # of its colours [m]
SCALE = np.array(  # dark blue, green, yellow
    [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], dtype=float
)
GAP, WHITE, SKY = 4, 255, 235  # [pixels], grey levels
LIGHTEST = 0.35  # share of white in the colours of labels


def draw_rays(console: Console) -> None:
    """A picture of worlds with drawn obstacles: depth, labels and normals of a depth camera, a lidar from above."""
    from iap_io.bags.png import png
    from iap_io.runs.run_folder import create_run_folder, write_file

    folder = create_run_folder(None, NAME)
    with work_bar(make_console(stderr=True)) as report:
        picture = sheet(report)
    write_file(folder / f"{NAME}.png", bytes(png(picture)))
    console.print(f"{folder / NAME}.png")


def sheet(report: Report = silent) -> Pixels:
    """The picture: a column for each world; depth, labels, normals, and the lidar's points from above."""
    from iap_simulation.batch.ray_sensor import WorldRaySensor
    from iap_simulation.batch.worlds import Worlds

    report("0 of 3: worlds")
    worlds = Worlds.of("hover", WORLDS, settings=SETTINGS)
    outputs = ["depth", "labels", "normals"]
    report("1 of 3: a depth camera")
    images = WorldRaySensor.of(worlds, "d455", outputs, **SIZE, range_max=MAX_DEPTH).images()
    report("2 of 3: a lidar")
    points = WorldRaySensor.of(worlds, "os0_128", ["points"]).images()["points"]
    rows = [
        [shaded(each, MAX_DEPTH) for each in images["depth"]],
        [by_label(each) for each in images["labels"]],
        [by_normal(each) for each in images["normals"]],
        [from_above(each.reshape(-1, 3)) for each in points],
    ]
    return np.vstack([_framed(np.hstack([_framed(tile) for tile in row])) for row in rows])


def shaded(values: NDArray[Any], top: float) -> Pixels:
    """Numbers (h, w) from 0 to `top` in colours; light grey where there is none."""
    there = np.isfinite(values)
    share = np.clip(np.nan_to_num(values) / top, 0.0, 1.0) * (len(SCALE) - 1)
    colors = [np.interp(share, range(len(SCALE)), SCALE[:, k]) for k in range(3)]
    return _on_sky(np.stack(colors, -1), there)


def by_label(labels: NDArray[Any]) -> Pixels:
    """Labels (h, w) in colours of their own, light grey below 0."""
    table = np.random.default_rng(0).uniform(0.0, 1.0, (int(labels.max(initial=0)) + 1, 3))
    colors = WHITE * (LIGHTEST + (1.0 - LIGHTEST) * table)[np.maximum(labels, 0)]
    return _on_sky(colors, labels >= 0)


def by_normal(normals: NDArray[Any]) -> Pixels:
    """Normals (h, w, 3) in `map`: from -1 to 1 along x, y, z as red, green, blue."""
    there = np.isfinite(normals[..., 0])
    return _on_sky(0.5 * WHITE * (1.0 + np.nan_to_num(normals)), there)


def from_above(points: NDArray[Any]) -> Pixels:
    """Points (n, 3) around a sensor from above, ahead on top, coloured by their height, the highest last."""
    side = SIZE["width"]
    points = points[np.isfinite(points[:, 0])]
    points = points[(np.abs(points[:, :2]) < RADIUS).all(axis=1)]
    points = points[np.argsort(points[:, 2])]
    row, column = ((0.5 - 0.5 * points[:, k] / RADIUS) * side for k in (0, 1))
    heights = np.full((side, side), np.nan)
    heights[row.astype(int), column.astype(int)] = points[:, 2] - points[:, 2].min(initial=0.0)
    return shaded(heights, MAX_HEIGHT)


def _on_sky(colors: NDArray[Any], there: Booleans) -> Pixels:
    return np.where(there[..., None], colors, SKY).astype(np.uint8)


def _framed(tile: Pixels) -> Pixels:
    around = ((GAP // 2, GAP // 2), (GAP // 2, GAP // 2), (0, 0))
    return np.pad(tile, around, constant_values=WHITE)
