# SPDX-License-Identifier: BSD-3-Clause
"""Light and weather of a world as data, for renderers that draw with physical light.

Illuminance is in lux and flux in lumen. Directions are in `map`: x east, y north, z up.
"""

from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from iap_description.arrays import Array
from iap_description.config.record import Record
from iap_description.config.values import (
    Degrees,
    Flag,
    Hertz,
    Length,
    Magnitude,
    Position,
    Share,
    Vec3,
)

Degrees90 = Annotated[float, Field(strict=True, ge=-90.0, le=90.0)]
LampName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
MAX_LAMPS = 8  # that a picture is lit by
OBLIQUITY_DEG = 23.45  # of the Earth's axis
EQUINOX_DAY = 81.0  # of a year, in spring
DAYS = 365.0


class Sun(Record):
    """The sun's place in the sky."""

    elevation_deg: Degrees90  # above the horizon; below it is twilight, then night
    azimuth_deg: Degrees  # from x towards y

    @property
    def direction_W(self) -> Array:
        """(3,) towards the sun, of unit length."""
        h, a = np.deg2rad([self.elevation_deg, self.azimuth_deg])
        return np.array([np.cos(h) * np.cos(a), np.cos(h) * np.sin(a), np.sin(h)])


# Over which air changes what is seen [m].
AirLength = Annotated[float, Field(strict=True, ge=0.1, le=1e6)]


class TimeOfDay(Record):
    """The sun's place by solar time, latitude and day of the year.

    The declination is d = 23.45 deg sin(2 pi (day - 81) / 365) (Cooper, Solar Energy 12, 1969). With the hour angle
    h = 15 deg (hour - 12) and the latitude l the sun is at
    (-cos d sin h, sin d cos l - cos d cos h sin l, sin d sin l + cos d cos h cos l).
    """

    hour: Annotated[
        float, Field(strict=True, ge=0.0, lt=24.0)
    ]  # solar time at the start: the sun is highest at 12
    latitude_deg: Degrees90 = 48.0
    day: Annotated[float, Field(strict=True, ge=1.0, le=366.0)] = 172.0  # of the year
    rate: Annotated[float, Field(strict=True, ge=0.0, le=3600.0)] = (
        0.0  # of solar time over the flight's
    )

    def after(self, seconds: float) -> "TimeOfDay":
        """The same day when an amount of solar time has passed [s]."""
        return self.model_copy(update={"hour": (self.hour + seconds / 3600.0) % 24.0})

    @property
    def direction_W(self) -> Array:
        """(3,) towards the sun, of unit length."""
        d = np.deg2rad(OBLIQUITY_DEG) * np.sin(2.0 * np.pi * (self.day - EQUINOX_DAY) / DAYS)
        h, l = np.deg2rad([15.0 * (self.hour - 12.0), self.latitude_deg])  # noqa: E741
        east = -np.cos(d) * np.sin(h)
        north = np.sin(d) * np.cos(l) - np.cos(d) * np.cos(h) * np.sin(l)
        return np.array([east, north, np.sin(d) * np.sin(l) + np.cos(d) * np.cos(h) * np.cos(l)])


class LampFlicker(Record):
    r"""Light of a lamp that ripples or blinks.

    It ripples as :math:`1 + m \cos(2 \pi f t + \varphi)`, with percent flicker m (IEEE 1789-2015). With `on_share` it
    blinks: it has the lamp's flux for that share of a period, from where the phase is 0, and 1 - m of it for the rest.
    """

    frequency: Hertz  # [Hz]; a lamp on mains ripples at twice the mains' frequency
    modulation: Share = 1.0
    phase_deg: Degrees = 0.0
    on_share: Annotated[float, Field(strict=True, gt=0.0, lt=1.0)] | None = None

    def mean_level(self, t: float, duration: float) -> float:
        r"""Mean share of the lamp's flux over a duration [s], around a time [s]; of an instant where that is 0.

        Of a ripple it is :math:`1 + m \, \mathrm{sinc}(f T) \cos(2 \pi f t + \varphi)`.
        """
        turns, width = self.frequency * t + self.phase_deg / 360.0, self.frequency * duration
        if self.on_share is None:
            ripple = np.sinc(width) * np.cos(2.0 * np.pi * turns)
            return float(1.0 + self.modulation * ripple)
        if width == 0.0:
            return 1.0 if turns % 1.0 < self.on_share else 1.0 - self.modulation
        first, last = (self._on_until(turns + side * width) for side in (-0.5, 0.5))
        return 1.0 - self.modulation * (1.0 - (last - first) / width)

    def _on_until(self, turns: float) -> float:
        """Periods for which a lamp that blinks has been on after a number of periods."""
        if self.on_share is None:
            return turns
        whole = np.floor(turns)
        return float(whole * self.on_share + min(turns - whole, self.on_share))


