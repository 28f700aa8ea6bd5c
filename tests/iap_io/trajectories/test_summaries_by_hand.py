# SPDX-License-Identifier: BSD-3-Clause
"""Summaries, wrenches, clocks of two topics, orders of numbers and other readings by words and numbers by hand."""

from dataclasses import replace
from types import SimpleNamespace as Fields

import numpy as np
import pytest
from made_up_samples import NS, samples_of

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories import (
    axes,
    recorded,
    wrenches,
)
from iap_io.trajectories.pose_reading import RecordingSummary, WrenchSummary, counted
from iap_io.trajectories.recorded import RecordedTrajectory, time_offset

NO_TURN = (0.0, 0.0, 0.0, 1.0)


def vector(x, y, z):
    return Fields(x=x, y=y, z=z)


def test_a_summary_has_lines_for_the_user():
    about = RecordingSummary(
        "bag", topic="/p", msgtype="nav_msgs/Odometry", body="cf", others=("/q", "/r"), convention="ned", scale=0.001,
        clock="header", samples=101, duration_s=2.0, speed_max_mps=1.234, bounds_m=((0.0, 1.0), (-2.0, 3.456)),
        axes_evidence="tilts",
    ).noted("one", "two")  # fmt: skip
    assert about.lines() == [
        "read: topic /p (nav_msgs/Odometry); not read: /q, /r",
        "body cf in frame (no name), mounting none",
        "axes NED/FRD, unit mm, as it tilts where it accelerates",
        "clock: header stamps",
        "101 samples in 2.00 s (50.0 Hz), up to 1.23 m/s, x 0.00 to 1.00, y -2.00 to 3.46 m",
        "one", "two",
    ]  # fmt: skip
    assert RecordingSummary("bag").noted("alone").lines() == ["alone"]
    assert about.keys == {
        "topic": "/p",
        "body": "cf",
        "frame": None,
        "convention": "ned",
        "clock": "header",
    }
    assert RecordingSummary("table").keys["clock"] is None
    assert [about.in_units_of(each).notes[2:] for each in (1.0, 0.01, (1.0, 0.01, 2.0))] == [
        (),
        ("positions in units of 0.01 m, as the header says",),
        ("positions in units of 1, 0.01, 2 m, as the header says",),
    ]
    assert (counted(1, "step"), counted(2, "step"), counted(0, "step")) == (
        "1 step",
        "2 steps",
        "0 steps",
    )


def test_wrenches_have_a_line():
    about = WrenchSummary(
        "/w",
        "geometry_msgs/Wrench",
        "",
        "body",
        "enu",
        "fed forward",
        "bag",
        11,
        2.0,
        (12.345, 0.5),
    )
    assert about.line == (
        "wrench: topic /w (geometry_msgs/Wrench), in body axes (frame (no name)), ENU/FLU, by times of reception, 11"
        " samples in 2.00 s (5.0 Hz), up to 12.3 N and 0.5 N m, fed forward"
    )


def test_wrenches_without_numbers_are_left_out_or_refused():
    values = np.ones((40, 6))
    samples = wrenches.WrenchSamples("src", RecordingSummary("bag"), None, np.arange(40), values)
    assert wrenches._usable(samples) is samples
    values[7], values[9] = np.nan, 1e6
    left = wrenches._usable(samples)
    assert len(left.wrenches) == 39 and left.about.notes == (
        "1 sample without a wrench left out, the first is number 7",
    )
    values[[8, 10], 4] = 1.01e6
    with pytest.raises(BadInput, match=r"^src: sample 7: force.x is nan$"):
        wrenches._usable(samples)
    part = Fields(force=vector(1, 2, 3), torque=vector(4, 5, 6))
    assert list(wrenches._numbers(part)) == [1, 2, 3, 4, 5, 6]


def recording(t, start_ns=0, clock="header", delay_ns=0, **keys):
    t = np.asarray(t, dtype=float)
    return RecordedTrajectory(
        t,
        np.zeros((len(t), 3)),
        np.tile(NO_TURN, (len(t), 1)),
        "src",
        clock,
        start_ns,
        delay_ns,
        **keys,
    )


