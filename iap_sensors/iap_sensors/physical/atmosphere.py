# SPDX-License-Identifier: BSD-3-Clause
"""The clear sky and the sun through the air, in several orders of scattering.

Follows Hillaire, "A Scalable and Production Ready Sky and Atmosphere Rendering Technique", Computer Graphics
Forum 39(4), 2020: single scattering along each view ray, plus an isotropic term that sums all higher orders in
closed form (its equations 5 to 11). Rayleigh's and ozone's coefficients are the paper's. Aerosols follow from the
turbidity T = (tau_aerosol + tau_rayleigh) / tau_rayleigh of vertical optical depths (Preetham, Shirley, Smits,
SIGGRAPH 1999, section 3.1). Luminance is in kcd/m^2 and illuminance in klx, for three bands that the unattenuated
sun fills evenly.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from iap_description.arrays import Array

EARTH_RADIUS, AIR_RADIUS = 6360e3, 6460e3  # [m]
RAYLEIGH = np.array([5.802e-6, 13.558e-6, 33.1e-6])  # scattering at the ground [1/m]
OZONE = np.array([0.650e-6, 1.881e-6, 0.085e-6])  # absorption at its densest [1/m]
RAYLEIGH_HEIGHT, AEROSOL_HEIGHT = 8000.0, 1200.0  # over which density falls to 1/e [m]
OZONE_MIDDLE, OZONE_HALF = 25e3, 15e3  # of the layer [m]
AEROSOL_ALBEDO = 0.9  # share of its extinction that is scattered
ASYMMETRY = 0.8  # of the aerosol's phase function
GROUND_ALBEDO = 0.2
SOLAR_ILLUMINANCE = 128.0  # above the air, on a plane across the rays [klx]
EYE_HEIGHT = 2.0  # above the ground [m]
SUN_STEPS, VIEW_STEPS, ORDER_STEPS = 20, 32, 12  # along rays
TABLE = (12, 32)  # heights and sun angles of the table of higher orders
DIRECTIONS = 32  # over the sphere, for them


@dataclass(frozen=True, eq=False)
class ClearSky:
    """A sky without clouds and fog.

    Args:
        sun_W: (3,) towards the sun, of unit length.
        turbidity: of the air.
    """

    sun_W: Array
    turbidity: float

    @property
    def sun_illuminance(self) -> Array:
        """(3,) of the sun on a plane across its rays at the ground [klx]; zero below the horizon."""
        return SOLAR_ILLUMINANCE * self._sunlight(np.array([EYE_HEIGHT]), self.sun_W[2:])[0]

    def luminance(self, directions: Array) -> Array:
        """(n, 3) luminance of the sky without the sun's disc towards unit vectors (n, 3) [kcd/m^2]."""
        d = np.asarray(directions, dtype=float)
        r0 = EARTH_RADIUS + EYE_HEIGHT
        length = _distance(r0, d[:, 2], AIR_RADIUS)
        cosine = d @ self.sun_W
        phase_r = 3.0 / (16.0 * np.pi) * (1.0 + cosine**2)
        phase_m = _aerosol_phase(cosine)
        depth, total = np.zeros((len(d), 3)), np.zeros((len(d), 3))
        edges = (
            np.linspace(0.0, 1.0, VIEW_STEPS + 1) ** 2
        )  # finer near the eye, where air is dense
        for begin, end in zip(edges, edges[1:], strict=False):
            step = (end - begin) * length
            h, sun = _along(r0, d, 0.5 * (begin + end) * length, self.sun_W)
            scatter_r, scatter_m, extinction = self._medium(h)
            source = (
                scatter_r * phase_r[:, None] + scatter_m * phase_m[:, None]
            ) * self._sunlight(h, sun)
            source += (scatter_r + scatter_m) * self._higher_orders(h, sun)
            thin = np.exp(-extinction * step[:, None])
            total += np.exp(-depth) * source * (1.0 - thin) / extinction
            depth += extinction * step[:, None]
        return SOLAR_ILLUMINANCE * total

    def _medium(self, h: Array) -> tuple[Array, Array, Array]:
        """Scattering by air, by aerosol, and extinction (n, 3) at heights (n,) [1/m]."""
        aerosol = (self.turbidity - 1.0) * RAYLEIGH[1] * RAYLEIGH_HEIGHT / AEROSOL_HEIGHT
        scatter_r = RAYLEIGH * np.exp(-h / RAYLEIGH_HEIGHT)[:, None]
        ext_m = aerosol * np.exp(-h / AEROSOL_HEIGHT)[:, None] * np.ones(3)
        ozone = OZONE * np.maximum(1.0 - np.abs(h - OZONE_MIDDLE) / OZONE_HALF, 0.0)[:, None]
        return scatter_r, AEROSOL_ALBEDO * ext_m, scatter_r + ext_m + ozone

    def _sunlight(self, h: Array, sun: Array) -> Array:
        """Share (n, 3) of the sun's light at heights (n,) where it stands at sines of elevation (n,)."""
        r = EARTH_RADIUS + h
        to_ground = (r * sun) ** 2 - (r**2 - EARTH_RADIUS**2)
        is_lit = (sun > 0.0) | (to_ground < 0.0)
        length = _distance(r, sun, AIR_RADIUS)
        depth = np.zeros((len(h), 3))
        edges = np.linspace(0.0, 1.0, SUN_STEPS + 1) ** 2
        for begin, end in zip(edges, edges[1:], strict=False):
            t = 0.5 * (begin + end) * length
            height = np.sqrt(r**2 + t**2 + 2.0 * r * t * sun) - EARTH_RADIUS
            depth += self._medium(np.maximum(height, 0.0))[2] * ((end - begin) * length)[:, None]
        return np.where(is_lit[:, None], np.exp(-depth), 0.0)

    def _higher_orders(self, h: Array, sun: Array) -> Array:
        """(n, 3) isotropic light of the second and all higher orders, per unit of the sun's [1/sr]."""
        table = _orders(self.turbidity)
        rows, columns = TABLE
        u = np.clip(np.sqrt(h / (AIR_RADIUS - EARTH_RADIUS)) * (rows - 1), 0.0, rows - 1.001)
        v = np.clip((0.5 + 0.5 * sun) * (columns - 1), 0.0, columns - 1.001)
        i, j = u.astype(int), v.astype(int)
        a, b = (u - i)[:, None], (v - j)[:, None]
        lower = table[i, j] * (1.0 - b) + table[i, j + 1] * b
        upper = table[i + 1, j] * (1.0 - b) + table[i + 1, j + 1] * b
        return np.asarray(lower * (1.0 - a) + upper * a)


