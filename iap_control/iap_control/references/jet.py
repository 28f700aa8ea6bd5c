# SPDX-License-Identifier: BSD-3-Clause
"""Signals that carry their first two derivatives, so that no reference is differentiated by hand."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from iap_description.arrays import Array


@dataclass(frozen=True)
class Jet:
    """A signal on a time grid with its derivatives: value f, df/dt and d2f/dt2, each (T,)."""

    f: Array
    df: Array
    ddf: Array

    @classmethod
    def time(cls, t: Array) -> Self:
        """The signal t itself."""
        return cls(
            np.asarray(t, dtype=float), np.ones_like(t, dtype=float), np.zeros_like(t, dtype=float)
        )

    def __add__(self, other: Self | float) -> "Jet":
        """Sum."""
        if isinstance(other, Jet):
            return Jet(self.f + other.f, self.df + other.df, self.ddf + other.ddf)
        return Jet(self.f + other, self.df, self.ddf)

    __radd__ = __add__

    def __neg__(self) -> "Jet":
        """Opposite."""
        return Jet(-self.f, -self.df, -self.ddf)

    def __sub__(self, other: Self | float) -> "Jet":
        """Difference."""
        return self + (-other)

    def __rsub__(self, other: float) -> "Jet":
        """Difference."""
        return -self + other

    def __mul__(self, other: Self | float) -> "Jet":
        """Product, by the product rule."""
        if isinstance(other, Jet):
            return Jet(
                self.f * other.f,
                self.df * other.f + self.f * other.df,
                self.ddf * other.f + 2.0 * self.df * other.df + self.f * other.ddf,
            )
        return Jet(self.f * other, self.df * other, self.ddf * other)

    __rmul__ = __mul__

    def reciprocal(self) -> "Jet":
        """1 / f, with -f' / f^2 and (2 f'^2 / f - f'') / f^2."""
        f = 1.0 / self.f
        return Jet(f, -self.df * f**2, (2.0 * self.df**2 * f - self.ddf) * f**2)

    def sin(self) -> "Jet":
        """Sine."""
        s, c = np.sin(self.f), np.cos(self.f)
        return Jet(s, c * self.df, c * self.ddf - s * self.df**2)

    def cos(self) -> "Jet":
        """Cosine."""
        s, c = np.sin(self.f), np.cos(self.f)
        return Jet(c, -s * self.df, -s * self.ddf - c * self.df**2)

    def smooth_step(self) -> "Jet":
        """s^3 (10 - 15 s + 6 s^2) of s = f, 0 below 0 and 1 above 1; its first two derivatives vanish at both ends."""
        s = np.clip(self.f, 0.0, 1.0)
        g = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        dg = 30.0 * s**2 * (1.0 - s) ** 2
        ddg = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
        return Jet(g, dg * self.df, ddg * self.df**2 + dg * self.ddf)

    def smooth_ramp(self, ease: float) -> "Jet":
        """Integral of the smooth step: e (2.5 s^4 - 3 s^5 + s^6), s = f / e, with e the `ease`; f - e / 2 above e."""
        s = np.clip(self.f / ease, 0.0, 1.0)
        inside = ease * (2.5 * s**4 - 3.0 * s**5 + s**6)
        step = (self * (1.0 / ease)).smooth_step()
        return Jet(inside + np.maximum(self.f - ease, 0.0), step.f, step.df)


def constant(t: Array, value: float) -> Jet:
    """A signal that does not change."""
    return Jet(np.full(len(t), float(value)), np.zeros(len(t)), np.zeros(len(t)))


def polyline(t: Array, times: Array, values: Array) -> Jet:
    """Straight lines through (times, values); the slope jumps at the corners and the second derivative is left out.

    A line too short for the times' digits is a step, whose slope is left out, too.
    """
    lengths = np.diff(times)
    slopes = np.zeros(len(lengths))
    np.divide(np.diff(values), lengths, out=slopes, where=lengths > 0.0)
    piece = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(slopes) - 1)
    inside = (t >= times[0]) & (t < times[-1])
    return Jet(np.interp(t, times, values), np.where(inside, slopes[piece], 0.0), np.zeros(len(t)))
