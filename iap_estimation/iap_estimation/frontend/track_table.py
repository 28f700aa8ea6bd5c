# SPDX-License-Identifier: BSD-3-Clause
"""The tracks that a front end holds, and which of them crowd."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array, Booleans, Integers
from iap_estimation.frontend.patches import Patches


@dataclass(frozen=True, eq=False)
class TrackTable:
    """Tracks in the last pair of images, the oldest first.

    Attributes:
        ids: (n,).
        ages: (n,) images since each was found.
        points: (n, 2) in the left image [px].
        xy: (n, 2) normalised.
        right: (n, 2) in the right image [px], NaN where it does not see them.
        inverse_depth: (n,) along the left view, NaN where it is not known [1/m].
        patches: of the images in which they are anchored.
    """

    ids: Integers
    ages: Integers
    points: Array
    xy: Array
    right: Array
    inverse_depth: Array
    patches: Patches

    @classmethod
    def fresh(cls, first_id: int, points: Array, xy: Array, patches: Patches) -> Self:
        """Tracks that begin with points (n, 2) [px], normalised xy (n, 2)."""
        n = len(points)
        ids, unknown = np.arange(first_id, first_id + n), np.full(n, np.nan)
        right, ages = np.full((n, 2), np.nan), np.zeros(n, dtype=np.int64)
        return cls(ids, ages, points, xy, right, unknown, patches)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def _arrays(self) -> tuple[NDArray[Any], ...]:
        """All fields but the patches."""
        return self.ids, self.ages, self.points, self.xy, self.right, self.inverse_depth

    def kept(self, which: Booleans) -> Self:
        """Some of them (n,)."""
        parts: list[Any] = [each[which] for each in self._arrays]
        return type(self)(*[*parts, self.patches.kept(which)])

    def and_then(self, other: Self) -> Self:
        """These and younger ones."""
        pairs = zip(self._arrays, other._arrays, strict=True)
        parts: list[Any] = [np.concatenate(pair) for pair in pairs]
        return type(self)(*[*parts, self.patches.and_then(other.patches)])

    def updated(self, points: Array, xy: Array, patches: Patches) -> Self:
        """The same one image later."""
        return replace(self, ages=self.ages + 1, points=points, xy=xy, patches=patches)

    def matched(self, right: Array, inverse_depth: Array) -> Self:
        """With what the right camera sees; a depth that is not seen again is remembered."""
        known = np.where(np.isfinite(inverse_depth), inverse_depth, self.inverse_depth)
        return replace(self, right=right, inverse_depth=known)

    def unmatched(self) -> Self:
        """Without what the right camera saw; depths are remembered."""
        return replace(self, right=np.full_like(self.right, np.nan))


def apart(points: Array, distance: float) -> Booleans:
    """Mask (n,) of the points (n, 2) that keep a distance [px] from all that come before them."""
    u, v = points.T
    squares = np.subtract.outer(u, u) ** 2 + np.subtract.outer(v, v) ** 2
    return ~np.any(np.tril(squares < distance * distance, -1), axis=-1)
