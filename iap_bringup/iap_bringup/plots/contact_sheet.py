# SPDX-License-Identifier: BSD-3-Clause
"""A contact sheet: what all cameras of a run saw at one instant, a column for each body."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iap_bringup.plots.recorded_run import MAX_TICKS
from iap_description.errors import BadInput
from iap_description.sensors.readings import ImageReading
from iap_description.sensors.sensor_info import ENCODINGS, CameraSensorInfo
from iap_io.plots.plot_style import write_plot
from iap_io.runs.run_folder import load_run
from iap_io.runs.topics import BAG
from iap_io.sensor_messages.sensor_reader import read_sensors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHEET = "cameras.png"  # in the run's folder of plots
WIDTH = 2.4  # of an image [in]
TITLE = 0.22  # height of a title [in]
EDGE = 0.06  # between images [in]
LABELS = 20  # colours for labels

Column = list[tuple[str, ImageReading]]  # titles and images


def write_contact_sheet(run: Path, out: Path | None = None, t: float | None = None) -> Path:
    """Draw the images of a recorded run at one instant.

    Args:
        run: the run folder.
        out: the PNG; None is `SHEET` in the run's folder ``plots``.
        t: simulation time from which the next images are taken [s]; None is the middle of the run.

    Returns:
        The file.

    Raises:
        BadInput: not a run folder, it has no cameras, or there are no images after `t`.
        RecordingFailed: the disk is full or cannot be written.
    """
    data = load_run(run, at_most=MAX_TICKS)
    cameras = [each for each in data.meta.sensors if isinstance(each, CameraSensorInfo)]
    if not cameras:
        raise BadInput(f"{run}: no camera was recorded")
    times = data.vehicles[0].columns.t
    t = float(times[len(times) // 2]) if t is None else t
    images = _images(run, cameras, t)
    shown = min(image.t for image in images.values())
    title = f"{data.meta.scenario.replace('_', ' ')}, t = {shown:.2f} s"
    draw = partial(_draw, title=title, columns=_columns(cameras, images))
    return write_plot(out or run / "plots" / SHEET, draw)


def _images(
    run: Path, cameras: Sequence[CameraSensorInfo], t: float
) -> dict[tuple[str, str], ImageReading]:
    """The next image from `t` on [s] by camera and encoding."""
    count = sum(len(camera.outputs) for camera in cameras)
    start = round(t * 1e9)
    stop = start + round(1e9 * max(1.0 / camera.rate for camera in cameras)) + 1
    images: dict[tuple[str, str], ImageReading] = {}
    for reading in read_sensors(run / BAG, cameras, start=start, stop=stop):
        if isinstance(reading, ImageReading):
            images.setdefault((reading.source.topic, reading.encoding), reading)
        if len(images) == count:
            break
    if not images:
        raise BadInput(f"{run}: no images from t = {t:.3f} s on")
    return images


def _columns(
    cameras: Sequence[CameraSensorInfo], images: dict[tuple[str, str], ImageReading]
) -> list[Column]:
    """The images of each body; those of a single one stand side by side."""
    columns: dict[str, Column] = {}
    for camera in cameras:
        name = camera.topic.strip("/").replace("/", " ").replace("_", " ")
        for output in camera.outputs:
            image = images.get((camera.topic, ENCODINGS[output]))
            if image is not None:
                title = name if output in ("mono8", "rgb8") else f"{name}, {output}"
                columns.setdefault(camera.parent, []).append((title, image))
    stacks = list(columns.values())
    return stacks if len(stacks) > 1 else [[each] for each in stacks[0]]


def _draw(figure: Figure, *, title: str, columns: Sequence[Column]) -> None:
    shape = columns[0][0][1].pixels.shape
    high = WIDTH * shape[0] / shape[1]
    rows = max(map(len, columns))
    size = (len(columns) * (WIDTH + EDGE) + EDGE, rows * (high + TITLE) + TITLE + EDGE)
    figure.set_size_inches(size)
    figure.text(0.5, 1.0 - 0.5 * TITLE / size[1], title, ha="center", va="center")
    for i, column in enumerate(columns):
        for j, (name, image) in enumerate(column):
            left, bottom = EDGE + i * (WIDTH + EDGE), size[1] - TITLE - (j + 1) * (high + TITLE)
            rectangle = (left / size[0], bottom / size[1], WIDTH / size[0], high / size[1])
            _show(figure.add_axes(rectangle), name, image)


def _show(axes: Axes, name: str, image: ImageReading) -> None:
    pixels: Any = image.pixels
    style: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 255}
    if image.encoding == "32FC1":
        pixels = np.where(np.isfinite(pixels), pixels, np.nan)
        near, far = np.nanpercentile(pixels, (1, 95)) if np.isfinite(pixels).any() else (0.0, 1.0)
        name, style = f"{name}, {near:.1f} to {far:.1f} m", {"cmap": "turbo_r", "vmin": near}
        style["vmax"] = far
    elif image.encoding == "16UC1":
        pixels = np.where(pixels == 0, np.nan, pixels % LABELS)
        style = {"cmap": "tab20", "vmin": -0.5, "vmax": LABELS - 0.5, "interpolation": "nearest"}
    axes.imshow(pixels, **style)
    axes.set_title(name, fontsize=7, pad=2.5)
    axes.set_axis_off()