@lru_cache(maxsize=4)
def _orders(turbidity: float) -> Array:
    """(heights, sun angles, 3) table of `ClearSky._higher_orders`: L_2 / (1 - f_ms) of the paper."""
    rows, columns = TABLE
    heights = np.linspace(0.0, 1.0, rows) ** 2 * (AIR_RADIUS - EARTH_RADIUS) + 1.0
    heights[-1] -= 10.0
    sines = np.linspace(-1.0, 1.0, columns)
    suns = np.stack([np.sqrt(1.0 - sines**2), 0.0 * sines, sines], -1)
    k = np.arange(DIRECTIONS) + 0.5
    z, turn = 1.0 - 2.0 * k / DIRECTIONS, np.pi * (1.0 + 5.0**0.5) * k  # a spiral over the sphere
    ways = np.stack([np.sqrt(1 - z**2) * np.cos(turn), np.sqrt(1 - z**2) * np.sin(turn), z], -1)
    table = np.zeros((rows, columns, 3))
    for j, sun_W in enumerate(suns):
        sky = ClearSky(sun_W, turbidity)
        r = np.repeat(EARTH_RADIUS + heights, DIRECTIONS)
        d = np.tile(ways, (rows, 1))
        second, again = _second_order(sky, r, d)
        second, again = (
            each.reshape(rows, DIRECTIONS, 3).mean(axis=1) for each in (second, again)
        )
        table[:, j] = second / (1.0 - again)
    return table


def _second_order(sky: ClearSky, r: Array, d: Array) -> tuple[Array, Array]:
    """Light of one isotropic scattering that arrives at radii (n,) from directions (n, 3).

    Returns:
        (n, 3) of the sun's light, and (n, 3) of light that is 1 everywhere.
    """
    ground = (r * d[:, 2]) ** 2 - (r**2 - EARTH_RADIUS**2)
    hits = (d[:, 2] < 0.0) & (ground > 0.0)
    to_ground = -r * d[:, 2] - np.sqrt(np.maximum(ground, 0.0))
    length = np.where(hits, to_ground, _distance(r, d[:, 2], AIR_RADIUS))
    depth, light, share = np.zeros((len(r), 3)), np.zeros((len(r), 3)), np.zeros((len(r), 3))
    for k in range(ORDER_STEPS):
        step = length / ORDER_STEPS
        h, sun = _along(r, d, (k + 0.5) * step, sky.sun_W)
        scatter_r, scatter_m, extinction = sky._medium(h)  # noqa: SLF001 - of this module
        thin = (1.0 - np.exp(-extinction * step[:, None])) / extinction
        scattered = (scatter_r + scatter_m) * thin * np.exp(-depth)
        light += scattered * sky._sunlight(h, sun) / (4.0 * np.pi)  # noqa: SLF001
        share += scattered
        depth += extinction * step[:, None]
    h, sun = _along(r, d, length, sky.sun_W)
    lit = sky._sunlight(np.maximum(h, 0.0) + 1.0, sun) * np.maximum(sun, 0.0)[:, None]  # noqa: SLF001
    light += np.where(hits[:, None], np.exp(-depth) * lit * GROUND_ALBEDO / np.pi, 0.0)
    return light, share


def _along(r: float | Array, d: Array, t: Array, sun_W: Array) -> tuple[Array, Array]:
    """Height (n,) [m] after a way (n,) along directions (n, 3), and the sine of the sun's elevation there."""
    x = t[:, None] * d
    x[:, 2] += r
    radius = np.linalg.norm(x, axis=1)
    return np.maximum(radius - EARTH_RADIUS, 0.0), (x @ sun_W) / radius


def _distance(r: float | Array, cosine: Array, outer: float) -> Array:
    """(n,) way from radius r to a sphere around [m], at a cosine (n,) from the vertical."""
    return np.asarray(-r * cosine + np.sqrt(np.maximum((r * cosine) ** 2 - r**2 + outer**2, 0.0)))


def _aerosol_phase(cosine: Array) -> Array:
    """Cornette and Shanks' phase function (Applied Optics 31, 1992), which integrates to 1 over the sphere [1/sr]."""
    g = ASYMMETRY
    shape = (1.0 - g * g) * (1.0 + cosine**2) / (2.0 + g * g)
    return np.asarray(3.0 / (8.0 * np.pi) * shape / (1.0 + g * g - 2.0 * g * cosine) ** 1.5)
