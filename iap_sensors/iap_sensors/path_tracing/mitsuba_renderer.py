# SPDX-License-Identifier: BSD-3-Clause
"""The renderer that traces paths of light, offline: the physical renderer's scene, light, exposure and curve."""

import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.geometry.tessellation import MeshPart
from iap_description.math import so3
from iap_description.scenes.lighting import Lighting
from iap_description.scenes.scene import Scene
from iap_sensors.cameras.bands import ImageBand
from iap_sensors.cameras.geometry import Geometry, place
from iap_sensors.cameras.image_noise import Film
from iap_sensors.cameras.renderer import Frame, Shot
from iap_sensors.path_tracing.child_process import ChildProcess
from iap_sensors.path_tracing.developing import in_air, levels_of
from iap_sensors.path_tracing.messages import LampLevels, LightRequest, Poses
from iap_sensors.path_tracing.seen_surfaces import SeenSurfaces
from iap_sensors.path_tracing.traced_scene import Singles, traced_scene
from iap_sensors.physical.day_course import DayCourse
from iap_sensors.physical.environment import Environment
from iap_sensors.physical.lamp_colors import lamp_levels
from iap_sensors.physical.material_maps import MaterialMaps
from iap_sensors.physical.sky_image import LUMINANCE
from iap_sensors.physical.tone import BRIGHTEST, gain_of

LARGEST_SEED = 2**31
LUMINANCE32 = LUMINANCE.astype(np.float32)


class MitsubaRenderer:
    """Renders with Mitsuba 3 in a child process; an image depends on its state alone, whatever was rendered before.

    Raises:
        BadInput: Mitsuba is not installed.
    """

    def __init__(self) -> None:
        self._child = ChildProcess()
        self._course: DayCourse | None = None

    def load(self, scene: Scene, bodies: Sequence[Sequence[MeshPart]]) -> None:
        """Take what is to be drawn, see `Renderer`."""
        self._course = course = DayCourse(scene)
        _refuse_particles(course.environment)
        self._settings = (scene.lighting or Lighting()).path_tracing
        self._geometry = geometry = Geometry.of(scene, bodies)
        parts = [*scene.parts, *(part for body in bodies for part in body)]
        self._maps = MaterialMaps(parts, scene.surfaces)
        self._seen = SeenSurfaces(geometry)
        self._corners = geometry.corners.copy()
        self._child.ask(traced_scene(geometry, self._maps, course.environment))

    def render(self, shots: Sequence[Shot], poses: Array) -> list[Frame]:
        """One frame for each shot, see `Renderer`."""
        course = self._course
        if course is None:
            raise RuntimeError("nothing is loaded that could be rendered")
        geometry, first = self._geometry, self._geometry.static
        moving = self._corners[first:]
        poses = np.ascontiguousarray(poses, dtype=float)
        if len(moving):
            place(geometry.corners[first:], geometry.owners[first:], poses, moving)
        return [self._frame(shot, self._lit(course, shot.t)) for shot in shots]

    def close(self) -> None:
        """Give back what the renderer holds."""
        self._child.close()

    def _lit(self, course: DayCourse, t: float) -> Environment:
        """The light at a time of the flight [s]."""
        if course.advance(t):
            self._child.ask(traced_scene(self._geometry, self._maps, course.environment))
        return course.environment

    def _frame(self, shot: Shot, environment: Environment) -> Frame:
        film = Film(shot)
        if film.needs_range:
            depth, labels = self._seen.look(
                shot, film.view, (shot.p_WC_W, shot.q_WC), self._corners
            )
            there = (depth >= shot.spec.near) & (depth <= shot.spec.far)
            film.take("range", np.where(there[..., None], np.stack([depth, labels], -1), 0.0))
        self._expose(film, environment)
        frame = film.frame()
        if frame.light is None:
            return frame
        gain = gain_of(shot.spec, environment.exposed_for)
        return replace(frame, luminance=1000.0 / gain)

    def _expose(self, film: Film, environment: Environment) -> None:
        """Take all images that a film needs: of light one for each piece, of levels one of the mean light."""
        shot, first = film.shot, self._geometry.static
        if film.look is None:
            return
        if len(self._corners) > first:
            hidden = np.isin(self._geometry.owners[first:], shot.hidden)
            self._child.ask(Poses(first, self._corners[first:], hidden))
        spp = -(-self._settings.spp // shot.exposure.samples)
        gain = gain_of(shot.spec, environment.exposed_for)
        total = np.zeros((film.view.height, film.view.width, 3), np.float32)
        for piece in film.pieces:
            light = self._light(replace(shot, t=shot.t + piece.dt), piece, environment, spp)
            if film.is_light:
                level = np.minimum(light * np.float32(gain), BRIGHTEST)
                grey = film.look == "mono"
                film.take(film.look, level @ LUMINANCE32 if grey else level, piece)
            else:
                total += light / len(film.pieces)
        if not film.is_light:
            levels = levels_of(total, shot.spec, film.view, gain)
            image = np.floor(255.0 * levels + 0.5).astype(np.uint8)
            film.take_mean(image[..., 0] if film.look == "mono" else image)

    def _light(self, shot: Shot, piece: ImageBand, environment: Environment, spp: int) -> Singles:
        """Luminance (h, w, 3) that a pinhole sees."""
        if any(lamp.flicker is not None for lamp in environment.lamps):
            self._child.ask(LampLevels(lamp_levels(environment.lamps, shot)))
        view, (p_WC_W, q_WC) = piece.view, piece.place
        K = view.K
        asked = LightRequest(
            width=view.width,
            height=view.height,
            pinhole=(float(K[0, 0]), float(K[1, 1]), float(K[0, 2]), float(K[1, 2])),
            R_WC=so3.matrix_from_quaternion(q_WC),
            p_WC_W=np.asarray(p_WC_W, float),
            near=shot.spec.near,
            spp=spp,
            seed=zlib.crc32(np.concatenate([p_WC_W, q_WC, [shot.t]]).tobytes()) % LARGEST_SEED,
            white=environment.exposed_for / np.pi,
            denoised=self._settings.denoise,
        )
        light: Singles = self._child.ask(asked)
        depth, _ = self._seen.look(shot, view, piece.place, self._corners)
        return in_air(light, view, piece.place, depth, environment)


def _refuse_particles(environment: Environment) -> None:
    """Refuse weather whose drops and flakes are not traced.

    Raises:
        BadInput: it rains or snows.
    """
    weather = environment.weather
    for key in ("rain", "snowfall"):
        if getattr(weather, key) > 0.0:
            instead = "wetness" if key == "rain" else "snow_cover"
            raise BadInput(
                f"key 'world.weather.{key}': renderer 'mitsuba' draws nothing that falls; set it to 0, and"
                f" 'world.weather.{instead}' for surfaces"
            )
