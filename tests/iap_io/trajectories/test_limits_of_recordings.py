# SPDX-License-Identifier: BSD-3-Clause
"""Limits of what a recording of poses may have, each met from both sides: leaps, units, axes, numbers, attitudes."""

import numpy as np
import pytest
from made_up_samples import NOTHING_SAID, T, samples_of, stamps_of

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_io.trajectories import axes, leaps, length_units
from iap_io.trajectories.headings import headings, largest_tilt
from iap_io.trajectories.points import slerp
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.poses import named_convention
from iap_io.trajectories.samples import MAX_PLACE, checked


@pytest.mark.parametrize(("speed", "refused"), [(24.9, False), (25.1, True)])
def test_a_usual_speed_above_25_m_s_is_another_unit(speed: float, refused: bool) -> None:
    samples = samples_of(np.outer(speed * T, [0.6, 0.8, 0.0]))
    if not refused:
        length_units.check_unit(samples, stamps_of(T))
        return
    with pytest.raises(BadInput, match=r"in mm or cm \(--scale 0.001, --scale 0.01\)"):
        length_units.check_unit(samples, stamps_of(T))


def test_metres_in_mm_are_named_alone_and_little_motion_is_none() -> None:
    with pytest.raises(BadInput, match=r"in mm \(--scale 0.001\)"):
        length_units.check_unit(samples_of(np.outer(510.0 * T, [0.6, 0.8, 0.0])), stamps_of(T))
    shaken = np.where(np.arange(len(T)) % 10 < 5, 0.0, 0.149)  # 3 m/s on the usual
    length_units.check_unit(samples_of(np.outer(shaken, [1.0, 0.0, 0.0])), stamps_of(T * 0.01))


@pytest.mark.parametrize(
    ("slow", "fast", "scale", "refused"),
    [
        (1.0, 12.1, 1.0, True),
        (1.0, 11.9, 1.0, False),
        (1.3, 12.1, 1.0, False),  # more than a tenth
        (0.04, 12.1, 1.0, False),  # the others hardly move
        (1.0, 12.1, 0.5, False),  # the unit is given
    ],
)
def test_one_axis_alone_may_have_another_unit(
    slow: float, fast: float, scale: float, refused: bool
) -> None:
    samples = samples_of(np.stack([slow * T, 0.0 * T, fast * T], axis=1), about={"scale": scale})
    if not refused:
        length_units.check_unit(samples, stamps_of(T))
        return
    with pytest.raises(BadInput, match=r"in z alone.*--scale 1,1,0.001, --scale 1,1,0.01"):
        length_units.check_unit(samples, stamps_of(T))


def test_a_speed_of_12_m_s_is_doubted_where_no_unit_is_given() -> None:
    for speed, scale, count in ((11.9, 1.0, 0), (12.1, 1.0, 1), (12.1, 0.01, 0)):
        samples = samples_of(np.outer(speed * T, [1.0, 0.0, 0.0]), about={"scale": scale})
        assert len(length_units.doubtful_unit(samples, stamps_of(T)).about.notes) == count


def test_a_kilometre_is_the_highest_place() -> None:
    length_units.check_height(samples_of([[0.0, 0.0, 5.0], [0.0, 0.0, 999.0]]), is_placed=False)
    high = samples_of([[0.0, 0.0, 1001.0], [0.0, 0.0, 5.0]])
    length_units.check_height(high, is_placed=True)
    with pytest.raises(BadInput, match="1001 m above the ground"):
        length_units.check_height(high, is_placed=False)


def on_earth(t: np.ndarray, latitude: float, longitude: float, size: float = 1.0) -> np.ndarray:
    """A circle of 12 m radius at 1 m/s in degrees, and a climb in metres."""
    north, east = (12.0 * each / 111195.0 for each in (np.sin(t / 12.0), np.cos(t / 12.0)))
    east /= np.cos(np.radians(latitude))
    degrees = np.stack([latitude + north, longitude + east], axis=1)
    return np.column_stack([size * degrees, 50.0 + 0.1 * t])


@pytest.mark.parametrize("place", [(47.4, 8.55), (-33.9, 151.2), (51.5, -0.1), (1.35, 103.8)])
@pytest.mark.parametrize("rate", [2.0, 50.0])
def test_latitude_and_longitude_are_no_metres(place: tuple[float, float], rate: float) -> None:
    t = np.arange(0.0, 40.0, 1.0 / rate)
    p = on_earth(t, *place)
    before = np.where(t[:, None] < 1.0, [0.0, 0.0, 50.0], p)  # a receiver without a fix
    for each in (p, p[:, [1, 0, 2]], before):
        samples = samples_of(each, header_ns=stamps_of(t))
        with pytest.raises(BadInput, match=r"are they latitude and longitude in degrees\?"):
            length_units.check_on_earth(samples, NOTHING_SAID)
        length_units.check_on_earth(samples, PoseReading(scale=1.0))
    whole = samples_of(on_earth(t, *place, size=1e7), header_ns=stamps_of(t))
    with pytest.raises(BadInput, match=r"in degrees times 1e7\?"):
        length_units.check_on_earth(whole, NOTHING_SAID)