@pytest.mark.parametrize(
    ("delay", "offset", "note"),
    [
        (0.02, 2.0, None),
        (0.021, 2.0, "its header stamps are 0.021 s behind the command's at the same times of reception: --clock bag"
         " compares by these"),
        (-0.05, 2.0, "its header stamps are 0.050 s ahead of the command's at the same times of reception: --clock bag"
         " compares by these"),
        (0.2, 2.2, "its header stamps are 0.200 s behind the command's at the same times of reception: these are used"),
    ],
)  # fmt: skip
def test_two_topics_share_a_clock_by_their_delays(delay, offset, note):
    reference, other = (
        recording([0, 1], 5 * NS, delay_ns=NS),
        recording([0, 1], 7 * NS, delay_ns=NS + round(delay * NS)),
    )
    assert time_offset(reference, other) == (pytest.approx(offset), note)


def test_other_clocks_are_compared_by_reception_and_files_by_their_own():
    bag = recording([0, 1], 8 * NS, clock="bag", delay_ns=0)
    assert time_offset(recording([0, 1], 5 * NS, delay_ns=NS), bag) == (pytest.approx(2.0), None)
    files = [recording([0, 1], k * NS, clock="file", delay_ns=None) for k in (3, 4)]
    assert time_offset(*files) == (pytest.approx(1.0), None)
    assert files[0].duration == 1.0 and not files[0].t.flags.writeable


def test_a_velocity_that_contradicts_the_path_says_by_how_much():
    t = 0.1 * np.arange(31)
    steps = np.tile([0.1, 0.0, 0.0], (30, 1))
    of = recording(t)
    assert recorded._contradiction(of, "linear", None, steps, 0.05) == ""
    for size, agrees in ((1.04, True), (1.06, False), (0.94, False)):
        text = recorded._contradiction(
            of, "linear", np.tile([size, 0.0, 0.0], (31, 1)), steps, 0.05
        )
        assert (text == "") == (agrees or abs(size - 1.0) < 0.2)
    text = recorded._contradiction(of, "linear", np.tile([1.0, 0.5, 0.0], (31, 1)), steps, 0.05)
    assert text == "the linear velocity contradicts the pose (by 0.5, of 1 RMS) and is not used"
    wild = (
        np.tile([1.0, 0.0, 0.0], (31, 1)) + 3.0 * (-1.0) ** np.arange(31)[:, None]
    )  # noise that means even out
    assert recorded._contradiction(of, "linear", wild, steps, 0.05) == ""


def test_orders_of_numbers_and_the_body_of_a_pose():
    q = np.array([0.1, 0.2, 0.3, np.sqrt(0.86)])
    samples = samples_of(np.eye(3), q)
    assert axes.ordered(samples, None) is samples and axes.ordered(samples, "xyzw") is samples
    np.testing.assert_allclose(axes.ordered(samples, "wxyz").q[0], q[[1, 2, 3, 0]])
    back = axes.ordered(axes.ordered(samples, "wxyz"), "xyzw")
    np.testing.assert_allclose(back.q[0], q)
    np.testing.assert_allclose(axes.ordered(samples, "inverse").q[0], so3.conjugate(q))
    inverse = axes.ordered(samples, "inverse-pose")
    assert inverse.about.quaternion == "inverse-pose"
    np.testing.assert_allclose(so3.rotate(inverse.q, samples.p) + inverse.p, 0.0, atol=1e-12)
    named = replace(samples, about=replace(samples.about, body="world", frame="cf"))
    of_body = axes.of_the_body(named)
    assert (of_body.about.body, of_body.about.frame) == ("cf", "world")
    assert of_body.about.notes == ("poses of world in cf: inverted",)
    for body, frame in (("cf", "world"), ("world", "map"), (None, "cf"), ("world", None)):
        same = replace(samples, about=replace(samples.about, body=body, frame=frame))
        assert axes.of_the_body(same) is same
    assert axes.is_fixed("a/World") and not axes.is_fixed("world/cf") and not axes.is_fixed("")
