# SPDX-License-Identifier: BSD-3-Clause
"""Ideal samples of inertial units: what the plant measures of the bodies' motion, and units add errors to."""

from typing import Literal, NamedTuple

from iap_description.arrays import Array, Integers

Sampling = Literal["integrating", "instantaneous"]


class InertialMounts(NamedTuple):
    """Where M units sit.

    Attributes:
        rows: (M,) state row of each unit's body.
        p_BS_B: (M, 3) place on the body [m].
        q_BS: (M, 4) attitude there, xyzw.
    """

    rows: Integers
    p_BS_B: Array
    q_BS: Array


class InertialSamples(NamedTuple):
    """S samples of M units.

    Attributes:
        ticks: (S,) physics steps from the start to each sample's stamp.
        w_WS_S: (S, M, 3) angular velocity [rad/s].
        f_S: (S, M, 3) specific force [m/s^2].
    """

    ticks: Integers
    w_WS_S: Array
    f_S: Array
