# SPDX-License-Identifier: BSD-3-Clause
"""Stamped samples as a file gives them, the checks of their numbers, and their turn into ENU/FLU.

NaN, infinity, numbers beyond 1e6 times the unit, a quaternion of length zero and fewer than two samples are refused.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description import frames
from iap_description.arrays import Array, Integers
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.pose_reading import Convention, RecordingSummary

Stamps = Integers

_ZERO_NORM = 1e-6
_ODD_NORM = 0.01  # float32 and printed quaternions stay well below
# Forward, left and up in a camera's axes.
_R_OPTICAL: Array = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
_R_OPTICAL.setflags(write=False)


@dataclass(frozen=True)
class Samples:
    """Stamped samples in the order of the file.

    Attributes:
        source: file and topic, to name in errors.
        about: what they were read as.
        header_ns: (K,) header stamps, or a file's time column [ns]; None where there are none.
        bag_ns: (K,) times of reception [ns]; None for a file without them.
        p: (K, 3) positions [m].
        q: (K, 4) attitudes, xyzw.
        v: (K, 3) world-frame velocities [m/s], or None; likewise below.
        w: (K, 3) body rates in body axes [rad/s].
        a: (K, 3) world-frame accelerations [m/s^2].
        alpha: (K, 3) angular accelerations in body axes [rad/s^2].
    """

    source: str
    about: RecordingSummary
    header_ns: Stamps | None
    bag_ns: Stamps | None
    p: Array
    q: Array
    v: Array | None = None
    w: Array | None = None
    a: Array | None = None
    alpha: Array | None = None

    def noted(self, *notes: str) -> "Samples":
        """The same with more notes."""
        return replace(self, about=self.about.noted(*notes))

    def at(self, index: NDArray[Any] | slice) -> "Samples":
        """The samples at these indices."""
        arrays: Any = {n: x[index] for n, x in vars(self).items() if isinstance(x, np.ndarray)}
        return replace(self, **arrays)


_FIELDS = {
    "p": ("position.x", "position.y", "position.z"),
    "q": ("orientation.x", "orientation.y", "orientation.z", "orientation.w"),
    "v": ("linear velocity.x", "linear velocity.y", "linear velocity.z"),
    "w": ("angular velocity.x", "angular velocity.y", "angular velocity.z"),
    "a": ("linear acceleration.x", "linear acceleration.y", "linear acceleration.z"),
    "alpha": ("angular acceleration.x", "angular acceleration.y", "angular acceleration.z"),
}


def check_finite(source: str, values: Array, names: tuple[str, ...]) -> None:
    """Refuse NaN, infinity and numbers too large to be meant.

    Raises:
        BadInput: names the source, the sample and the field.
    """
    bad = np.argwhere(~(np.abs(values) <= MAX_SI_NUMBER))
    if len(bad):
        row, column = bad[0]
        raise BadInput(f"{source}: sample {row}: {names[column]} is {values[row, column]}")


def checked(samples: Samples) -> Samples:
    """Samples with usable values and quaternions of unit length.

    Raises:
        BadInput: fewer than two samples, NaN, infinity, or a quaternion of length zero.
    """
    if len(samples.p) < 2:
        raise BadInput(f"{samples.source}: {len(samples.p)} sample(s); a replay needs at least 2")
    for name, columns in _FIELDS.items():
        values = getattr(samples, name)
        if values is not None:
            check_finite(samples.source, values, columns)
    norms = np.linalg.norm(samples.q, axis=1)
    if norms.min() < _ZERO_NORM:
        raise BadInput(f"{samples.source}: sample {norms.argmin()}: orientation has length zero")
    odd = np.abs(norms - 1.0) > _ODD_NORM
    if odd.any():
        samples = samples.noted(f"{odd.sum()} quaternions off unit length were normalised")
    return replace(samples, q=samples.q / norms[:, None])


def scaled(samples: Samples, scale: float) -> Samples:
    """The samples in metres, where their unit of length is `scale` metres."""
    if scale == 1.0:
        return samples
    lengths: Any = {n: getattr(samples, n) for n in ("p", "v", "a")}
    turned = {n: scale * x for n, x in lengths.items() if x is not None}
    return replace(samples, about=replace(samples.about, scale=scale), **turned)


def in_enu(samples: Samples, convention: Convention) -> Samples:
    """The same motion in ENU/FLU."""
    samples = replace(samples, about=replace(samples.about, convention=convention))
    if convention == "ned":
        return from_ned(samples)
    return from_camera(samples) if convention == "camera" else samples


def from_ned(samples: Samples) -> Samples:
    """The same motion, given in NED/FRD, in ENU/FLU."""
    swaps = {
        **dict.fromkeys(("p", "v", "a"), frames.swap_world),
        **dict.fromkeys(("w", "alpha"), frames.swap_body),
    }
    vectors_of = {name: getattr(samples, name) for name in swaps}
    turned: dict[str, Any] = {
        n: swaps[n](vectors) for n, vectors in vectors_of.items() if vectors is not None
    }
    R_WP = frames.swap_attitude(so3.matrix_from_quaternion(samples.q))
    return replace(samples, q=so3.quaternion_from_matrix(R_WP), **turned)


def from_camera(samples: Samples) -> Samples:
    """The same motion, given in a camera's axes for world and body, in ENU/FLU."""
    vectors = {n: getattr(samples, n) for n in ("p", "v", "w", "a", "alpha")}
    turned: Any = {n: x @ _R_OPTICAL for n, x in vectors.items() if x is not None}
    R = _R_OPTICAL.T @ so3.matrix_from_quaternion(samples.q) @ _R_OPTICAL
    return replace(samples, q=so3.quaternion_from_matrix(R), **turned)


def continuous(q: Array) -> Array:
    """Quaternions (K, 4) with signs chosen such that neighbours lie on one side."""
    steps = np.einsum("ki,ki->k", q[1:], q[:-1])
    return q * np.cumprod(np.concatenate([[1.0], np.where(steps < 0.0, -1.0, 1.0)]))[:, None]
