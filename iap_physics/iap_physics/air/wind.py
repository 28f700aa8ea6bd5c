# SPDX-License-Identifier: BSD-3-Clause
r"""A constant wind and Dryden gusts in the low-altitude form of MIL-F-8785C, section 3.7.

The gust along (u), across (v) and normal to (w) the mean wind is white noise through the filters

.. math::
    H_u(s) = \frac{\sigma_u \sqrt{2 T_u}}{1 + T_u s}, \qquad
    H_{v,w}(s) = \frac{\sigma \sqrt{T}\,(1 + \sqrt 3\, T s)}{(1 + T s)^2}, \qquad T = L / V,

with, for a height h in feet from 10 to 1000,

.. math::
    L_w = h, \quad L_u = L_v = \frac{h}{(0.177 + 0.000823 h)^{1.2}}, \quad
    \sigma_w = 0.1\, W_{20}, \quad \sigma_u = \sigma_v = \frac{\sigma_w}{(0.177 + 0.000823 h)^{0.4}} .

V is the mean wind: the frozen field drifts past a vehicle that hovers or flies slowly.
Discretisation is exact: in partial fractions :math:`H_{v,w} \sim \sqrt 3\, G + (1 - \sqrt 3)\, G^2`
with :math:`G = 1/(1 + T s)`, hence two states with the transition :math:`\Phi = e^{-\mathrm{d}t/T}
[[1, 0], [\mathrm{d}t/T, 1]]`, and noise of covariance :math:`P - \Phi P \Phi^T` keeps the stationary
covariance P at any step size.
"""

import math
from collections.abc import Sequence
from typing import Annotated, NamedTuple, Self

import numpy as np
from numba import njit
from pydantic import Field, model_validator

from iap_description.arrays import Array, Integers
from iap_description.config.record import Record
from iap_description.config.values import Degrees, NonNegative
from iap_description.errors import BadInput
from iap_description.math.kernels import Packed

Generators = np.random.Generator | Sequence[np.random.Generator]  # one, or one for each world

FOOT = 0.3048  # [m]
LOWEST, HIGHEST = 10.0 * FOOT, 1000.0 * FOOT  # heights of the low-altitude form [m]
GUST_STATES = 5  # one for u, two each for v and w
_CHUNK = 64  # instants whose noise is made at once; the sequence does not depend on it
_ROOT3 = math.sqrt(3.0)


class Wind(Record):
    """A mean wind and the gusts that ride on it; none by default.

    Attributes:
        speed: mean [m/s].
        direction_deg: towards which it blows; 0 is east (+x), 90 north (+y).
        turbulence: W_20, the wind 20 ft above ground that sets how strong the gusts are [m/s]: 7.7
            light, 15 moderate, 23 severe, 0 none.
        altitude: height for which the gusts are scaled, up to 304.8 m; below 3.05 m as at 3.05 m.
    """

    speed: NonNegative = 0.0
    direction_deg: Degrees = 0.0
    turbulence: NonNegative = 0.0
    altitude: Annotated[NonNegative, Field(le=HIGHEST)] = 3.0

    @model_validator(mode="after")
    def _carries_its_gusts(self) -> Self:
        if self.turbulence > 0.0 and self.speed == 0.0:
            raise ValueError("key 'turbulence': gusts drift with the wind and need a 'speed' > 0")
        return self

    @property
    def mean_W(self) -> Array:
        """Mean velocity of the air (3,) [m/s]."""
        angle = math.radians(self.direction_deg)
        return self.speed * np.array([math.cos(angle), math.sin(angle), 0.0])


class GustParameters(NamedTuple):
    """Parameters of the gust kernel.

    Attributes:
        along: (2,) cos and sin of the mean wind's direction.
        sigma_uv: standard deviation of the horizontal components [m/s].
        sigma_w: of the vertical one [m/s].
        time_uv: time constant L_u / V [s].
        time_w: time constant L_w / V [s].
    """

    along: Array
    sigma_uv: float
    sigma_w: float
    time_uv: float
    time_w: float

    @classmethod
    def of(cls, wind: Wind) -> Self:
        """Intensities and time constants of the Dryden model at low altitude (MIL-F-8785C), for a wind.

        With h the altitude in feet: sigma_w = 0.1 W_20, sigma_u = sigma_w / (0.177 + 0.000823 h)^0.4 [m/s],
        L_u = h / (0.177 + 0.000823 h)^1.2 and L_w = h, over the mean wind's speed [s].
        """
        h = max(wind.altitude, LOWEST) / FOOT
        shape = 0.177 + 0.000823 * h
        sigma_w = 0.1 * wind.turbulence
        speed = wind.speed if wind.speed > 0.0 else 1.0  # without wind there are no gusts to time
        angle = math.radians(wind.direction_deg)
        return cls(
            np.array([math.cos(angle), math.sin(angle)]),
            sigma_w / shape**0.4,
            sigma_w,
            h * FOOT / shape**1.2 / speed,
            h * FOOT / speed,
        )


