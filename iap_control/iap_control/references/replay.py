# SPDX-License-Identifier: BSD-3-Clause
r"""A recorded command made ready to fly: its smooth copy to track, itself to score.

Position and attitude are smoothed by `splines` with one cut-off frequency, forwards and backwards
in time at once: there is no lag. Attitude is smoothed as the four numbers of its quaternion,
sign-continuous, then scaled to unit length: rotations of either frame act on quaternions as
rotations of R^4, so the result does not depend on the frames, turns any number of times, and keeps
a constant rate exactly. With :math:`q = s / |s|`,

.. math:: (\omega_P, 0) = 2\, q^* \otimes \dot q, \; (\alpha_P, \cdot) = 2\, q^* \otimes \ddot q,

which are the derivatives of the attitude that is given out, not of another one (tested against the
right Jacobian).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from iap_control.references import splines
from iap_control.references.motions import Replay
from iap_description.arrays import Array
from iap_description.earth import GRAVITY
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_FIXED, REF_P, REF_Q, REF_V, REF_W
from iap_io.runs.run_meta import Track
from iap_io.trajectories.headings import with_heading_alone
from iap_io.trajectories.pose_reading import PoseReading, RecordingSummary
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.recorded import RecordedTrajectory, time_offset

# On two hand-flown flights with up to 11 and 29 deg of tilt this hides 0.6 and 1.1 mm RMS. A higher
# cut-off hides less (0.2 mm at 4 Hz) but lets through accelerations that a heavy platform cannot
# follow within its thrust.
CUTOFF_HZ = 2.0
CUTOFFS_HZ = (
    CUTOFF_HZ,
    1.4,
    1.0,
    0.7,
    0.5,
    0.35,
)  # that are tried for a command that turns too fast
MAX_TURNING = math.radians(350.0)  # of thrust [rad/s]; flights of data sets come to 300
MAX_STEP_TURNING = math.radians(90.0)  # the same where set-points step [rad/s]
HEADING_ALONE = (
    "it tilts beyond a right angle, which the platform does not follow: its heading goes on"
)
_CHECKED = 0.01  # between the times at which it is looked at [s]


@dataclass(frozen=True)
class RecordedCommand:
    """A recorded command, on the time since its first sample.

    Attributes:
        rows: the rows (T, 19) to track at times (T,), a smooth copy.
        duration: [s].
        given: the command as recorded.
        actual: what the real aircraft did, if it was asked for.
        source: file and topic.
        about: what they were read as.
    """

    rows: Callable[[Array], Array]
    duration: float
    given: Track
    actual: Track | None
    source: str
    about: RecordingSummary


def commanded(replay: Replay) -> RecordedCommand:
    """Read a replay's recordings, once for as long as its file does not change.

    Raises:
        BadInput: they cannot be used.
    """
    path = Path(replay.path)
    stamp = path.stat().st_mtime_ns if path.exists() else 0
    return _commanded(replay, stamp)


@lru_cache(maxsize=4)
def _commanded(replay: Replay, _: int) -> RecordedCommand:
    reading = PoseReading(**{key: getattr(replay, key) for key in PoseReading.model_fields})
    command = read_recorded(replay.path, reading)
    about, actual = command.about, None
    if replay.actual_topic is not None:
        actual, notes = _actual(replay, reading, command)
        about = about.noted(*notes)
    if replay.attitude == "heading":
        command, about = with_heading_alone(command), about.noted(HEADING_ALONE)
    if replay.attitude == "level":
        command, about = _level(command), about.noted("its attitudes do not count: level")
    if replay.lift:
        command, actual = _raised(command, replay.lift), _raised_track(actual, replay.lift)
        about = about.noted(f"it starts on the ground: raised by {replay.lift:.2f} m")
    rows, notes = _followable(command, replay.smooth, steps=replay.max_speed is not None)
    about, track = about.noted(*notes), _track(command, 0.0)
    return RecordedCommand(rows, command.duration, track, actual, command.source, about)


def _level(recorded: RecordedTrajectory) -> RecordedTrajectory:
    """The recording level and without yaw."""
    q = np.tile([0.0, 0.0, 0.0, 1.0], (len(recorded.t), 1))
    return replace(recorded, q_WP=q, w_WP_P=None, alpha_WP_P=None)


def _raised(recorded: RecordedTrajectory, height: float) -> RecordedTrajectory:
    """The recording higher up [m]."""
    return replace(recorded, p_WP_W=recorded.p_WP_W + [0.0, 0.0, height])


def _raised_track(track: Track | None, height: float) -> Track | None:
    """The track higher up [m]."""
    return None if track is None else Track(track.t, track.poses + np.eye(7)[2] * height)


def _actual(
    replay: Replay, reading: PoseReading, command: RecordedTrajectory
) -> tuple[Track, tuple[str, ...]]:
    """Motion of the real aircraft on the command's time, and remarks on it.

    Raises:
        BadInput: it was not at the command's times.
    """
    keys = {"topic": replay.actual_topic, "bridge": math.inf}
    keys |= dict.fromkeys(("body", "frame", "clock", "begin", "end", "max_speed"))
    changed = reading.model_copy(update=keys)
    actual = read_recorded(replay.path, changed, follows=False)
    offset, note = time_offset(command, actual)
    if not -actual.duration < offset < command.duration:
        raise BadInput(
            f"{actual.source}: from {offset:.3f} to {offset + actual.duration:.3f} s of the command, which lasts"
            f" {command.duration:.3f} s: they do not overlap"
        )
    notes = (*((note,) if note else ()), *actual.about.notes)
    return _track(actual, offset), tuple(f"{replay.actual_topic}: {each}" for each in notes)


def _followable(
    command: RecordedTrajectory, cutoff_hz: float | None, *, steps: bool
) -> tuple[Callable[[Array], Array], tuple[str, ...]]:
    """A command's smooth copy that a vehicle can follow, and a note where that is smoother than usual.

    Thrust has to turn with the acceleration that is asked for. Steps of set-points turn it faster than aircraft turn,
    so that they are smoothed at lower cut-off frequencies.

    Args:
        command: as recorded.
        cutoff_hz: that is asked for; None tries `CUTOFFS_HZ`.
        steps: whether it is known to be of set-points that step.

    Raises:
        BadInput: none is low enough, naming where it asks for most.
    """
    for cutoff in CUTOFFS_HZ if cutoff_hz is None else (cutoff_hz,):
        rows = smoothed(command, cutoff_hz=cutoff)
        t = np.arange(0.0, command.duration, _CHECKED)
        a = rows(t)[:, REF_A]
        turning = thrust_rate(a, _CHECKED)
        most = MAX_TURNING if cutoff == CUTOFF_HZ and not steps else MAX_STEP_TURNING
        if cutoff == cutoff_hz or turning <= most:
            break
    else:
        worst = int(np.argmax(np.linalg.norm(a, axis=1)))
        raise BadInput(
            f"{command.source}: asks for {np.linalg.norm(a[worst]):.0f} m/s^2 at t = {t[worst]:.3f} s even"
            f" smoothed: are the"
            " set-points too far apart (--max-speed V follows them at V m/s), or is the unit another (--scale)? --from"
            " and --to cut it out"
        )
    if cutoff in (cutoff_hz, CUTOFF_HZ):
        return rows, ()
    off = np.linalg.norm(rows(command.t)[:, REF_P] - command.p_WP_W, axis=1).max()
    return rows, (
        f"smoothed at {cutoff:g} Hz instead of {CUTOFF_HZ:g}, up to {off:.2f} m off, since it turns faster than"
        f" a vehicle"
        " (--smooth HZ)",
    )


def thrust_rate(a_W: Array, dt: float) -> float:
    """The fastest turning [rad/s] of the thrust that accelerations (T, 3) ask for, [m/s^2] and `dt` [s] apart."""
    u = a_W + [0.0, 0.0, GRAVITY]
    u /= np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-9)
    return float(np.linalg.norm(np.diff(u, axis=0), axis=1).max(initial=0.0)) / dt


def _track(recorded: RecordedTrajectory, offset: float) -> Track:
    return Track(recorded.t + offset, np.hstack([recorded.p_WP_W, recorded.q_WP]))


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
