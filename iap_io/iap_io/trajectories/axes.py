# SPDX-License-Identifier: BSD-3-Clause
r"""Conventions of axes, and samples in them turned into ENU/FLU.

With W the map of world coordinates to ENU, B that of body coordinates to FLU, and det B = +-1, which is negative
for left-handed axes:

.. math:: p' = W p, \quad R' = W R B^T, \quad \omega' = \det(B) \, B \, \omega .
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Array
from iap_description.frames import R_ENU_NED, R_FLU_FRD
from iap_description.math import so3
from iap_io.trajectories.conventions import Convention, QuaternionOrder
from iap_io.trajectories.samples import Samples
from iap_io.trajectories.topics import words_of

# Forward, left and up in a camera's axes.
_R_OPTICAL: Array = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
_R_Y_UP: Array = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
_UNITY: Array = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
_UNITY_BODY: Array = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
_UNREAL: Array = np.diag([1.0, -1.0, 1.0])
_FIXED = set("world map odom earth mocap origin".split())  # words of frames that do not move


class Axes(NamedTuple):
    """A convention: maps (3, 3) of its coordinates to ENU and FLU.

    Attributes:
        positions: of positions in the world.
        attitudes: of the world that attitudes are in.
        body: of the body's axes.
    """

    positions: Array
    attitudes: Array
    body: Array


CONVENTIONS: dict[Convention, Axes] = {
    "enu": Axes(np.eye(3), np.eye(3), np.eye(3)),
    "ned": Axes(R_ENU_NED, R_ENU_NED, R_FLU_FRD),
    "camera": Axes(_R_OPTICAL, _R_OPTICAL, _R_OPTICAL),
    "y-up": Axes(_R_Y_UP, _R_Y_UP, _R_Y_UP),
    "unity": Axes(_UNITY, _UNITY, _UNITY_BODY),
    "unreal": Axes(_UNREAL, _UNREAL, _UNREAL),
    "ned-attitudes": Axes(np.eye(3), R_ENU_NED, R_FLU_FRD),
    "ned-positions": Axes(R_ENU_NED, np.eye(3), np.eye(3)),
}


def in_enu(samples: Samples, convention: Convention) -> Samples:
    """The same motion in ENU/FLU."""
    samples = replace(samples, about=replace(samples.about, convention=convention))
    if convention == "enu":
        return samples
    positions, attitudes, body = CONVENTIONS[convention]
    turn = float(round(np.linalg.det(body))) * body
    maps = {**dict.fromkeys(("p", "v", "a"), positions), **dict.fromkeys(("w", "alpha"), turn)}
    vectors: Any = {
        name: x @ linear.T
        for name, linear in maps.items()
        if (x := getattr(samples, name)) is not None
    }
    R = attitudes @ so3.matrix_from_quaternion(samples.q) @ body.T
    return replace(samples, q=so3.quaternion_from_matrix(R), **vectors)


def ordered(samples: Samples, order: QuaternionOrder | None) -> Samples:
    """The samples with the numbers of their quaternions taken in another order than they were read in."""
    if order in (None, samples.about.quaternion):
        return samples
    if order == "inverse-pose":
        return inverted(replace(samples, about=replace(samples.about, quaternion=order)))
    about = replace(samples.about, quaternion=order)
    return replace(samples, about=about, q=reordered(samples.q, samples.about.quaternion, order))


def reordered(q: Array, read: QuaternionOrder, order: QuaternionOrder) -> Array:
    """Quaternions (K, 4), xyzw, of numbers that were read in one order and are in another."""
    if order == "inverse":
        return so3.conjugate(q)
    return q[:, [1, 2, 3, 0]] if (read, order) == ("xyzw", "wxyz") else q[:, [3, 0, 1, 2]]


def of_the_body(samples: Samples) -> Samples:
    """The motion of the body where the names of frames say that a recording has that of the world in it."""
    about = samples.about
    if about.body is None or about.frame is None:
        return samples
    if not is_fixed(about.body) or is_fixed(about.frame):
        return samples
    named = replace(about, body=about.frame, frame=about.body)
    noted = named.noted(f"poses of {about.body} in {about.frame}: inverted")
    return replace(inverted(samples), about=noted)


def inverted(samples: Samples) -> Samples:
    """Poses of the world in the body as those of the body in the world: T_WB = T_BW^-1; velocities are left out."""
    q = so3.conjugate(samples.q)
    p = -so3.rotate(q, samples.p)
    return replace(samples, p=p, q=q, v=None, w=None, a=None, alpha=None)


def is_fixed(frame: str) -> bool:
    """True if a frame's name is that of one that does not move."""
    parts = words_of(frame)
    return bool(parts and parts[-1] & _FIXED)
