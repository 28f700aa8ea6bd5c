# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a mask over samples."""

import numpy as np

from iap_description.arrays import Booleans


def true_runs(mask: Booleans) -> list[tuple[int, int]]:
    """Runs of true values in a mask (K,): the first index of each, and the one behind its last."""
    edges = np.flatnonzero(np.diff(np.r_[False, mask, False].astype(np.int8))).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))
