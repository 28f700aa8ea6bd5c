# SPDX-License-Identifier: BSD-3-Clause
"""Parts of replayed references by hand: tracks raised, recordings levelled, notes on what covers a command."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_control.references import replay, splines
from iap_control.references.timeline_parts import TimelinePart
from iap_control.responders.pose_stream import PoseStream
from iap_description.states import REF_FIXED, Level


@pytest.mark.parametrize(
    ("offset", "duration", "note"),
    [
        (0.0, 10.0, ()),
        (0.0, 9.01, ()),
        (0.5, 20.0, ()),
        (-5.0, 14.5, ()),
        (0.0, 8.99, ("0.00 to 8.99",)),
        (2.0, 20.0, ("2.00 to 10.00",)),
        (-5.0, 6.0, ("0.00 to 1.00",)),
    ],
)
def test_a_flight_that_covers_less_than_nine_tenths_of_its_command_is_noted(
    offset, duration, note
):
    command, actual = SimpleNamespace(duration=10.0), SimpleNamespace(duration=duration)
    found = replay._uncovered(command, actual, offset)
    expected = [
        f"it was recorded from {part} s of the command's 10.00 s: errors against it are of that part"
        for part in note
    ]
    assert list(found) == expected


def test_stamps_of_a_recording_change_with_its_files_and_with_times_beside_it(tmp_path):
    one = tmp_path / "poses.txt"
    one.write_text("12345")
    (before,) = replay._stamps(one)
    assert before == (one.stat().st_mtime_ns, 5)
    (tmp_path / replay.TIMES).write_text("1234567")
    assert [size for _, size in replay._stamps(one)] == [5, 7]
    assert sorted(size for _, size in replay._stamps(tmp_path)) == [5, 7]
    one.write_text("123456789")
    assert [size for _, size in replay._stamps(one)] == [9, 7]


def test_a_raised_track_is_higher_and_nothing_else():
    poses = np.arange(21.0).reshape(3, 7)
    track = replay.Track(np.array([0.0, 0.5, 2.0]), poses)
    raised = replay._raised_track(track, 1.5)
    assert raised.t is track.t
    np.testing.assert_array_equal(raised.poses - poses, [[0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0]] * 3)
    assert replay._raised_track(None, 1.5) is None


def test_rows_of_a_part_are_made_of_its_own_instants_alone():
    asked = []

    def made(k):
        asked.append(k.tolist())
        return np.repeat(k[:, None], REF_FIXED, axis=1)

    part = TimelinePart(5, made)
    assert part.level == Level.POSE
    assert part.rows(2, 5)[:, 3].tolist() == [2.0, 3.0, 4.0]
    assert part.rows(4, 5)[:, 0].tolist() == [4.0] and part.row(0)[7] == 0.0
    assert part.rows(3, 3).shape == (0, REF_FIXED)
    assert asked[:3] == [[2.0, 3.0, 4.0], [4.0, 4.0], [0.0, 0.0]]


@pytest.mark.parametrize("power", range(6))
def test_the_quadrature_is_exact_for_powers_up_to_the_fifth(power):
    total = splines._GAUSS_WEIGHTS @ splines._GAUSS_NODES**power
    assert total == pytest.approx(1.0 / (power + 1), rel=1e-12)


def test_basis_functions_add_up_to_one_and_their_derivatives_to_nothing():
    u = np.linspace(0.0, 1.0, 5)
    for derivative, table in enumerate(splines._BASIS):
        total = sum(u**k * row.sum() for k, row in enumerate(table))
        np.testing.assert_allclose(total, 0.0 if derivative else 1.0, atol=1e-9)


def test_a_stream_rests_once_a_pose_is_overdue_and_not_before():
    stream = PoseStream(0.5)
    stream.rest_if_overdue(100.0)
    assert stream.track is None
    for t in (0.0, 0.1):
        stream.take(t, 1.0 + t, np.array([t, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]))
    end = stream.track.end
    stream.rest_if_overdue(end)
    assert not stream.track.is_resting
    stream.rest_if_overdue(end + 1e-6)
    assert stream.track.is_resting
    resting = stream.track
    stream.rest_if_overdue(end + 1.0)
    assert stream.track is resting
