# SPDX-License-Identifier: BSD-3-Clause
"""The light of a scene: sun, sky, fog and lamps as numbers, out of its lighting, its weather and the time of day."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.scenes.lighting import Lamp, Lighting, Weather
from iap_description.scenes.scene import Scene
from iap_sensors.physical.atmosphere import GROUND_ALBEDO
from iap_sensors.physical.skies import (
    clear_sky,
    clouded,
    dust_density,
    dust_reflectance,
    fog_density,
    in_fog,
    read_sky,
)
from iap_sensors.physical.sky_image import LUMINANCE, directions, illuminance

SOAKING = 4.0  # rain that wets everything [mm/h]
DARK = 1e-4  # least illuminance that a scene is rendered in without lamps [klx]
KEY_STRENGTH = 0.6  # of the darkness of dusk and night, 1 is as eyes see them
RING = 0.2  # of the sky above the horizon that a camera sees, of its height
DAYLIGHT = 60.0  # full [klx]
METER_REACH, METER_STEP = 40.0, 1.0  # of the plane around lamps where their light is measured [m]


@dataclass(frozen=True, eq=False)
class Environment:
    """Light of a scene.

    Attributes:
        sun_W: (3,) towards the sun.
        sun: (3,) its illuminance across its rays, at the ground [klx].
        sky: (h, w, 3) luminance of everything far away [kcd/m^2], see `sky_image`; fog is not in it.
        fog: (3,) luminance of thick fog and dust [kcd/m^2].
        fog_density: extinction by both at the ground [1/m], over `fog_height` [m] half as much.
        fog_height: [m].
        lamps: that shine.
        weather: of the scene.
        exposed_for: illuminance for which images are exposed [klx].
    """

    sun_W: Array
    sun: Array
    sky: Array
    fog: Array
    fog_density: float
    fog_height: float
    lamps: tuple[Lamp, ...]
    weather: Weather
    exposed_for: float

    @classmethod
    def of(cls, scene: Scene, *, may_be_dark: bool = False) -> Self:
        """The light of a scene.

        Raises:
            BadInput: there is no light and it may not be dark, or the sky's file is no image of luminance.
        """
        lighting, weather = scene.lighting or Lighting(), scene.weather or Weather()
        sun_W = _sun_of(scene, lighting)
        if lighting.sky is not None:
            sun, sky = np.zeros(3), read_sky(lighting.sky) * lighting.sky_scale
        else:
            sun, sky = clear_sky(tuple(sun_W.tolist()), weather.turbidity)
            sun, sky = clouded(sun, sky, sun_W, weather.clouds)
        sky = sky * lighting.sky_share
        drops, grains = fog_density(scene, weather), dust_density(weather)
        density = drops + grains
        lamps = tuple(lighting.lamps.values())
        sun, fog = in_fog(sun, sun_W, sky, density * weather.fog_height / np.log(2.0))
        fog = fog * (drops + grains * dust_reflectance()) / max(density, 1e-12) if grains else fog
        made = cls(sun_W, sun, sky, fog, density, weather.fog_height, lamps, weather, 0.0)
        level = made.daylight @ LUMINANCE
        if level < DARK and not lamps:
            if may_be_dark:
                return made
            raise BadInput(
                f"key 'world.light': scene '{scene.name}' has no light: the sun is"
                f" {-np.rad2deg(np.arcsin(sun_W[2])):.0f} deg below the horizon; give 'world.light.lamps',"
                " 'world.light.sun' or 'world.time_of_day'"
            )
        if lighting.exposed_for is not None:
            return replace(made, exposed_for=lighting.exposed_for / 1000.0)
        metered = float(np.sqrt(level * made._around)) + _lamplight(lamps)  # noqa: SLF001
        return replace(made, exposed_for=metered / _key(metered))

    @property
    def wetness(self) -> float:
        """Wetness of surfaces: as the weather says, or as rain makes them."""
        return max(self.weather.wetness, min(self.weather.rain / SOAKING, 1.0))

    @property
    def daylight(self) -> Array:
        """(3,) illuminance of sun and sky through the fog on a plane that faces upwards [klx]."""
        direct = self.sun * max(float(self.sun_W[2]), 0.0)
        return np.asarray(direct + illuminance(self.sky_in_fog))

    @property
    def _around(self) -> float:
        """Illuminance of ground that is as bright as what is seen around, sky above it and ground below [klx]."""
        half = self.sky.shape[0] // 2
        ring = self.sky_in_fog[int((1.0 - RING) * half) : half].mean(axis=(0, 1)) @ LUMINANCE
        ground = GROUND_ALBEDO * float(self.daylight @ LUMINANCE) / np.pi
        return 0.5 * (float(ring) + ground) * np.pi / GROUND_ALBEDO

    @property
    def sky_in_fog(self) -> Array:
        """The sky (h, w, 3) as it is seen from the ground through the fog."""
        z = directions(*self.sky.shape[:2])[0][..., 2]
        depth = self.fog_density * self.fog_height / np.log(2.0)
        clear = np.exp(-depth / np.maximum(z, 0.01))[..., None]
        return np.where(z[..., None] > 0.0, self.sky * clear + self.fog * (1.0 - clear), self.sky)


def _sun_of(scene: Scene, lighting: Lighting) -> Array:
    """(3,) towards the sun: as it is given, by the time of day, or in the scene's own direction."""
    if lighting.sun is not None:
        return lighting.sun.direction_W
    if scene.time_of_day is not None:
        return scene.time_of_day.direction_W
    towards = np.asarray(scene.light.direction_W, dtype=float)
    return np.asarray(towards / np.linalg.norm(towards))


def _key(metered: float) -> float:
    """Factor on exposure that leaves dusk and night darker than day; 1 in daylight.

    The key of Krawczyk, Myszkowski, Seidel ("Perceptual Effects in Real-time Tone Mapping", SCCG 2005), 1.03 - 2 / (2 +
    log10(L + 1)) for a luminance L [cd/m^2], over that of full daylight.
    """
    luminance = 1000.0 * GROUND_ALBEDO * np.array([metered, DAYLIGHT]) / np.pi
    key, brightest = 1.03 - 2.0 / (2.0 + np.log10(luminance + 1.0))
    return float(min(key / brightest, 1.0)) ** KEY_STRENGTH


def _lamplight(lamps: Sequence[Lamp]) -> float:
    """Illuminance of lamps where they shine [klx]: sum E^2 / sum E over the ground around them, without shadows."""
    if not lamps:
        return 0.0
    middle = np.mean([lamp.position[:2] for lamp in lamps], axis=0)
    steps = np.arange(-METER_REACH, METER_REACH, METER_STEP)
    x, y = np.meshgrid(middle[0] + steps, middle[1] + steps)
    points = np.stack([x, y, 0.0 * x], -1)
    total = np.zeros(x.shape)
    for lamp in lamps:
        total += _lamp_on_ground(lamp, points)
    return float((total**2).sum() / max(total.sum(), 1e-12)) / 1000.0


def _lamp_on_ground(lamp: Lamp, points: Array) -> Array:
    """Illuminance of a lamp at points (..., 3) of planes that face upwards [lx]."""
    to_lamp = np.asarray(lamp.position) - points
    square = np.einsum("...i,...i->...", to_lamp, to_lamp) + lamp.radius**2
    lit = np.maximum(to_lamp[..., 2], 0.0) * lamp.intensity / square**1.5
    if lamp.axis_W is None:
        return np.asarray(lit)
    cosine = -(to_lamp @ lamp.axis_W) / np.sqrt(square)
    return np.where(cosine > lamp.edge_cosine, lit, 0.0)
