# SPDX-License-Identifier: BSD-3-Clause
"""A recorded flight as moving pictures: vehicles, paths, arrows of thrust and contact, the time, and a plot."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from iap_bringup.films.film_camera import fixed_views, following_views
from iap_bringup.films.film_picture import FilmPicture, FilmPlot, Picture
from iap_bringup.films.film_stage import FilmStage, Size
from iap_bringup.plots.flight_curves import GAP
from iap_bringup.viewing.layers import Steps
from iap_bringup.viewing.scene import FlightScene
from iap_bringup.viewing.source import RunSource
from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_P, P, Q
from iap_description.vehicles.mounted_arm import MountedArm
from iap_description.world.scene_objects import standing
from iap_simulation.runs.video_file import VideoFile

LONGEST_STEP = 0.05  # between points of a path that is drawn [s]
FLOWN, REFERENCE, TIP = (27, 98, 165), (70, 70, 70), (224, 120, 11)
OTHERWISE = "ground", "references"  # layers that films draw as a scene and as dashed paths
LEFT_OUT = "ports", "covariances"
TEXT, TEXT_SHARE = (25, 25, 25), 0.026  # colour and size over the picture's width
TEXT_BACK = (255, 255, 255, 165)


@dataclass(frozen=True)
class FilmSettings:
    """Settings of a film of a flight.

    Attributes:
        rate: pictures a second.
        size: of the pictures without the plot.
        follows: whether the camera goes along.
        begin: time of the first picture [s]; None: the flight's first.
        end: likewise of the last.
        speed: seconds of the flight in a second.
        plot: name of the plot below; None without one.
    """

    rate: float = 25.0
    size: Size = (960, 540)
    follows: bool = True
    begin: float | None = None
    end: float | None = None
    speed: float = 1.0
    plot: str | None = None


def film_times(settings: FilmSettings, span: tuple[float, float], control_hz: float) -> Array:
    """Times of the pictures [s].

    Raises:
        BadInput: no such rate or speed, or no picture between the ends.
    """
    if not 0.0 < settings.rate <= control_hz:
        raise BadInput(f"--rate {settings.rate:g}: above 0 and at most {control_hz:g}")
    if not 0.0 < settings.speed <= 1000.0:
        raise BadInput(f"--speed {settings.speed:g}: above 0 and at most 1000")
    begin = span[0] if settings.begin is None else settings.begin
    end = span[1] if settings.end is None else settings.end
    if not span[0] <= begin < end <= span[1] + 1e-9:
        raise BadInput(
            f"--from {begin:g} --to {end:g}: the flight lasts from {span[0]:.1f} to {span[1]:.1f} s"
        )
    return np.arange(begin, end, settings.speed / settings.rate)


def write_film(
    source: RunSource,
    out: Path,
    settings: FilmSettings,
    progress: Callable[[float], None],
) -> int:
    """Film a recorded flight; returns the number of pictures.

    Args:
        source: the run.
        out: the file, in the format of its suffix.
        settings: how it is filmed.
        progress: called with the simulation time [s].

    Raises:
        BadInput: bad settings, another suffix, the file cannot be written, or this machine cannot
            draw.
    """
    scenario = source.run.scenario
    times = film_times(settings, source.span, scenario.rates.control_hz)
    width, height = settings.size
    plot = None if settings.plot is None else FilmPlot(source.run, settings.plot, width)
    tall = height + (0 if plot is None else plot.height)
    with (
        VideoFile(out, settings.rate, (width, tall)) as video,
        closing(_Film(source, settings, times)) as film,
    ):
        for k, t in enumerate(times.tolist()):
            picture = film.picture(k)
            video.write(picture if plot is None else np.vstack([picture, plot.at(t)]))
            progress(t)
        return video.count


def film_pictures(source: RunSource, times: Sequence[float], size: Size) -> list[Picture]:
    """Pictures (h, w, 3) of a recorded flight at some times [s], from one place that sees all vehicles.

    Raises:
        BadInput: this machine cannot draw.
    """
    with closing(_Film(source, FilmSettings(size=size, follows=False), np.array(times))) as film:
        return [film.picture(k) for k in range(len(times))]


class _Film:
    """The pictures of a flight at some times."""

    def __init__(self, source: RunSource, settings: FilmSettings, times: Array) -> None:
        self._source, self._times, self._settings = source, times, settings
        self._scene = FlightScene(source.rig, source.meta, couplings=source.couplings)
        for name in (*OTHERWISE, *LEFT_OUT):
            del self._scene.layers[name]
        self._paths = _Paths(source)
        arms = [each.assembly.arm for each in source.rig.vehicles]
        bodies = np.array([_positions(arms, source.steps(t)) for t in times.tolist()])
        objects = standing(source.rig.world, float(times[0]))
        rate = settings.rate / settings.speed
        self._views = (
            following_views(bodies, rate, settings.size, objects)
            if settings.follows
            else fixed_views(bodies, settings.size, objects)
        )
        self._stage = FilmStage(source.rig.renderer, source.rig.world, settings.size)
        self._scene.add(self._stage)
        platforms = dict.fromkeys(each.platform for each in source.meta.vehicles)
        self._captions = _Captions(GAP.join([source.meta.scenario, *platforms]), settings)

    def picture(self, k: int) -> Picture:
        """Picture number k."""
        t = float(self._times[k])
        self._source.show(self._scene, self._stage, t)
        picture = self._stage.picture(self._views[k], t)
        self._paths.draw(picture, t)
        self._stage.draw_marks(picture)
        return self._captions.on(picture.pixels, t)

    def close(self) -> None:
        """Give back what the renderer holds."""
        self._stage.close()


def _positions(arms: Sequence[MountedArm | None], steps: Steps) -> Array:
    """(n, 3) places of all bodies and of the tips of arms [m]."""
    points = [step.x[:, P] for step in steps]
    for arm, step in zip(arms, steps, strict=True):
        if arm is not None and step.arm is not None:
            row = step.x[0]
            points.append((row[P] + so3.rotate(row[Q], arm.tip_P(step.arm.q)))[None])
    return np.concatenate(points)


class _Paths:
    """Ways of central bodies and of tips of arms, and their references."""

    def __init__(self, source: RunSource) -> None:
        self._ways: list[tuple[Array, Array, tuple[int, int, int]]] = []
        self._references: list[Array] = []
        vehicles = zip(source.rig.vehicles, source.run.finite_data.vehicles, strict=True)
        for vehicle, recorded in vehicles:
            columns = recorded.columns
            n = max(1, int(LONGEST_STEP / max(float(np.median(np.diff(columns.t))), 1e-6)))
            t, x = columns.t[::n], columns.x[::n, 0]
            self._ways.append((t, x[:, P], FLOWN))
            self._references.append(columns.reference[::n, REF_P])
            arm = vehicle.assembly.arm
            if arm is not None and columns.arm is not None:
                tips_P = np.array([arm.tip_P(q) for q in columns.arm.q[::n]]).reshape(-1, 3)
                self._ways.append((t, x[:, P] + so3.rotate(x[:, Q], tips_P), TIP))

    def draw(self, picture: FilmPicture, t: float) -> None:
        """Draw the references as a whole, and the ways up to a time [s]."""
        for points in self._references:
            picture.draw_path(points, REFERENCE, 1, dashed=True)
        for times, points, color in self._ways:
            picture.draw_path(points[: np.searchsorted(times, t, side="right")], color, 2)


class _Captions:
    """The title at the top and the time at the bottom, at the left."""

    def __init__(self, title: str, settings: FilmSettings) -> None:
        import matplotlib as mpl

        self._title, self._speed = title, settings.speed
        font = Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
        self._size = max(11, round(TEXT_SHARE * settings.size[0] * 0.75))
        self._font = ImageFont.truetype(str(font), self._size)

    def on(self, pixels: Picture, t: float) -> Picture:
        """The picture (h, w, 3) with both."""
        image = Image.fromarray(pixels)
        pen = ImageDraw.Draw(image, "RGBA")
        pad = self._size // 2
        clock = f"{t:.2f} s" + (
            "" if self._speed == 1.0 else f"   {self._speed:g}\N{MULTIPLICATION SIGN}"
        )
        for text, y in ((self._title, pad), (clock, image.height - pad - self._size)):
            box = pen.textbbox((pad, y), text, font=self._font)
            edges = (box[0] - pad // 2, box[1] - pad // 2, box[2] + pad // 2, box[3] + pad // 2)
            pen.rectangle(edges, fill=TEXT_BACK)
            pen.text((pad, y), text, font=self._font, fill=TEXT)
        return np.array(image)