@pytest.mark.parametrize("centre", [(47.4, 8.55), (0.0, 6.0)])
def test_metres_are_no_latitudes(centre: tuple[float, float]) -> None:
    """Flights, hovers that wander by millimetres, bodies at rest under noise, and exact set-points."""
    rng, t = np.random.default_rng(2), np.arange(0.0, 40.0, 0.02)
    circle = np.stack([np.cos(0.3 * t), np.sin(0.3 * t)], axis=1)
    noise = rng.normal(size=circle.shape)
    for off in (
        12.0 * circle,
        0.3 * circle,
        0.003 * circle,
        1e-3 * noise,
        5e-5 * noise,
        0.0 * noise,
    ):
        p = np.column_stack([np.array(centre) + off, 1.5 + 0.05 * t])
        length_units.check_on_earth(samples_of(p, header_ns=stamps_of(t)), NOTHING_SAID)


@pytest.mark.parametrize(
    ("offset", "turn", "out"),
    [
        # two steps of 0.02 s: 0.15 m + 25 m/s * 0.02 s, and 30 deg + 2000 deg/s * 0.02 s; or off the line of
        # their neighbours: 0.05 m + 100 m/s^2 (0.02 s)^2 / 2, and 20 deg + 1000 rad/s^2 (0.02 s)^2 / 2 = 31.5 deg
        (0.066, 0.0, 0),
        (0.074, 0.0, 1),
        (0.0, 31.0, 0),
        (0.0, 32.0, 1),
        (0.8, 0.0, 1),
        (0.0, 80.0, 1),
    ],
)
def test_a_lone_sample_off_its_neighbours_is_left_out(
    offset: float, turn: float, out: int
) -> None:
    p = np.zeros((len(T), 3))
    p[70, 1] = offset
    q = np.tile([0.0, 0.0, 0.0, 1.0], (len(T), 1))
    q[70] = so3.quaternion_exp(np.array([0.0, np.radians(turn), 0.0]))
    left, stamps = leaps.without_leaps(samples_of(p, q), stamps_of(T), NOTHING_SAID, follows=True)
    assert len(T) - len(stamps) == len(T) - len(left.p) == out
    assert out == 0 or stamps_of(T)[70] not in stamps
    assert sum(f"{out} sample left out" in note for note in left.about.notes) == out


@pytest.mark.parametrize(
    ("first", "count", "out", "refused"),
    [(70, 5, 5, False), (70, 6, 0, True), (0, 3, 3, False), (197, 3, 3, False), (70, 10, 0, True)],
)
def test_a_short_run_elsewhere_is_a_fault_of_the_measurement(
    first: int, count: int, out: int, refused: bool
) -> None:
    """Up to five samples, in the middle or at an end, of 200 at a place that is left at once."""
    p = np.zeros((200, 3))
    p[first : first + count, 0] = 2.0
    samples, stamps = samples_of(p), stamps_of(T)
    if refused:
        with pytest.raises(BadInput, match=f"t = {T[first - 1]:.3f}"):
            leaps.without_leaps(samples, stamps, NOTHING_SAID, follows=True)
        return
    left, times = leaps.without_leaps(samples, stamps, NOTHING_SAID, follows=True)
    assert not left.p.any() and len(times) == 200 - out
    assert f"{out} samples left out" in left.about.notes[0]
    assert f"the first at t = {T[first]:.3f} s" in left.about.notes[0]


@pytest.mark.parametrize(
    ("count", "lone", "refused"),
    [(200, 10, False), (200, 11, True), (40, 3, False), (40, 4, True)],
)
def test_one_sample_in_twenty_and_three_always_may_leap(
    count: int, lone: int, refused: bool
) -> None:
    p = np.zeros((count, 3))
    p[8 : 8 + 8 * lone : 8, 0] = 2.0
    t = 0.02 * np.arange(count)
    if refused:
        with pytest.raises(BadInput, match=f"{lone} of {count} samples leap"):
            leaps.without_leaps(samples_of(p), stamps_of(t), NOTHING_SAID, follows=True)
    else:
        left = leaps.without_leaps(samples_of(p), stamps_of(t), NOTHING_SAID, follows=True)[0]
        assert len(left.p) == count - lone


@pytest.mark.parametrize(
    ("topic", "frame", "convention"),
    [
        ("/pose", "map_ned", "ned"),
        ("/pose_ned", "map", "ned"),
        ("/odomFrd", "", "ned"),
        ("/pose_ned", "map_enu", "enu"),  # the frame's name counts first
        ("/pose_ned", "base_flu", "enu"),
        ("/pose_ned", "nwu", "enu"),
        ("/planned", "owned", "enu"),
    ],
)
def test_words_of_names_say_the_axes(topic: str, frame: str, convention: str) -> None:
    axes_of_names, notes = named_convention(topic, frame)
    assert (axes_of_names, len(notes)) == (convention, convention == "ned")


