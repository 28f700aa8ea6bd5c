# SPDX-License-Identifier: BSD-3-Clause
"""Exponential and angles without branches or calls, so that loops over lanes become vector instructions.

In double precision; rational approximations of the Cephes library (S. L. Moshier, "Methods and Programs for
Mathematical Functions", 1989), whose relative errors are below 5e-16.
"""

import math

import numpy as np

from iap_description.math.kernels import (
    Quat,
    Vec,
    choose,
    formula,
    half_turn,
    least,
    most,
    rotation_vector,
)

# exp(r) = 1 + 2 r P(r^2) / (Q(r^2) - r P(r^2)) for |r| <= ln(2) / 2
_EXP_P = (1.26177193074810590878e-4, 3.02994407707441961300e-2, 9.99999999999999999910e-1)
_EXP_Q = (
    3.00198505138664455042e-6,
    2.52448340349684104192e-3,
    2.27265548208155028766e-1,
    2.00000000000000000005,
)
_LOG2_E = 1.4426950408889634073599
_LN2_HIGH, _LN2_LOW = 6.93145751953125e-1, 1.42860682030941723212e-6
_MIN_EXPONENT, _MAX_EXPONENT = -708.0, 709.0  # beyond which exponents do not fit a double
_TO_WHOLE = 1.5 * 2.0**52  # added to a number, its last bits are the number rounded
_EXPONENT = np.int64(52)  # where the exponent's bits begin

# atan(t) = t + t z P(z) / Q(z) of z = t^2, for |t| <= tan(pi / 8)
_ATAN_P = (
    -8.750608600031904122785e-1,
    -1.615753718733365076637e1,
    -7.500855792314704667340e1,
    -1.228866684490136173410e2,
    -6.485021904942025371773e1,
)
_ATAN_Q = (
    2.485846490142306297962e1,
    1.650270098316988542046e2,
    4.328810604912902668951e2,
    4.853903996359136964868e2,
    1.945506571482613964425e2,
)
_TAN_22_5 = math.sqrt(2.0) - 1.0
_QUARTER_PI, _HALF_PI = 0.25 * math.pi, 0.5 * math.pi


@formula
def exponential(x: float) -> float:
    """Euler's number to the power of x; zero below -708, e^709 above 709."""
    bounded = least(most(x, _MIN_EXPONENT), _MAX_EXPONENT)
    shifted = bounded * _LOG2_E + _TO_WHOLE
    n = shifted - _TO_WHOLE
    r = (bounded - n * _LN2_HIGH) - n * _LN2_LOW
    z = r * r
    p = r * ((_EXP_P[0] * z + _EXP_P[1]) * z + _EXP_P[2])
    q = ((_EXP_Q[0] * z + _EXP_Q[1]) * z + _EXP_Q[2]) * z + _EXP_Q[3]
    mantissa = 1.0 + 2.0 * p / (q - p)
    bits = np.float64(mantissa).view(np.int64) + (np.float64(shifted).view(np.int64) << _EXPONENT)
    return choose(x < _MIN_EXPONENT, 0.0, np.int64(bits).view(np.float64))


@formula
def angle_of(sine: float, cosine: float) -> float:
    """Angle [rad] from 0 to pi / 2 of which two numbers that are not negative are multiples of sine and cosine."""
    steep = sine > cosine
    short, long = choose(steep, cosine, sine), choose(steep, sine, cosine)
    wide = short > _TAN_22_5 * long
    t = choose(wide, short - long, short) / choose(wide, short + long, long)
    z = t * t
    p = (((_ATAN_P[0] * z + _ATAN_P[1]) * z + _ATAN_P[2]) * z + _ATAN_P[3]) * z + _ATAN_P[4]
    q = ((((z + _ATAN_Q[0]) * z + _ATAN_Q[1]) * z + _ATAN_Q[2]) * z + _ATAN_Q[3]) * z + _ATAN_Q[4]
    angle = choose(wide, _QUARTER_PI, 0.0) + (t + t * (z * p / q))
    return choose(steep, _HALF_PI - angle, angle)


@formula
def turn_of(q: Quat) -> float:
    """Angle [rad] from 0 to pi that a quaternion turns by, the shorter way round."""
    sine, cosine = half_turn(q)
    return 2.0 * angle_of(sine, cosine)


@formula
def turn_vector(q: Quat) -> Vec:
    """Rotation vector [rad] of a quaternion, at most pi long; `kernels.qlog` of loops over lanes."""
    return rotation_vector(q, 0.5 * turn_of(q))
