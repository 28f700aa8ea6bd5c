# SPDX-License-Identifier: BSD-3-Clause
r"""Check of the anchors' map by motion: ranges fit a mirrored map as well, and the inertial unit does not.

With p the places where ranges meet, R the gyroscope's attitudes and f the specific force, a window of some seconds has

.. math::
    H^T R_z(\psi) p = s + c_0 + c_1 t + c_2 t^2 + \iint R \, b_a + \iint \Big(\int R \, b_g\Big) \times R f,
    \quad s = \iint R f .

The polynomial is place, velocity, and gravity as the tilt is off; biases have a prior. H is the identity where the
map is right. A signed exchange of axes in its place is a map that is mirrored, upside down or on its side. The squares
that each H leaves, at its best heading :math:`\psi`, are compared.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_estimation.datasets.accelerometer_axes import axes_text, signed_axes
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.datasets.image_rotation import GyroTurns
from iap_estimation.datasets.range_checks import moments_of
from iap_estimation.datasets.range_start import meeting_point
from iap_estimation.virpo.messages import Ranges

WINDOW, MAX_WINDOWS = (
    10.0,
    12,
)  # over which biases are one number [s], and windows that are looked at
FEWEST = 15  # places in one
NOISE, BIASES = (
    0.1,
    (0.2, 0.01),
)  # of a range [m], of an accelerometer [m/s^2] and a gyroscope [rad/s]
ASIDE = 6.0  # distance of a place from its neighbours' over the usual one, that is another place
BETTER, FAR_BETTER = (
    0.8,
    0.15,
)  # part of the squares that is left by the right map, level or on its side, at most
FITS, FITS_UPWARDS = (
    6.0,
    2.0,
)  # squares of a number that the right map leaves, at most, and where heights count
SURE = 40.0  # by which squares differ at least, in those of a number
THICKNESS = 0.5  # deviation of anchors from a plane, from which on ranges tell its two sides [m]
UP = np.array([0.0, 0.0, 1.0])


class RangeWindow(NamedTuple):
    """A window of places and of motion that is felt, in a level frame of any heading.

    Attributes:
        places: (K, 3) of the antenna by ranges, in the anchors' frame [m].
        felt: (K, 3) by the inertial unit, but for what is not known [m].
        unknown: (K, 3, 15) its derivatives by that: the polynomial's numbers, and biases in their deviations.
        sigma: (3,) deviations of the places along the anchors' axes [m]; infinite where ranges do not tell.
    """

    places: Array
    felt: Array
    unknown: Array
    sigma: Array


def check_motion(sample: DataSample) -> str | None:
    """Places of ranges beside the motion that the inertial unit feels.

    Raises:
        BadInput: they fit with the anchors' map mirrored or turned.
    """
    windows = list(_windows(sample))
    if not windows:
        return None
    count = sum(each.places.size for each in windows)
    left = {name: sum(_left(each, H) for each in windows) for name, H in MAPS.items()}
    now, least = left[AS_IT_IS], min(left.values())
    if least > FITS * count:
        return "where they meet leaps: whether the anchors' map is mirrored cannot be checked"
    sure = SURE * least / count
    known = LEVEL if least < FITS_UPWARDS * count else LEVEL[:2]
    level = [name for name in known if left[name] < min(BETTER * now, now - sure)]
    best = next((name for name in level if left[name] - sure < min(left[n] for n in level)), None)
    others = [
        n for n in MAPS if n not in LEVEL and left[n] < FAR_BETTER * min(left[m] for m in LEVEL)
    ]
    best = min(others, key=left.__getitem__, default=best)
    if best is not None:
        raise BadInput(
            f"{sample.dataset.source}: ranges fit the motion that the inertial unit feels if the anchors' map is"
            f" {best}; or the axes of the inertial unit are not right-handed, x forward and z up"
        )
    if now + sure < left[LEVEL[1]]:
        heights = "" if now + sure < left[LEVEL[2]] else ", but for heights, which do not tell"
        return f"they move as the inertial unit feels it{heights}"
    return "they move too little or too straight to say whether the anchors' map is mirrored"


def _maps() -> dict[str, Array]:
    """Signed exchanges of axes (3, 3), one of each four that differ by a turn about z, by what is wrong with a map."""
    found = dict(zip(LEVEL, map(np.diag, LEVEL_SIGNS), strict=True))
    for H in signed_axes():
        turns = [so3.exp(k * 0.5 * np.pi * UP) for k in range(4)]
        if not any(np.allclose(H, turn @ one) for one in found.values() for turn in turns):
            found[_in_words(H)] = H
    return found


def _in_words(H: Array) -> str:
    """Fault of a map whose z axis does not stay upright, and whose axes are H's rows."""
    vertical = axes_text(H[2:])
    hand = "mirrored and " if np.linalg.det(H) < 0.0 else ""
    return f"{hand}on its side: its {vertical} axis is vertical: write that as z in key 'anchors'"