class Lamp(Record):
    """A lamp that shines to all sides, or into a cone where it has a direction; it casts shadows."""

    position: Position  # in `map` [m]
    flux: Annotated[float, Field(strict=True, ge=1e-9, le=1e12)]  # [lm]; a street lamp has 5000
    temperature: Annotated[float, Field(strict=True, ge=1000.0, le=20000.0)] = 3000.0  # [K]
    direction: Vec3 | None = None  # of the cone's axis
    cone_deg: Annotated[float, Field(strict=True, ge=5.0, le=150.0)] = 120.0  # from side to side
    radius: Length = 0.08  # of its bright body [m]
    flicker: LampFlicker | None = None

    @model_validator(mode="after")
    def _has_an_axis(self) -> Self:
        if self.direction is not None and not np.any(self.direction):
            raise ValueError("key 'direction': a direction has a length")
        return self

    @property
    def axis_W(self) -> Array | None:
        """(3,) the cone's axis, of unit length; None of a lamp that shines to all sides."""
        if self.direction is None:
            return None
        return np.asarray(self.direction) / np.linalg.norm(self.direction)

    @property
    def edge_cosine(self) -> float:
        """Cosine of the angle between the cone's axis and its edge."""
        return float(np.cos(0.5 * np.deg2rad(self.cone_deg)))

    @property
    def intensity(self) -> float:
        """Luminous intensity [cd]: the flux over its solid angle, 4 pi or 2 pi (1 - cos(cone / 2))."""
        if self.direction is None:
            return self.flux / (4.0 * np.pi)
        return self.flux / (2.0 * np.pi * (1.0 - self.edge_cosine))


class PathTracing(Record):
    """Settings of renderers that trace paths of light."""

    spp: Annotated[int, Field(strict=True, ge=1, le=65536)] = 16  # paths through each pixel
    denoise: Flag = True  # noise that is left is taken out


class Lighting(Record):
    """Sources of light in a scene."""

    sun: Sun | None = None  # None: as `time_of_day` says, or else as in the scene's own light
    lamps: Annotated[dict[LampName, Lamp], Field(max_length=MAX_LAMPS)] = {}
    sky: str | None = (
        None  # file of an equirectangular image of radiance in place of the sky and the sun
    )
    sky_scale: Magnitude = 1.0  # luminance of a pixel of 1 in that file [kcd/m^2]
    sky_share: Share = 1.0  # of the sky's light that is left; 0 leaves the sun and lamps alone
    exposed_for: Magnitude | None = (
        None  # illuminance for which images are exposed [lx]; None: of the scene
    )
    path_tracing: PathTracing = PathTracing()


class Weather(Record):
    """State of the air and of surfaces."""

    turbidity: Annotated[float, Field(strict=True, ge=1.2, le=10.0)] = 2.2  # 2 clear, 6 hazy
    clouds: Share = 0.0  # of the sky; 1 is overcast
    visibility: AirLength | None = (
        None  # in fog at the ground [m]; None: as in the scene's own fog
    )
    fog_height: AirLength = 30.0  # over which fog becomes half as dense [m]
    wetness: Share = 0.0  # of surfaces
    dust: Annotated[float, Field(strict=True, ge=0.0, le=1e5)] = (
        0.0  # in the air at the ground [mg/m^3]
    )
    snow_cover: Share = 0.0  # of surfaces that face upwards
    rain: Annotated[float, Field(strict=True, ge=0.0, le=150.0)] = (
        0.0  # [mm/h]; wets surfaces, too
    )
    snowfall: Annotated[float, Field(strict=True, ge=0.0, le=20.0)] = 0.0  # [mm/h of water]
