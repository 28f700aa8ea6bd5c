# SPDX-License-Identifier: BSD-3-Clause
"""Attitudes between samples, on great circles.

Before the first and after the last sample these hold, which SciPy's `Slerp` refuses.
"""

import numpy as np
from numpy.typing import NDArray

from iap_description.arrays import Array
from iap_description.math import so3


def slerp(t: Array, t_samples: Array, q_samples: Array) -> Array:
    """Unit quaternions (T, 4) at times (T,), from samples (K, 4) at increasing times (K,)."""
    index, fraction = _between(t, t_samples)
    q = q_samples[index]
    phi = so3.quaternion_log(so3.multiply(so3.conjugate(q), q_samples[index + 1]))
    return so3.normalized(so3.multiply(q, so3.quaternion_exp(fraction * phi)))


def _between(t: Array, t_samples: Array) -> tuple[NDArray[np.intp], Array]:
    """Index (T,) of the sample before each time, and the share (T, 1) of the way to the next."""
    index = np.clip(np.searchsorted(t_samples, t, side="right") - 1, 0, len(t_samples) - 2)
    fraction = (t - t_samples[index]) / (t_samples[index + 1] - t_samples[index])
    return index, np.clip(fraction, 0.0, 1.0)[:, None]
