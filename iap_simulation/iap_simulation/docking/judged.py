# SPDX-License-Identifier: BSD-3-Clause
"""The judgement of dockings in many worlds."""

from typing import Self

import numpy as np
from numba import njit

from iap_description.arrays import Array, Booleans, Integers
from iap_description.math.kernels import norm, vec_at
from iap_description.vehicles.latch import PortFrame, approach
from iap_physics.docking import pairs as kernel
from iap_physics.engines.engine import RUNNING
from iap_physics.latching.kernel import CAUGHT, LOCKED

GROUND = 0.12  # height of an aircraft that stands [m]


class Judged:
    """How dockings go, see `iap_simulation.docking.pilot.DockingJudge`; arrays (B,).

    Attributes:
        is_over: whether it has ended.
        succeeded: whether it has succeeded.
        force_peak: [N].
        closing_speed: at the first touch [m/s], NaN before it.
        end: of the coupled flight [s], NaN before it.
        closing: speed at the last control instant [m/s].
    """

    def __init__(self, is_over: Booleans, succeeded: Booleans, *numbers: Array) -> None:
        self.is_over, self.succeeded = is_over, succeeded
        self.force_peak, self.closing_speed, self.end, self.closing = numbers

    @classmethod
    def of(cls, batch: int) -> Self:
        """Of worlds that have not flown."""
        flags = (np.zeros(batch, bool), np.zeros(batch, bool))
        return cls(*flags, *(np.zeros(batch) for _ in range(4)))

    def reset(self, chosen: Integers) -> None:
        """Forget some worlds' flights."""
        self.is_over[chosen] = self.succeeded[chosen] = False
        self.force_peak[chosen], self.closing[chosen] = 0.0, 0.0
        self.closing_speed[chosen] = self.end[chosen] = np.nan

    @property
    def parts(self) -> tuple[Booleans, Booleans, Array, Array, Array, Array]:
        """All arrays, for compiled loops."""
        return (
            self.is_over,
            self.succeeded,
            self.force_peak,
            self.closing_speed,
            self.end,
            self.closing,
        )


@njit(cache=True)
def judge(
    pairs: kernel.Pairs,
    judged: tuple[Booleans, Booleans, Array, Array, Array, Array],
    ports: tuple[PortFrame, PortFrame],
    limits: tuple[float, float, float, float, float],
    times: Array,
) -> None:
    """Take the present instant of every world, as `iap_simulation.docking.pilot.DockingJudge.watch` does."""
    is_over, succeeded, force_peak, closing_speed, end, closing = judged
    peak, hover, speed, cosine, within = limits
    for b in range(len(times)):
        if is_over[b] or pairs.status[b] != RUNNING:
            continue
        x_t, x_c, force = pairs.x[b, 0], pairs.x[b, 1], norm(vec_at(pairs.contact[b], 0))
        force_peak[b] = max(force_peak[b], force)
        if np.isnan(closing_speed[b]) and force > 0.0:
            closing_speed[b] = closing[b]
        closing[b] = approach(x_c, x_t, ports[0], ports[1]).closing
        if _has_crashed(x_t) or _has_crashed(x_c):
            is_over[b] = True
        elif pairs.phase[b] in (CAUGHT, LOCKED):
            if times[b] >= pairs.caught[b, 0] + hover - 1e-9:
                is_over[b], end[b] = True, times[b]
                calm = _is_calm(x_t, speed, cosine) and _is_calm(x_c, speed, cosine)
                succeeded[b] = calm and force_peak[b] <= peak and times[b] <= within + 1e-9
        elif times[b] >= within:
            is_over[b] = True


@njit(cache=True)
def _has_crashed(x: Array) -> bool:
    """Whether an aircraft is upside down or on the ground."""
    return x[3] * x[3] + x[4] * x[4] > 0.5 or x[2] < GROUND


@njit(cache=True)
def _is_calm(x: Array, speed: float, cosine: float) -> bool:
    return norm(vec_at(x, 7)) < speed and 1.0 - 2.0 * (x[3] * x[3] + x[4] * x[4]) > cosine
