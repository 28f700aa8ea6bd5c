# SPDX-License-Identifier: BSD-3-Clause
"""The last observations of worlds, which a policy without memory sees one after the other, the newest first."""

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Integers
from iap_learning.policies.layout import TermLayout

Observations = NDArray[np.float32]


class History:
    """The terms of the last steps of B worlds; at a start all of them are those of the start.

    Args:
        worlds: B.
        steps: that are observed, the present one among them.
        size: numbers of one observation.

    Attributes:
        steps: as given.
    """

    def __init__(self, worlds: int, steps: int, size: int) -> None:
        self.steps = steps
        self._frames = np.zeros((worlds, steps, size), np.float32)

    def begin(self, indices: Integers, now: Observations) -> None:
        """Begin episodes of some worlds, whose observations (n, size) those of the start are."""
        self._frames[indices] = now[:, None]

    def add(self, now: Observations) -> None:
        """Take the observations (B, size) of a further step."""
        if self.steps > 1:
            self._frames[:, 1:] = self._frames[:, :-1].copy()
            self._frames[:, 0] = now

    def __call__(self, now: Observations, indices: Integers | None = None) -> Observations:
        """Observations (B, steps size) of all worlds, or (n, steps size) of some, with the present ones (n, size)."""
        if self.steps == 1:
            return now
        before = self._frames[:, 1:] if indices is None else self._frames[indices, 1:]
        return np.hstack([now, before.reshape(len(now), -1)])

    def layout(self, terms: TermLayout) -> TermLayout:
        """Terms of all steps; one of k steps ago has the name ``NAME[-k]``."""
        before = [
            (f"{name}[-{k}]", size, scale)
            for k in range(1, self.steps)
            for name, size, scale in terms
        ]
        return (*terms, *before)
