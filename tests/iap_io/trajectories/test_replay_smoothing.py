# SPDX-License-Identifier: BSD-3-Clause
"""The smooth copy of a command: close to it, with derivatives that are true and clean."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flight_bags import Motion, motion
from numpy.typing import NDArray
from pydantic import ValidationError

from iap_control.references.motions import Replay
from iap_control.references.replay import commanded, smoothed
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.states import REF_A, REF_ALPHA, REF_P, REF_Q, REF_V, REF_W
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.recorded import RecordedTrajectory
from iap_io.trajectories.tum import tum_text

Array = NDArray[np.float64]

GRID = np.arange(0.5, 9.4, 0.005)  # away from the ends, where there are samples on one side only


def smoothed_rows(recorded: RecordedTrajectory, t: Array) -> Array:
    """The smooth copy at times (T,) [s], with the cut-off that the bounds below are for."""
    return smoothed(recorded, cutoff_hz=4.0)(t)


def recording(m: Motion, noise: float = 0.0, *, carries: bool = False) -> RecordedTrajectory:
    """The motion at its samples, with noise in position [m] and attitude [rad]."""
    random = np.random.default_rng(7)
    p = m.p + random.normal(0.0, noise, m.p.shape) if noise else m.p
    turn = so3.quaternion_exp(random.normal(0.0, noise, m.p.shape)) if noise else None
    q = m.q if turn is None else so3.multiply(m.q, turn)
    flips = np.sign(np.einsum("ki,ki->k", q[1:], q[:-1]))
    q = q * np.cumprod(np.concatenate([[1.0], flips]))[:, None]
    derivatives = (m.v, m.w, m.a, m.alpha) if carries else (None,) * 4
    return RecordedTrajectory(m.t, p, q, "motion", "header", 0, None, *derivatives)


def rms(vectors: Array) -> float:
    """Length, root mean square."""
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1))))


def angles(q: Array, r: Array) -> Array:
    """Rotation vectors between attitudes [rad]."""
    return so3.quaternion_log(so3.multiply(so3.conjugate(q), r))


def errors(rows: Array, m: Motion) -> tuple[float, ...]:
    """RMS errors of p [m], q [rad], v [m/s], w [rad/s], a [m/s^2], alpha [rad/s^2]."""
    return (
        rms(rows[:, REF_P] - m.p),
        rms(angles(rows[:, REF_Q], m.q)),
        rms(rows[:, REF_V] - m.v),
        rms(rows[:, REF_W] - m.w),
        rms(rows[:, REF_A] - m.a),
        rms(rows[:, REF_ALPHA] - m.alpha),
    )


def test_clean_samples_give_the_derivatives_of_the_motion(flight: Motion) -> None:
    found = errors(smoothed_rows(recording(flight), GRID), motion(GRID))
    assert np.less(found, (1e-5, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3)).all(), found


def test_millimetres_of_noise_leave_a_clean_acceleration(flight: Motion) -> None:
    found = errors(smoothed_rows(recording(flight, noise=0.001), GRID), motion(GRID))
    # Noise s per axis at rate r leaves sqrt(3) s sqrt(2 / r integral (2 pi f)^(2d) H^2 df) in the
    # derivative d: for s = 1 mm at 40 Hz and H = 1 / (1 + (f / 4 Hz)^6) these values.
    expected = np.repeat([0.724e-3, 9.96e-3, 0.204], 2)
    np.testing.assert_allclose(found, expected, rtol=0.15)


def test_carried_derivatives_make_the_copy_better(flight: Motion) -> None:
    noisy = recording(flight, noise=0.001, carries=True)
    plain = errors(smoothed_rows(recording(flight, noise=0.001), GRID), motion(GRID))
    found = errors(smoothed_rows(noisy, GRID), motion(GRID))
    assert np.less(found, plain).all(), (found, plain)
    assert found[4] < 0.7 * plain[4]


@pytest.mark.parametrize("carries", [False, True])
def test_rows_are_derivatives_of_each_other(flight: Motion, carries: bool) -> None:
    recorded, h = recording(flight, noise=0.002, carries=carries), 1e-4
    before, rows, after = (smoothed_rows(recorded, GRID + shift) for shift in (-h, 0.0, h))

    def slope(part: slice) -> Array:
        return (after[:, part] - before[:, part]) / (2.0 * h)

    np.testing.assert_allclose(rows[:, REF_V], slope(REF_P), atol=1e-5)
    np.testing.assert_allclose(rows[:, REF_A], slope(REF_V), atol=1e-4)
    np.testing.assert_allclose(rows[:, REF_ALPHA], slope(REF_W), atol=1e-4)
    turned = angles(before[:, REF_Q], after[:, REF_Q]) / (2.0 * h)
    np.testing.assert_allclose(rows[:, REF_W], turned, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(rows[:, REF_Q], axis=1), 1.0, atol=1e-12)


def test_body_rate_agrees_with_the_right_jacobian(flight: Motion) -> None:
    recorded, h = recording(flight, noise=0.002), 1e-5
    base = smoothed_rows(recorded, GRID[:1])[0, REF_Q]
    near = GRID[:200]  # the rotation vector from the first attitude stays well below pi

    def phi(t: Array) -> Array:
        return angles(np.broadcast_to(base, (len(t), 4)), smoothed_rows(recorded, t)[:, REF_Q])

    phi_dot = (phi(near + h) - phi(near - h)) / (2.0 * h)
    w = np.einsum("kij,kj->ki", so3.right_jacobian(phi(near)), phi_dot)
    np.testing.assert_allclose(smoothed_rows(recorded, near)[:, REF_W], w, atol=1e-5)


def test_result_does_not_depend_on_the_frames(flight: Motion) -> None:
    recorded = recording(flight, noise=0.002)
    turn_W, turn_P = so3.quaternion_exp(np.array([[1.0, -2.0, 0.5], [0.3, 0.2, 2.0]]))
    turned = replace(
        recorded,
        p_WP_W=so3.rotate(turn_W, recorded.p_WP_W),
        q_WP=so3.multiply(so3.multiply(turn_W, recorded.q_WP), turn_P),
    )
    rows, other = smoothed_rows(recorded, GRID), smoothed_rows(turned, GRID)
    np.testing.assert_allclose(other[:, REF_A], so3.rotate(turn_W, rows[:, REF_A]), atol=1e-9)
    expected = so3.multiply(so3.multiply(turn_W, rows[:, REF_Q]), turn_P)
    np.testing.assert_allclose(angles(expected, other[:, REF_Q]), 0.0, atol=1e-9)
    back = so3.conjugate(turn_P)
    np.testing.assert_allclose(other[:, REF_W], so3.rotate(back, rows[:, REF_W]), atol=1e-9)
    np.testing.assert_allclose(
        other[:, REF_ALPHA], so3.rotate(back, rows[:, REF_ALPHA]), atol=1e-7
    )


def test_constant_rate_is_kept_over_many_turns() -> None:
    t = np.arange(0.0, 20.0, 0.025)
    rate = np.array([1.0, -2.0, 3.0])
    q = so3.quaternion_exp(rate * t[:, None])
    recorded = recording(motion(t))
    recorded = recording(Motion(t, recorded.p_WP_W, q, *(np.zeros((len(t), 3)),) * 4))
    rows = smoothed_rows(recorded, GRID)
    np.testing.assert_allclose(rows[:, REF_W], np.broadcast_to(rate, (len(GRID), 3)), atol=5e-5)
    np.testing.assert_allclose(rows[:, REF_ALPHA], 0.0, atol=1e-3)


@pytest.mark.parametrize("carries", [False, True])
def test_ends_are_held_at_rest(flight: Motion, carries: bool) -> None:
    recorded = recording(flight, carries=carries)
    rows = smoothed_rows(
        recorded, np.array([-1.0, 0.0, recorded.duration, recorded.duration + 1.0])
    )
    np.testing.assert_allclose(rows[0, :7], rows[1, :7])
    np.testing.assert_allclose(rows[3, :7], rows[2, :7])
    np.testing.assert_array_equal(rows[[0, 3], 7:], 0.0)
    assert np.abs(rows[[1, 2], 7:]).max() > 0.1


def test_two_samples_are_enough() -> None:
    rows = smoothed_rows(recording(motion(np.array([0.0, 0.02]))), np.linspace(0.0, 0.02, 5))
    assert np.isfinite(rows).all()
    assert np.abs(rows[:, REF_A]).max() < 1.0


@pytest.mark.parametrize(("speed", "refused"), [(3.0, False), (14.0, True)])
def test_circles_that_no_smooth_copy_follows_are_refused(
    tmp_path: Path, speed: float, refused: bool
) -> None:
    """At 14 m/s on 2 m the lowest cut-off leaves no circle."""
    t = np.arange(0.0, 6.0, 0.02)
    angle, zero = 0.5 * speed * t, 0.0 * t
    p = np.stack(
        [2.0 * np.cos(angle), 2.0 * np.sin(angle), zero + 2.0, zero, zero, zero, zero + 1.0]
    )
    path = tmp_path / "circle.tum"
    path.write_text(tum_text(t, p.T))
    replay = Replay(type="replay", path=str(path))
    if refused:
        with pytest.raises(
            BadInput, match=r"its copy is 2.* m off at .*--max-speed .*--scale .*--smooth"
        ):
            commanded(replay)
    else:
        assert commanded(replay).duration == pytest.approx(5.98)


def test_a_copy_that_does_not_fit_into_memory_is_refused_before_it_is_made(tmp_path: Path) -> None:
    """Of an hour at 100 Hz the knots and what stands on them take 1.6 GiB."""
    t = np.arange(0.0, 3600.0, 0.5)
    level = np.tile([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], (len(t), 1))
    path = tmp_path / "hour.tum"
    path.write_text(tum_text(t, level))
    with pytest.raises(BadInput, match=r"key 'smooth': takes 16\d\d MiB"):
        commanded(Replay(type="replay", path=str(path), smooth=100.0))


@pytest.mark.parametrize("cutoff", [0.0, 0.009, 1001.0, np.nan])
def test_a_cut_off_beyond_those_of_motions_is_refused(cutoff: float) -> None:
    with pytest.raises(ValidationError, match="smooth"):
        PoseReading(smooth=cutoff)


def test_unless_asked_otherwise_a_motion_at_two_hertz_keeps_half_of_its_amplitude() -> None:
    t = np.arange(0.0, 10.0, 0.02)
    place = np.column_stack([0.1 * np.sin(4.0 * np.pi * t), 0.0 * t, 1.0 + 0.0 * t])
    level = np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1))
    recorded = RecordedTrajectory(t, place, level, "motion", "header", 0, None, *(None,) * 4)
    middle = (t > 3.0) & (t < 7.0)
    kept = smoothed(recorded)(t)[middle, REF_P]
    np.testing.assert_allclose(kept[:, 0], 0.5 * place[middle, 0], atol=2e-3)
