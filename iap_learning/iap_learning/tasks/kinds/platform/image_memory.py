# SPDX-License-Identifier: BSD-3-Clause
"""The images of earlier steps, by which a policy without memory sees what moves."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Integers
from iap_learning.policies.layout import TermLayout

Numbers = NDArray[np.float32]  # (B, n) of depth images


class ImageMemory:
    """Images of B worlds some steps ago; before an episode's first step they are that step's.

    Args:
        worlds: B.
        ages: steps ago of the images that are observed, ascending from 0.
        size: numbers of an image.
    """

    def __init__(self, worlds: int, ages: Sequence[int], size: int) -> None:
        self._ages = np.array(ages)
        self._images = np.zeros((worlds, self._ages[-1] + 1, size), np.float32)

    def begin(self, indices: Integers, now: Numbers) -> None:
        """Begin episodes of some worlds, whose first images (n, size) are given."""
        self._images[indices] = now[:, None]

    def add(self, now: Numbers) -> None:
        """Take the images (B, size) of a further step."""
        self._images[:, 1:] = self._images[:, :-1].copy()
        self._images[:, 0] = now

    def __call__(self, indices: Integers | slice = slice(None)) -> Numbers:
        """Images (n, ages size) of all worlds or of some, the newest first."""
        rows = self._images[indices][:, self._ages]
        return rows.reshape(len(rows), rows.shape[1] * rows.shape[2])  # also of no world

    def layout(self, term: tuple[str, int, float]) -> TermLayout:
        """Terms of the images; one of k steps ago has the name ``NAME[-k]``."""
        name, size, scale = term
        return tuple((f"{name}[-{k}]" if k else name, size, scale) for k in self._ages.tolist())
