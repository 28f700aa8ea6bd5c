# SPDX-License-Identifier: BSD-3-Clause
"""Flight that excites a rotorcraft: derivatives belong together, and it ends where it began."""

import numpy as np
import pytest

from iap_control.references.excitation import Excitation
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_description.states import REF_A, REF_P, REF_V, REF_W

KEYS = {
    "type": "excitation",
    "position": [1.0, 2.0, 5.0],
    "yaw_deg": 0.0,
    "hover": 2.0,
    "step": 1.0,
    "doublet": 0.4,
    "yaw_doublet_deg": 30.0,
    "acceleration": 2.5,
    "yaw_acceleration": 2.0,
    "frequencies": [0.5, 3.0],
    "sweep": 8.0,
    "length": 8.0,
    "speed": 5.0,
}
DT = 1e-3


def excitation(**changes):
    return validate(Excitation, {**KEYS, **changes}, source="test")


def rows_of(motion):
    return motion.rows(np.arange(0.0, motion.duration, DT))


def test_velocities_and_accelerations_are_the_derivatives_of_the_places():
    rows = rows_of(excitation())
    middle = 0.5 * (rows[1:] + rows[:-1])
    np.testing.assert_allclose(np.diff(rows[:, REF_P], axis=0) / DT, middle[:, REF_V], atol=2e-3)
    np.testing.assert_allclose(np.diff(rows[:, REF_V], axis=0) / DT, middle[:, REF_A], atol=0.05)


def test_it_ends_at_rest_where_it_began_and_moves_along_every_axis():
    rows = rows_of(excitation())
    np.testing.assert_allclose(rows[-1, REF_P], [1.0, 2.0, 5.0], atol=1e-9)
    assert not rows[-1, REF_V].any()
    assert (np.ptp(rows[:, REF_P], axis=0) > 0.5).all()
    assert np.abs(rows[:, REF_W.stop - 1]).max() > 0.5


def test_sweeps_keep_to_their_acceleration_and_lines_to_their_speed():
    motion = excitation()
    rows = rows_of(motion)
    in_sweep = np.arange(len(rows)) * DT < KEYS["hover"] + 2 * KEYS["sweep"]
    assert 2.3 < np.abs(rows[in_sweep][:, REF_A][:, :2]).max() < 3.2
    assert np.abs(rows[:, REF_V][:, :2]).max() == pytest.approx(KEYS["speed"], rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"frequencies": [3.0, 3.0]}, "frequencies"),
        ({"sweep": 1e5}, "sweep"),
        ({"speed": 0.0}, "speed"),
    ],
)
def test_what_is_no_flight_is_refused_by_its_key(changes, key):
    with pytest.raises(BadInput, match=key):
        excitation(**changes)


RISE = 0.6 * 2.0 * np.sqrt(0.4) + 0.3  # of a doublet of 0.4 m [s]
RISE_YAW = 0.6 * 2.0 * np.sqrt(np.pi / 6.0) + 0.3
HILLS = 2.0 + 3 * 8.0  # when the steps begin, behind the pause and three sweeps [s]
LINES = HILLS + 2 * 4.0  # when the straight lines do, each of 2 (3 + 1) s
DOUBLETS = LINES + 2 * 8.0


def test_it_lasts_as_long_as_its_parts():
    last = 2.0 * (3.0 * RISE + 1.0) + 3.0 * RISE_YAW + 1.0 + 4.0
    assert excitation().duration == pytest.approx(DOUBLETS + last + 2.0)


@pytest.mark.parametrize(
    ("t", "column", "value"),
    [
        (HILLS + 0.5, 2, 0.5), (HILLS + 1.0, 2, 1.0), (HILLS + 2.0, 2, 1.0), (HILLS + 2.5, 2, 0.5),
        (HILLS + 3.0, 2, 0.0), (HILLS + 4.0, 2, 0.0), (HILLS + 5.5, 2, 1.0),
        (LINES + 1.5, 0, 4.0), (LINES + 3.0, 0, 8.0), (LINES + 4.0, 0, 8.0), (LINES + 7.0, 0, 0.0),
        (LINES + 8.0 + 1.5, 1, 4.0),
        (DOUBLETS + 0.5 * RISE, 0, 0.2), (DOUBLETS + RISE, 0, 0.4), (DOUBLETS + 1.5 * RISE, 0, 0.0),
        (DOUBLETS + 2.0 * RISE, 0, -0.4), (DOUBLETS + 3.0 * RISE, 0, 0.0),
        (DOUBLETS + 3.0 * RISE + 1.0 + RISE, 1, 0.4),
    ],
)  # fmt: skip
def test_its_parts_are_steps_lines_and_doublets(t, column, value):
    found = excitation().rows(np.array([t, t]))[0, column]
    assert found - KEYS["position"][column] == pytest.approx(value, abs=1e-9)


def test_its_last_doublet_turns_to_each_side():
    begin = DOUBLETS + 2.0 * (3.0 * RISE + 1.0)
    rows = excitation().rows(begin + RISE_YAW * np.array([1.0, 2.0, 3.0]))
    yaws = 2.0 * np.arctan2(rows[:, 5], rows[:, 6])
    np.testing.assert_allclose(yaws, np.pi / 6.0 * np.array([1.0, -1.0, 0.0]), atol=1e-9)


@pytest.mark.parametrize(("t", "window"), [(0.5, 0.5), (3.3, 1.0), (7.5, 0.5)])
def test_a_sweep_is_a_sine_of_rising_frequency_in_a_window_of_a_second(t, window):
    frequency = 0.5 + 2.5 * t / 8.0
    phase = 2.0 * np.pi * (0.5 * t + 0.5 * 2.5 * t * t / 8.0)
    expected = 2.5 * window / (2.0 * np.pi * frequency) ** 2 * np.sin(phase)
    assert excitation().rows(np.array([2.0 + t] * 2))[0, 0] - 1.0 == pytest.approx(expected)
