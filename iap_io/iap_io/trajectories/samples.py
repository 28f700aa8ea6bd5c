# SPDX-License-Identifier: BSD-3-Clause
"""From stamped samples as a file gives them to a `RecordedTrajectory`: checks, frames, order.

What is done with imperfect recordings:

- NaN, infinity, numbers beyond 1e6, a quaternion of length zero and fewer than two samples are
  refused.
- Header stamps count where every message has one (the first may be 0, as simulations start there)
  and the clock did not restart; else the time of reception does, and a warning says so. Stamps
  that step back by up to a second are a network's reordering: they are sorted, with a warning.
  Of samples with one stamp the first stays.
- A gap of up to half a second is interpolated; up to a second too, with a warning. A longer one is
  refused: a vehicle at 1 m/s would be flown along a guess for longer than its controller needs
  to settle, and the score would be that guess's.
"""

import logging
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iap_description import frames
from iap_description.arrays import Array, Integers
from iap_description.config.bounds import MAX_SI_NUMBER
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.recorded import Clock, RecordedTrajectory

Stamps = Integers

_log = logging.getLogger(__name__)

MAX_GAP = 1.0  # [s]
_QUIET_GAP = 0.5  # [s]
_MAX_REORDERING_NS = 1_000_000_000
_ZERO_NORM = 1e-6
_ODD_NORM = 0.01  # float32 and printed quaternions stay well below


@dataclass(frozen=True)
class Samples:
    """Stamped samples in the order of the file.

    Attributes:
        source: file and topic, to name in errors.
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
    header_ns: Stamps | None
    bag_ns: Stamps | None
    p: Array
    q: Array
    v: Array | None = None
    w: Array | None = None
    a: Array | None = None
    alpha: Array | None = None


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
        _log.warning(
            "%s: %d quaternions off unit length were normalised", samples.source, odd.sum()
        )
    return replace(samples, q=samples.q / norms[:, None])


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


def ordered(samples: Samples) -> tuple[Samples, Stamps]:
    """Samples sorted by the clock that can be trusted, one per stamp, and those stamps [ns]."""
    stamps, by_header = _clock(samples)
    if not by_header:
        samples = replace(samples, header_ns=None)
    late = int((np.diff(stamps) < 0).sum())
    if late:
        _log.warning("%s: %d stamps step back; the samples were sorted", samples.source, late)
    _, first = np.unique(stamps, return_index=True)  # sorted, and the first of equal stamps
    if len(first) < len(stamps):
        _log.warning(
            "%s: %d samples repeat a stamp and were dropped",
            samples.source,
            len(stamps) - len(first),
        )
    return _at(samples, first), stamps[first]


def _clock(samples: Samples) -> tuple[Stamps, bool]:
    """The stamps to go by, and whether they are the header stamps."""
    header, bag = samples.header_ns, samples.bag_ns
    if header is None:
        if bag is None:
            raise ValueError(f"{samples.source}: samples without any stamps")
        return bag, False
    if bag is None:
        return header, True
    fault = _header_fault(header)
    if fault is None:
        return header, True
    _log.warning("%s: %s; the times of reception are used", samples.source, fault)
    return bag, False


def _header_fault(header: Stamps) -> str | None:
    """The reason why header stamps cannot be trusted, if so."""
    if (header[1:] <= 0).any() or header[0] < 0:
        return "header stamps are not set"
    if header.max() == header.min():
        return "header stamps are all the same"
    if (np.maximum.accumulate(header) - header).max() > _MAX_REORDERING_NS:
        return "header stamps jump back"
    return None


def _at(samples: Samples, index: NDArray[np.intp]) -> Samples:
    """The samples at these indices."""
    arrays: Any = {n: x[index] for n, x in vars(samples).items() if isinstance(x, np.ndarray)}
    return replace(samples, **arrays)


def to_recorded(
    samples: Samples, stamps: Stamps, *, max_gap: float = MAX_GAP
) -> RecordedTrajectory:
    """Ordered samples as a `RecordedTrajectory`.

    Args:
        samples: in ENU/FLU, in time order.
        stamps: (K,) their stamps, strictly increasing [ns].
        max_gap: longest time without a sample that is accepted [s].

    Raises:
        BadInput: fewer than two samples are left, or there is a longer gap.
    """
    if len(stamps) < 2:
        raise BadInput(f"{samples.source}: all samples have one stamp; a replay needs at least 2")
    t = (stamps - stamps[0]) * 1e-9
    check_gaps(samples.source, t, max_gap)
    clock: Clock = "bag" if samples.header_ns is None else "header"
    return RecordedTrajectory(
        t=t,
        p_WP_W=samples.p,
        q_WP=continuous(samples.q),
        source=samples.source,
        clock="file" if samples.bag_ns is None else clock,
        start_ns=int(stamps[0]),
        bag_start_ns=None if samples.bag_ns is None else int(samples.bag_ns[0]),
        v_WP_W=samples.v,
        w_WP_P=samples.w,
        a_WP_W=samples.a,
        alpha_WP_P=samples.alpha,
    )


def check_gaps(source: str, t: Array, max_gap: float) -> None:
    """Refuse times without a sample that are longer than `max_gap` [s]; warn of long ones."""
    gaps = np.diff(t)
    worst = int(gaps.argmax())
    where = f"no sample for {gaps[worst]:.2f} s after t = {t[worst]:.3f} s"
    if gaps[worst] > max_gap:
        raise BadInput(f"{source}: {where} (at most {max_gap:g} s can be bridged)")
    if gaps[worst] > _QUIET_GAP:
        _log.warning("%s: %s; the command is interpolated there", source, where)


def continuous(q: Array) -> Array:
    """Quaternions (K, 4) with signs chosen such that neighbours lie on one side."""
    steps = np.einsum("ki,ki->k", q[1:], q[:-1])
    return q * np.cumprod(np.concatenate([[1.0], np.where(steps < 0.0, -1.0, 1.0)]))[:, None]
