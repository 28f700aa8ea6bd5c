# SPDX-License-Identifier: BSD-3-Clause
"""Recorded tracks are paths in time, or refused; of objects the last state counts."""

import numpy as np
import pytest

from iap_io.runs import object_track
from iap_io.runs.object_track import ObjectTrack
from iap_io.runs.run_reader import _rows

HEADER = [("stamp", [("sec", "<i4"), ("nanosec", "<u4")])]


def records(stamps, rows):
    """Records of poses at stamps (seconds, nanoseconds)."""
    out = np.zeros(len(stamps), [("header", HEADER), ("pose", "<f4", 7)])
    for one, (sec, nanosec), row in zip(out, stamps, rows, strict=True):
        one["header"]["stamp"]["sec"], one["header"]["stamp"]["nanosec"] = sec, nanosec
        one["pose"] = row
    return out


def test_rows_have_the_times_of_their_stamps():
    t, rows = _rows(records([(1, 5 * 10**8), (2, 0)], [np.arange(7), np.full(7, 1e6)]), "pose")
    np.testing.assert_allclose(t, [1.5, 2.0])
    np.testing.assert_array_equal(rows, [np.arange(7), np.full(7, 1e6)])
    assert rows.dtype == np.float64


@pytest.mark.parametrize(
    ("stamps", "value"),
    [
        ([(1, 0), (2, 0)], np.nan),
        ([(1, 0), (2, 0)], 1.01e6),
        ([(1, 0), (2, 0)], -np.inf),
        ([(2, 0), (1, 0)], 1.0),
        ([(1, 0), (1, 0)], 1.0),
    ],
    ids=["no number", "beyond all bounds", "endless", "backwards", "twice"],
)
def test_what_is_no_path_in_time_is_refused(stamps, value):
    with pytest.raises(ValueError, match="^a recorded command or flight is no path in time$"):
        _rows(records(stamps, [np.ones(7), np.full(7, value)]), "pose")


def states(monkeypatch, stamps, value=1.0):
    """The track of two objects by messages whose last number is a value."""
    out = np.zeros(
        len(stamps), [("header", HEADER), ("poses", "<f8", (2, 7)), ("twists", "<f8", (2, 6))]
    )
    out["header"]["stamp"]["sec"] = stamps
    out["poses"][:, 1, 0], out["twists"][-1, 1, 5] = 3.0, value
    monkeypatch.setattr(object_track, "records_of", lambda kind, messages: out)
    return ObjectTrack.of_messages(["box", "ball"], [])


def test_states_of_objects_are_poses_before_twists(monkeypatch):
    track = states(monkeypatch, [1, 2])
    assert track.names == ("box", "ball") and track.t.tolist() == [1.0, 2.0]
    assert track.rows.shape == (2, 2, 13)
    assert (track.rows[1, 1, 0], track.rows[1, 1, 12]) == (3.0, 1.0)


@pytest.mark.parametrize(
    ("stamps", "value"), [([1, 2], np.nan), ([1, 2], -1.01e6), ([2, 1], 1.0), ([1, 1], 1.0)]
)
def test_states_of_objects_that_are_no_path_in_time_are_refused(monkeypatch, stamps, value):
    with pytest.raises(ValueError, match="^objects: their states are no path in time$"):
        states(monkeypatch, stamps, value)


def test_states_of_another_number_of_objects_are_refused(monkeypatch):
    states(monkeypatch, [1, 2])
    with pytest.raises(ValueError, match="^objects: 2 were recorded, the run has 3$"):
        ObjectTrack.of_messages(["a", "b", "c"], [])


def test_objects_stay_in_their_last_state_and_begin_with_the_first():
    track = ObjectTrack(("box",), np.array([1.0, 2.0, 3.0]), np.arange(39.0).reshape(3, 1, 13))
    for t, k in ((0.0, 0), (1.0, 0), (1.999, 0), (2.0 - 5e-7, 1), (2.0, 1), (9.0, 2)):
        np.testing.assert_array_equal(track.at(t), track.rows[k])
