# SPDX-License-Identifier: BSD-3-Clause
"""What ranges to anchors leave open, in words: which anchor is which, and errors that no check explains."""

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

from iap_description.arrays import Array
from iap_estimation.datasets.range_start import FEWEST
from iap_estimation.virpo.messages import Ranges

UNEXPLAINED = 0.3  # error of ranges that were checked, of which a note is made [m]
MOST = 5  # anchors whose orders are tried
ALIKE = 0.3  # distance of places that are turned onto others, within which ranges fit both [m]


def doubts(rounds: Sequence[Ranges], off: float | None) -> Iterator[str]:
    """Yield what ranges cannot tell, or do not fit, in words.

    Args:
        rounds: in order of time.
        off: of `check_ranges` [m].
    """
    anchors = np.concatenate([each.anchors for each in rounds])
    _, first = np.unique(anchors, return_index=True)
    if alike(np.concatenate([each.p_W for each in rounds])[first]):
        yield "which anchor is which cannot be checked: they stand as before if some are exchanged"
    if off is not None and off > UNEXPLAINED:
        yield f"off by {off:.2f} m, which no unit, length or exchange explains: are ids and places right?"


def alike(places: Array) -> list[tuple[int, ...]]:
    """Orders of anchors in which they stand as they do now, turned or mirrored: no range tells these apart.

    Args:
        places: (n, 3) of up to `MOST` anchors [m]; of more none is looked for.
    """
    count = len(places)
    if not FEWEST <= count <= MOST:
        return []
    mean = places - places.mean(axis=0)
    orders = [each for each in permutations(range(count)) if each != tuple(range(count))]
    return [order for order in orders if _unlike(mean, mean[list(order)]) < ALIKE]


def _unlike(places: Array, others: Array) -> float:
    """Largest distance of places (n, 3) from others that are turned or mirrored onto them [Kabsch1976] [m]."""
    U, _, V = np.linalg.svd(others.T @ places)
    return float(np.linalg.norm(places - others @ U @ V, axis=1).max())