@njit(cache=True)
def _first_order(y: float, n: float, s: float) -> float:
    """G driven by white noise, scaled to unit variance, over dt = s T."""
    decay = math.exp(-s)
    return decay * y + math.sqrt(1.0 - decay * decay) * n


@njit(cache=True)
def _second_order(y: float, z: float, n1: float, n2: float, s: float) -> tuple[float, float]:
    """G and G^2 driven by the same white noise over dt = s T; P = [[1, 1/2], [1/2, 1/2]]."""
    decay = math.exp(-s)
    square = decay * decay
    q11 = 1.0 - square
    q12 = 0.5 - square * (s + 0.5)
    q22 = 0.5 - square * (s * s + s + 0.5)
    a = math.sqrt(q11)
    b = q12 / a if a > 0.0 else 0.0  # no noise passes in a step that is too short for it
    c = math.sqrt(max(q22 - b * b, 0.0))
    return decay * y + a * n1, decay * (s * y + z) + b * n1 + c * n2


@njit(cache=True)
def _advance(state: Array, noise: Array, dt: float, parameters: Packed) -> None:
    for b in range(state.shape[0]):
        x, n, p = state[b], noise[b], parameters[b]
        x[0] = _first_order(x[0], n[0], dt / p["time_uv"])
        x[1], x[2] = _second_order(x[1], x[2], n[1], n[2], dt / p["time_uv"])
        x[3], x[4] = _second_order(x[3], x[4], n[3], n[4], dt / p["time_w"])


@njit(cache=True)
def _gust(state: Array, parameters: Packed, gust_W: Array) -> None:
    """The outputs; sqrt(3) y + (1 - sqrt(3)) z has variance 2 at the stationary covariance."""
    for b in range(state.shape[0]):
        x, p = state[b], parameters[b]
        c, s = p["along"][0], p["along"][1]
        u = p["sigma_uv"] * x[0]
        v = p["sigma_uv"] / math.sqrt(2.0) * (_ROOT3 * x[1] + (1.0 - _ROOT3) * x[2])
        gust_W[b, 0] = c * u - s * v
        gust_W[b, 1] = s * u + c * v
        gust_W[b, 2] = p["sigma_w"] / math.sqrt(2.0) * (_ROOT3 * x[3] + (1.0 - _ROOT3) * x[4])


def generators(rng: Generators, batch: int) -> list[np.random.Generator]:
    """One generator for each world; a single one for several worlds spawns theirs.

    Raises:
        BadInput: there are more or fewer than worlds.
    """
    if isinstance(rng, np.random.Generator):
        return [rng] if batch == 1 else rng.spawn(batch)
    if len(rng) != batch:
        raise BadInput(
            f"gusts: {batch} random generators are expected, one a world, got {len(rng)}"
        )
    return list(rng)


def _white(rng: Generators, batch: int) -> Array:
    """Standard normal numbers (B, 5)."""
    if isinstance(rng, np.random.Generator):
        return rng.standard_normal((batch, GUST_STATES))
    return np.array([each.standard_normal(GUST_STATES) for each in rng])


def first_gust(rng: Generators, *, batch: int = 1) -> Array:
    """A gust state (B, 5) drawn from the stationary distribution."""
    n = _white(rng, batch)
    n[:, [2, 4]] = 0.5 * (n[:, [1, 3]] + n[:, [2, 4]])
    return n


class GustNoise:
    """White noise that drives the gusts of many worlds, made ahead; each world's sequence is that of its generator.

    Args:
        rngs: each world's own generator.
    """

    def __init__(self, rngs: Sequence[np.random.Generator]) -> None:
        self._rngs = list(rngs)
        self._made = np.zeros((0, _CHUNK, GUST_STATES))  # until there are gusts
        self._next = np.full(len(self._rngs), _CHUNK)

    def reset(self, worlds: Integers, rngs: Sequence[np.random.Generator]) -> None:
        """Start worlds anew, each with its generator."""
        for world, rng in zip(worlds.tolist(), rngs, strict=True):
            self._rngs[world] = rng
        self._next[worlds] = _CHUNK

    def __call__(self) -> Array:
        """The next standard normal numbers (B, 5)."""
        if not len(self._made):
            self._made = np.zeros((len(self._rngs), _CHUNK, GUST_STATES))
        for world in np.flatnonzero(self._next == _CHUNK).tolist():
            self._made[world] = self._rngs[world].standard_normal((_CHUNK, GUST_STATES))
            self._next[world] = 0
        noise = self._made[np.arange(len(self._next)), self._next]
        self._next += 1
        return noise


def step_gust(state: Array, parameters: Packed, dt: float, noise: Array) -> tuple[Array, Array]:
    """Gusts after a step.

    Args:
        state: (B, 5) from `first_gust` or the last step.
        parameters: (B,) `GustParameters` of each world.
        dt: step [s].
        noise: (B, 5) standard normal numbers, such as a `GustNoise` makes.

    Returns:
        The new state (B, 5) and the gust's velocity gust_W (B, 3) [m/s], to be added to the mean wind.
    """
    state, gust_W = state.copy(), np.empty((len(state), 3))
    _advance(state, noise, dt, parameters)
    _gust(state, parameters, gust_W)
    return state, gust_W