def test_numbers_of_quaternions_come_in_any_order() -> None:
    xyzw = np.array([[0.1, 0.2, 0.3, 0.9]])
    wxyz = xyzw[:, [3, 0, 1, 2]]
    np.testing.assert_array_equal(axes.reordered(wxyz, "xyzw", "wxyz"), xyzw)
    np.testing.assert_array_equal(axes.reordered(xyzw[:, [1, 2, 3, 0]], "wxyz", "xyzw"), xyzw)
    np.testing.assert_array_equal(axes.reordered(xyzw, "xyzw", "inverse"), so3.conjugate(xyzw))


@pytest.mark.parametrize(
    ("body", "frame", "inverts"),
    [
        ("map", "drone", True),
        ("drone", "map", False),
        ("map", "odom", False),
        (None, "map", False),
        ("map", None, False),
    ],
)
def test_the_world_in_the_body_is_inverted(
    body: str | None, frame: str | None, inverts: bool
) -> None:
    q = so3.quaternion_exp(np.array([[0.2, -0.3, 1.4], [0.1, 0.5, -0.4]]))
    p = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0]])
    samples = samples_of(p, q, about={"body": body, "frame": frame}, v=np.ones((2, 3)))
    inverted = axes.of_the_body(samples)
    if not inverts:
        assert inverted is samples
        return
    np.testing.assert_allclose(so3.rotate(inverted.q, p) + inverted.p, 0.0, atol=1e-12)
    assert (inverted.about.body, inverted.about.frame, inverted.v) == (frame, body, None)


@pytest.mark.parametrize(("bad", "refused"), [(5, False), (6, True)])
def test_one_sample_in_twenty_may_be_too_large(bad: int, refused: bool) -> None:
    for fault in ((0, np.inf), (0, 1.01 * MAX_PLACE), (3, -np.inf)):
        p, q = np.zeros((100, 3)), np.tile([0.0, 0.0, 0.0, 1.0], (100, 1))
        (p if fault[0] == 0 else q)[:bad, fault[0]] = fault[1]
        if refused:
            with pytest.raises(BadInput, match=f"{bad} of 100 samples are none"):
                checked(samples_of(p, q))
        else:
            assert len(checked(samples_of(p, q)).p) == 100 - bad


def test_quaternions_off_unit_length_are_normalised_and_said() -> None:
    q = np.tile([0.0, 0.0, 0.0, 1.0], (100, 1))
    q[0] *= 1.009
    assert checked(samples_of(np.zeros((100, 3)), q)).about.notes == ()
    q[0] *= 1.011 / 1.009
    mended = checked(samples_of(np.zeros((100, 3)), q))
    assert mended.about.notes == ("1 quaternions off unit length were normalised",)
    np.testing.assert_allclose(np.linalg.norm(mended.q, axis=1), 1.0)
    q[:5] *= 1.2
    checked(samples_of(np.zeros((100, 3)), q))
    q[5] *= 1.2
    with pytest.raises(BadInput, match="lengths of 1 to 1.21"):
        checked(samples_of(np.zeros((100, 3)), q))


def test_a_velocity_that_is_no_number_is_not_used() -> None:
    v = np.zeros((3, 3))
    v[1, 2] = np.nan
    kept = checked(samples_of(np.zeros((3, 3)), v=v, w=np.ones((3, 3))))
    assert kept.v is None and kept.w is not None
    assert kept.about.notes == ("linear velocity: not numbers, not used",)


def test_attitudes_between_two_lie_on_the_way_and_hold_beyond() -> None:
    q = so3.quaternion_exp(np.array([[0.0, 0.0, 0.2], [0.0, 0.0, 1.0], [0.6, 0.0, 0.0]]))
    between = slerp(np.array([-1.0, 1.0, 1.25, 2.0, 9.0]), np.array([1.0, 2.0, 4.0]), q)
    expected = [q[0], q[0], so3.quaternion_exp(np.array([0.0, 0.0, 0.4])), q[1], q[2]]
    np.testing.assert_allclose(between, expected, atol=1e-12)


def test_the_heading_goes_on_through_a_loop() -> None:
    """Heading north, pitching over once within a second."""
    t = np.linspace(0.0, 1.0, 101)
    yaw = so3.quaternion_exp(np.array([0.0, 0.0, 0.7]))
    pitch = so3.quaternion_exp(np.outer(2.0 * np.pi * t, [0.0, 1.0, 0.0]))
    q = so3.multiply(np.broadcast_to(yaw, pitch.shape), pitch)
    assert largest_tilt(q) == pytest.approx(np.pi, abs=1e-6)
    calm = np.abs(pitch[:, 3]) > np.cos(np.radians(29.0))
    np.testing.assert_allclose(np.cos(headings(t, q)[calm] - 0.7), 1.0, atol=1e-9)
    assert np.abs(np.diff(headings(t, q))).max() < np.pi / 2.0