AS_IT_IS = "as it is"
LEVEL = (
    AS_IT_IS,
    "mirrored: one of x and y has the wrong sign in key 'anchors', or both are exchanged",
    "mirrored: z has the wrong sign in key 'anchors'",
    "upside down: set key 'up' to the other of z and -z",
)
LEVEL_SIGNS = np.array([[1.0, 1, 1], [1, -1, 1], [1, 1, -1], [1, -1, -1]])
MAPS = _maps()


def _windows(sample: DataSample) -> Iterator[RangeWindow]:
    """Yield windows, one after the other, that have enough places and samples in them."""
    moments = list(moments_of(sample.rounds))
    if len(moments) < FEWEST or len(sample.samples) < 2:
        return
    is_flat = _thickness(moments) < THICKNESS
    begins = np.arange(moments[0].t, moments[-1].t, WINDOW)
    first, last = sample.t[[0, -1]]
    for begin in begins[:: max(1, -(-len(begins) // MAX_WINDOWS))]:
        begin, end = max(begin, first), min(begin + WINDOW, last)
        inside = [each for each in moments if begin < each.t < end]
        if len(inside) >= FEWEST:
            yield _motion(sample, *_near_others(inside), is_flat=is_flat)


def _near_others(moments: Sequence[Ranges]) -> tuple[Sequence[Ranges], Array]:
    """Moments and the places (K, 3) where their ranges meet, but those beside their neighbours' [m].

    Ranges of some moments meet on the other side of the anchors.
    """
    places = np.array([meeting_point([each], "ranges of a moment") for each in moments])
    around = sliding_window_view(np.pad(places, ((2, 2), (0, 0)), "edge"), 5, axis=0)
    off = np.linalg.norm(places - np.median(around, axis=2), axis=1)
    kept = np.flatnonzero(off <= ASIDE * np.median(off))
    return [moments[k] for k in kept.tolist()], places[kept]


def _thickness(moments: Sequence[Ranges]) -> float:
    """Deviation of the anchors from the plane that is nearest [m]."""
    anchors = np.unique(np.vstack([each.p_W for each in moments]), axis=0)
    sizes = np.linalg.svd(anchors - anchors.mean(axis=0), compute_uv=False)
    return float(sizes[-1]) / len(anchors) ** 0.5


def _motion(
    sample: DataSample, moments: Sequence[Ranges], places: Array, *, is_flat: bool
) -> RangeWindow:
    """The window of some moments, whose ranges meet at places (K, 3)."""
    t = np.array([each.t for each in moments])
    spreads = [_spread(p, each) for p, each in zip(places, moments, strict=True)]
    sigma = np.sqrt(np.median(spreads, axis=0))
    if is_flat:
        sigma[2] = np.inf
    first, last = np.searchsorted(sample.t, [t[0], t[-1]]) + [-1, 1]
    times = sample.t[first:last]
    f, w = sample.f_B[first:last], sample.w_B[first:last]
    q = GyroTurns(times, w).between(np.full(len(times), times[0]), times)
    R = so3.matrix_from_quaternion(q)
    R = _onto_vertical(np.einsum("kij,kj->i", R, f)) @ R
    dt = np.diff(times, prepend=times[0])
    twice = [integral(integral(x, dt), dt) for x in felt_accelerations(R, f, dt)]
    lever = R @ np.asarray(sample.dataset.aircraft[0].p_BA_B)
    felt, of_force, of_rates = (at_times(t, times, x) for x in (twice[0] + lever, *twice[1:]))
    powers = powers_of_time((t - t.mean()) / WINDOW, 3)
    return RangeWindow(places, felt, np.concatenate([*powers, of_force, of_rates], axis=2), sigma)


def _spread(p: Array, moment: Ranges) -> Array:
    """Variances (3,) of the place where ranges of a moment meet [m^2]."""
    ways = p - moment.p_W
    ways = ways / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-6)
    return np.asarray(NOISE**2 * np.diag(np.linalg.pinv(ways.T @ ways)))


def _onto_vertical(up: Array) -> Array:
    """The shortest turn (3, 3) of a direction onto the vertical."""
    axis = np.cross(up, UP)
    size = float(np.linalg.norm(axis))
    turn: Array = so3.exp(axis / max(size, 1e-9) * np.arctan2(size, up[2]))
    return turn


def felt_accelerations(R: Array, f: Array, dt: Array) -> tuple[Array, Array, Array]:
    r"""Specific force R f (K, 3), and its derivatives (K, 3, 3) by biases of accelerometer and gyroscope over `BIASES`.

    A bias of rates turns R by :math:`\int R \, b_g`, and the force by that.

    Args:
        R: (K, 3, 3) attitudes.
        f: (K, 3) specific forces in the body's axes [m/s^2].
        dt: (K,) the step before each [s].
    """
    force = np.einsum("kij,kj->ki", R, f)
    tilted = np.cross(integral(R, dt), force[:, :, None], axis=1)
    return force, BIASES[0] * R, BIASES[1] * tilted


def powers_of_time(tau: Array, count: int) -> list[Array]:
    """Derivatives (K, 3, 3) by the coefficients of a polynomial in times (K,), of each power below some."""
    return [np.tile(np.eye(3), (len(tau), 1, 1)) * tau[:, None, None] ** n for n in range(count)]


def integral(x: Array, dt: Array) -> Array:
    """Integral (K, ...) over time of numbers, each of the step before its time."""
    total: Array = np.cumsum(x * dt.reshape(-1, *(1,) * (x.ndim - 1)), axis=0)
    return total


def at_times(t: Array, times: Array, x: Array) -> Array:
    """Numbers (n, ...) at times (K,), interpolated at others."""
    rows = x.reshape(len(x), -1)
    found = np.stack([np.interp(t, times, column) for column in rows.T], axis=1)
    return found.reshape(len(t), *x.shape[1:])


def _left(window: RangeWindow, H: Array) -> float:
    r"""Squares, in deviations, that the motion leaves with a map, at its best heading.

    Places turned by :math:`\psi` are :math:`a + b \cos \psi + c \sin \psi`, so that squares are a form of these.
    """
    with np.errstate(divide="ignore"):
        weights = 1.0 / (np.abs(H) @ np.where(np.isinf(window.sigma), 1e6, window.sigma))
    weights[:2] = np.sqrt(np.mean(weights[:2] ** 2))
    p = window.places @ H.T
    x, y, z = p.T
    zero = np.zeros_like(x)
    parts = [np.stack(each, axis=1) for each in ((zero, zero, z), (x, y, zero), (-y, x, zero))]
    parts[0] = parts[0] - window.felt
    unknown = (weights[:, None] * window.unknown).reshape(-1, window.unknown.shape[2])
    prior = np.diag(np.r_[np.zeros(9), np.ones(6)])
    columns = np.stack([(weights * each).ravel() for each in parts], axis=1)
    columns = np.vstack([columns, np.zeros((len(prior), 3))])
    system = np.vstack([unknown, prior])
    rest = columns - system @ np.linalg.lstsq(system, columns, rcond=None)[0]
    form = rest.T @ rest
    psi = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
    headings = np.stack([np.ones_like(psi), np.cos(psi), np.sin(psi)])
    return float(np.einsum("ik,ij,jk->k", headings, form, headings).min())
