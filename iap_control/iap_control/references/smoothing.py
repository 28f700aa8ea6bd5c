# SPDX-License-Identifier: BSD-3-Clause
r"""The smooth copy of a recorded command, with all its derivatives.

Position and attitude are smoothed by `splines` with one cut-off frequency, forwards and backwards
in time at once: there is no lag. Attitude is smoothed as the four numbers of its quaternion,
sign-continuous, then scaled to unit length: rotations of either frame act on quaternions as
rotations of R^4, so the result does not depend on the frames, turns any number of times, and keeps
a constant rate exactly. With :math:`q = s / |s|`,

.. math:: (\omega_P, 0) = 2\, q^* \otimes \dot q, \; (\alpha_P, \cdot) = 2\, q^* \otimes \ddot q,

which are the derivatives of the attitude that is given out, not of another one (tested against the
right Jacobian).
"""

from collections.abc import Callable

import numpy as np

from iap_control.references import splines
from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_FIXED, REF_P, REF_Q, REF_V, REF_W
from iap_io.trajectories.recorded import RecordedTrajectory

# On two hand-flown flights with up to 11 and 29 deg of tilt this hides 0.6 and 1.1 mm RMS. A higher
# cut-off hides less (0.2 mm at 4 Hz) but lets through accelerations that a heavy platform cannot
# follow within its thrust.
CUTOFF_HZ = 2.0


def smoothed(
    recorded: RecordedTrajectory, *, cutoff_hz: float = CUTOFF_HZ
) -> Callable[[Array], Array]:
    """The command's smooth copy with all its derivatives, as a function of time.

    Velocities and accelerations that the command carries enter the fit.

    Args:
        recorded: the command.
        cutoff_hz: motion at this frequency keeps half of its amplitude [Hz].

    Returns:
        A function that gives reference rows (T, REF_FIXED) at times (T,) from the command's first sample [s];
        before and after the command its end poses are held at rest.
    """
    present = _present(recorded.p_WP_W, recorded.v_WP_W, recorded.a_WP_W)
    position = splines.fit(recorded.t, present, cutoff_hz)
    attitude = _fit_attitude(recorded, cutoff_hz)

    def rows_at(t: Array) -> Array:
        t = np.asarray(t, dtype=float)
        inside = np.clip(t, 0.0, recorded.duration)
        rows = np.zeros((len(t), REF_FIXED))
        rows[:, REF_P], rows[:, REF_V], rows[:, REF_A] = (position(inside, d) for d in range(3))
        rows[:, REF_Q], rows[:, REF_W], rows[:, REF_ALPHA] = _attitude(attitude, inside)
        outside = (t < 0.0) | (t > recorded.duration)
        for part in (REF_V, REF_W, REF_A, REF_ALPHA):
            rows[outside, part] = 0.0
        return rows

    return rows_at


def _present(*derivatives: Array | None) -> dict[int, Array]:
    """The samples of those derivatives that there are, by order."""
    return {order: values for order, values in enumerate(derivatives) if values is not None}


def _fit_attitude(recorded: RecordedTrajectory, cutoff_hz: float) -> splines.Spline:
    """The spline of the four numbers of the attitude's quaternion."""
    q, w = recorded.q_WP, recorded.w_WP_P
    q_dot = None if w is None else 0.5 * so3.multiply(q, _pure(w))
    q_ddot = None
    if w is not None and recorded.alpha_WP_P is not None:
        q_ddot = (
            0.5 * so3.multiply(q, _pure(recorded.alpha_WP_P))
            - 0.25 * np.sum(w**2, axis=1, keepdims=True) * q
        )
    return splines.fit(recorded.t, _present(q, q_dot, q_ddot), cutoff_hz)


def _attitude(spline: splines.Spline, t: Array) -> tuple[Array, Array, Array]:
    """Attitude (T, 4), body rate (T, 3) and angular acceleration (T, 3) at times (T,)."""
    s, s_dot, s_ddot = (spline(t, d) for d in range(3))
    # With s = n q: q' = s'/n - (n'/n) q and q'' = s''/n - 2 (n'/n) q' - (n''/n) q, and q* q has no
    # vector part.
    n = np.linalg.norm(s, axis=1, keepdims=True)
    unit, unit_dot, unit_ddot = s / n, s_dot / n, s_ddot / n
    n_dot_by_n = np.sum(unit * unit_dot, axis=1, keepdims=True)
    inverse = so3.conjugate(unit)
    rate = 2.0 * so3.multiply(inverse, unit_dot)[:, :3]
    acceleration = 2.0 * so3.multiply(inverse, unit_ddot)[:, :3] - 2.0 * n_dot_by_n * rate
    return unit, rate, acceleration


def _pure(vectors: Array) -> Array:
    """Vectors (K, 3) as quaternions without a real part."""
    return np.concatenate([vectors, np.zeros((len(vectors), 1))], axis=1)
