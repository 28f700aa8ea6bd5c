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
