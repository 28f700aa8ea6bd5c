# SPDX-License-Identifier: BSD-3-Clause
"""A part of a pose that stands still while the rest moves on is noted with time and place; set-points may rest."""

from pathlib import Path

import numpy as np
import pytest
from made_up_samples import NOTHING_SAID, samples_of, stamps_of

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories.leaps import without_leaps
from iap_io.trajectories.reader import read_recorded
from iap_io.trajectories.still_channels import with_still_parts, woven_by

LOST = 7.5  # [s]


def flight(rate: float, noise: float = 0.0) -> tuple[Array, Array, Array]:
    """Times, positions and attitudes of 20 s along sines."""
    rng, t = np.random.default_rng(4), np.arange(0.0, 20.0, 1.0 / rate)
    p = [1.0, 0.8, 0.4] * np.sin(np.outer(t, [0.9, 0.7, 1.1]) + [0.3, 1.2, 0.2]) + [0.0, 0.0, 1.5]
    angles = [0.2, 0.15, 0.5] * np.sin(np.outer(t, [1.1, 0.8, 0.5]))
    angles += noise * rng.normal(size=angles.shape)
    q = so3.quaternion_from_matrix(so3.matrix_from_euler(angles))
    return t, p + noise * rng.normal(size=p.shape), q


def notes_of(t: Array, p: Array, q: Array) -> tuple[str, ...]:
    return with_still_parts(samples_of(p, q), stamps_of(t)).about.notes


@pytest.mark.parametrize("rate", [20.0, 100.0, 240.0])
@pytest.mark.parametrize("noise", [0.0, 1e-3])
@pytest.mark.parametrize("part", ["x", "y", "z", "position", "attitude", "heading"])
def test_a_lost_part_is_noted_with_time_and_place(rate: float, noise: float, part: str) -> None:
    t, p, q = flight(rate, noise)
    k = round(LOST * rate)
    if part in tuple("xyz"):
        i = "xyz".index(part)
        p[k:, i] = p[k, i]
    elif part == "position":
        p[k:] = p[k]
    elif part == "attitude":
        q[k:] = q[k]
    else:
        angles = so3.euler_from_matrix(so3.matrix_from_quaternion(q))
        angles[k:, 2] = angles[k, 2]
        q = so3.quaternion_from_matrix(so3.matrix_from_euler(angles))
    (note,) = notes_of(t, p, q)
    place = f" at {p[k, 'xyz'.index(part)]:.3f} m" if part in tuple("xyz") else ""
    assert note.startswith(f"its {part} stands still{place} from t = {LOST:.3f} to {t[-1]:.3f} s")
    assert f"--to {LOST:.3f} cuts it off" in note


def test_a_part_that_is_found_again_is_noted_with_both_ends() -> None:
    t, p, q = flight(50.0, 1e-3)
    p[300:380, 1] = p[300, 1]
    (note,) = notes_of(t, p, q)
    assert "its y stands still" in note and "--to 6.000 or --from 7.580 cuts it off" in note


def test_rounded_numbers_at_a_high_rate_hide_nothing() -> None:
    t, p, q = flight(240.0)
    p = np.round(p, 3)
    p[1560:, 0] = p[1560, 0]
    assert "its x stands still" in notes_of(t, p, q)[0]


@pytest.mark.parametrize("rate", [30.0, 100.0])
@pytest.mark.parametrize("digits", [3, 4, 9])
def test_a_heading_in_coarse_quaternions_is_lost_though_rounding_turns_it(
    rate: float, digits: int
) -> None:
    """Roll and pitch go on, so that the heading of rounded numbers shakes where it stands still."""
    t, p, q = flight(rate)
    angles = so3.euler_from_matrix(so3.matrix_from_quaternion(q))
    angles[:, 2] = 0.8 * np.sin(0.6 * (t - LOST))
    k = round(LOST * rate)
    for is_lost in (False, True):
        angles[k:, 2] = angles[k, 2] if is_lost else angles[k:, 2]
        turned = np.round(so3.quaternion_from_matrix(so3.matrix_from_euler(angles)), digits)
        notes = notes_of(t, p, so3.normalized(turned))
        assert len(notes) == is_lost
        assert all(f"its heading stands still from t = {LOST:.2f}" in each for each in notes)


def minimum_jerk(t: Array, begin: float, end: float) -> Array:
    s = np.clip((t - begin) / (end - begin), 0.0, 1.0)
    return np.asarray(10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5)


@pytest.mark.parametrize("rate", [10.0, 50.0, 250.0])
@pytest.mark.parametrize("digits", [9, 4, 3])
def test_set_points_rest_one_by_one(rate: float, digits: int) -> None:
    """Smooth legs one after the other, straight lines with corners, and a climb before a circle."""
    t = np.arange(0.0, 30.0, 1.0 / rate)
    zero, half = 0.0 * t, 0.25 * minimum_jerk(t, 3.0, 9.0)
    legs = [
        2.0 * minimum_jerk(t, 0.0, 5.0),
        2.0 * minimum_jerk(t, 6.0, 11.0),
        1.0 + minimum_jerk(t, 18.0, 22.0),
    ]
    corners = np.array([[0, 0, 1], [2, 0, 1], [2, 2, 1], [2, 2, 2], [0, 0, 2]], dtype=float)
    lines = [np.interp(t, [0.0, 5.0, 10.0, 14.0, 20.0], corners[:, i]) for i in range(3)]
    angle = 0.8 * np.maximum(t - 5.0, 0.0)
    circle = [np.cos(angle), np.sin(angle), 1.5 * minimum_jerk(t, 0.0, 4.0)]
    q = np.round(np.stack([zero, zero, np.sin(half), np.cos(half)], axis=1), max(digits, 4))
    for axes in (legs, lines, circle):
        assert not notes_of(t, np.round(np.stack(axes, axis=1), digits), q)


def test_an_axis_of_one_number_beside_others_that_shake_was_not_measured() -> None:
    t, p, q = flight(50.0, 1e-3)
    p[:, 2] = 0.0
    (note,) = notes_of(t, p, q)
    assert note.startswith("its z is 0.000 m in every sample, while x and y shake")
    t, p, q = flight(50.0)  # set-points at one height
    p[:, 2] = 1.5
    assert not notes_of(t, p, q)


@pytest.mark.parametrize("apart", [0.004, 0.012])
def test_two_ways_that_samples_take_in_turns_are_noted_with_their_distance(apart: float) -> None:
    t, p, q = flight(50.0)
    woven = p + np.outer(np.arange(len(t)) % 2, [0.0, apart, 0.0])
    samples, _ = without_leaps(samples_of(woven, q), stamps_of(t), NOTHING_SAID, follows=True)
    (note,) = samples.about.notes
    assert f"every other sample is {apart:.3f} m off the ones between" in note
    for noise in (0.0, 1e-3, 1e-2):
        shaken = flight(50.0, noise)[1]
        assert woven_by(shaken) == 0.0
    assert woven_by(p[:12]) == 0.0


@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_a_flight_that_is_seen_all_along_has_no_note(noise: float) -> None:
    for rate in (20.0, 100.0):
        assert not notes_of(*flight(rate, noise))


def test_a_leap_behind_a_lost_axis_is_refused_with_its_cause(tmp_path: Path) -> None:
    t, p, q = flight(100.0)
    p[700:1100, 0] = p[700, 0]
    path = tmp_path / "lost.tum"
    np.savetxt(path, np.column_stack([1.7e9 + t, p, q]), fmt="%.9f")
    with pytest.raises(BadInput, match=r"the samples leap.*noted before: its x stands still at"):
        read_recorded(path)
