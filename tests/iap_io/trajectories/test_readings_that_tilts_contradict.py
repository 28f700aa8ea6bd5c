# SPDX-License-Identifier: BSD-3-Clause
"""A flight's tilts and accelerations tell in which axes, unit and order its numbers are."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flight_bags import BagMaker, Motion, motion
from numpy.typing import NDArray
from refusals import refusal

from iap_control.references.motions import Replay
from iap_control.references.replay import commanded
from iap_description import frames
from iap_description.earth import GRAVITY
from iap_description.math import so3
from iap_io.trajectories.axes import CONVENTIONS
from iap_io.trajectories.reader import read_recorded

Array = NDArray[np.float64]


def tilted(m: Motion, yaw: Array) -> Array:
    """Attitudes (K, 4) of a multirotor that flies a motion with headings (K,)."""
    z = m.a + [0.0, 0.0, GRAVITY]
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    y = np.cross(z, np.stack([np.cos(yaw), np.sin(yaw), 0.0 * yaw], axis=1))
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    return so3.quaternion_from_matrix(np.stack([np.cross(y, z), y, z], axis=2))


@pytest.fixture
def multirotor() -> Motion:
    """Eight seconds at 50 Hz of what tilts to accelerate, at up to 14 deg."""
    t = np.arange(0.0, 8.0, 0.02)
    m, slow = motion(0.6 * t), 0.6
    m = Motion(t, m.p, m.q, slow * m.v, slow * m.w, slow**2 * m.a, slow**2 * m.alpha)
    return with_pose(m, m.p, tilted(m, 0.5 + 0.1 * t))


def with_pose(m: Motion, p: Array, q: Array) -> Motion:
    """The motion with other numbers."""
    return Motion(m.t, p, q, m.v, m.w, m.a, m.alpha)


def converted(m: Motion, convention: Any) -> Motion:  # noqa: ANN401
    """The motion's numbers in a convention of `CONVENTIONS`."""
    axes = CONVENTIONS[convention]
    R = axes.attitudes.T @ so3.matrix_from_quaternion(m.q) @ axes.body
    return with_pose(m, m.p @ axes.positions, so3.quaternion_from_matrix(R))


def bag(maker: BagMaker, m: Motion, name: str = "flight") -> Path:
    """A bag of PoseStamped."""
    return maker.write({"/vicon/pose": maker.poses(m)}, name)


def check_same(path: Path, m: Motion, **keys: Any) -> None:  # noqa: ANN401
    """A recording is read as a motion."""
    recorded = read_recorded(path, **keys)
    np.testing.assert_allclose(recorded.p_WP_W, m.p, atol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(recorded.q_WP * m.q, axis=1)), 1.0, atol=1e-9)


@pytest.mark.parametrize(
    "convention", ["ned", "y-up", "unity", "ned-attitudes", "ned-positions", "camera"]
)
def test_another_convention_is_refused_by_its_option_and_read_by_it(
    mcap: BagMaker, multirotor: Motion, convention: Any
) -> None:
    path = bag(mcap, converted(multirotor, convention))
    assert f"--convention {convention}" in refusal(read_recorded, path)
    check_same(path, multirotor, convention=convention)


def test_left_handed_axes_of_all_are_another_flight_and_read_by_name(
    mcap: BagMaker, multirotor: Motion
) -> None:
    """A mirrored flight is one that could be: nothing but its name tells."""
    path = bag(mcap, converted(multirotor, "unreal"))
    check_same(path, multirotor, convention="unreal")


def test_ned_is_the_frames_modules(multirotor: Motion) -> None:
    ned = converted(multirotor, "ned")
    np.testing.assert_allclose(ned.p, frames.swap_world(multirotor.p), atol=1e-12)
    R = frames.swap_attitude(so3.matrix_from_quaternion(multirotor.q))
    np.testing.assert_allclose(so3.matrix_from_quaternion(ned.q), R, atol=1e-12)


@pytest.mark.parametrize("yaw", [0.0, 180.0, 77.0])
def test_another_order_of_a_quaternions_numbers_is_refused_by_its_option(
    mcap: BagMaker, multirotor: Motion, yaw: float
) -> None:
    turned = tilted(multirotor, np.radians(yaw) + 0.1 * multirotor.t)
    m = with_pose(multirotor, multirotor.p, turned)
    path = bag(mcap, with_pose(m, m.p, m.q[:, [3, 0, 1, 2]]))
    assert "--quaternion wxyz" in refusal(read_recorded, path)
    check_same(path, m, quaternion="wxyz")


def test_attitudes_that_turn_the_world_into_the_body_are_refused(
    mcap: BagMaker, multirotor: Motion
) -> None:
    path = bag(mcap, with_pose(multirotor, multirotor.p, so3.conjugate(multirotor.q)))
    assert "--quaternion inverse" in refusal(read_recorded, path)
    check_same(path, multirotor, quaternion="inverse")


@pytest.mark.parametrize("scale", [0.1, 0.3048, 1000.0])
def test_a_unit_that_no_speed_betrays_is_refused(
    mcap: BagMaker, multirotor: Motion, scale: float
) -> None:
    path = bag(mcap, with_pose(multirotor, multirotor.p / scale, multirotor.q))
    assert f"--scale {scale:g}" in refusal(read_recorded, path)
    check_same(path, multirotor, scale=scale)


def test_slow_flights_in_millimetres_and_centimetres_are_refused(
    mcap: BagMaker, multirotor: Motion
) -> None:
    t = multirotor.t
    p = np.stack([0.0 * t, 0.02 * np.sin(t), 3.0 + 0.01 * t], axis=1)
    hover = with_pose(multirotor, p, np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1)))
    text = refusal(read_recorded, bag(mcap, with_pose(hover, 1000.0 * p, hover.q)))
    assert "--scale 0.001" in text and "3080 m above the ground" in text


@pytest.mark.parametrize(("axis", "unit", "text"), [(2, 100.0, "1,1,0.01"), (0, 1e3, "0.001,1,1")])
def test_one_axis_in_another_unit_is_refused_by_name(
    mcap: BagMaker, multirotor: Motion, axis: int, unit: float, text: str
) -> None:
    units = np.where(np.arange(3) == axis, unit, 1.0)
    path = bag(mcap, with_pose(multirotor, multirotor.p * units, multirotor.q))
    line = refusal(read_recorded, path)
    assert f"in {'xyz'[axis]} alone" in line and f"--scale {text}" in line
    check_same(path, multirotor, scale=tuple(1.0 / units))


@pytest.mark.parametrize("turn", [90.0, -90.0, 180.0])
def test_attitudes_of_another_heading_than_the_positions_are_refused(
    mcap: BagMaker, multirotor: Motion, turn: float
) -> None:
    half = np.radians(0.5 * turn)
    q = so3.multiply(np.array([0.0, 0.0, np.sin(half), np.cos(half)]), multirotor.q)
    text = refusal(read_recorded, bag(mcap, with_pose(multirotor, multirotor.p, q)))
    assert "about the vertical" in text or "--convention" in text


def test_mirrored_positions_are_refused(mcap: BagMaker, multirotor: Motion) -> None:
    path = bag(mcap, with_pose(multirotor, multirotor.p * [1.0, -1.0, 1.0], multirotor.q))
    text = refusal(read_recorded, path)
    assert "mirrored" in text and "reference.attitude=level" in text
    assert read_recorded(path, convention="enu").about.convention == "enu"
    alone = commanded(Replay(type="replay", path=str(path), attitude="level"))
    np.testing.assert_allclose(alone.commanded.poses[:, 3:] - [0.0, 0.0, 0.0, 1.0], 0.0, atol=0.0)


def test_what_tilts_as_it_likes_is_left_alone(mcap: BagMaker, flight: Motion) -> None:
    """Platforms that push sideways, and set-points that are level."""
    check_same(bag(mcap, flight), flight)
    level = with_pose(flight, flight.p, np.tile([0.0, 0.0, 0.0, 1.0], (len(flight.t), 1)))
    check_same(bag(mcap, level, "level"), level)


def test_positions_of_a_map_grid_count_from_the_first_one(
    mcap: BagMaker, multirotor: Motion
) -> None:
    far = multirotor.p + [465_000.0, 5_247_000.0, 488.0]
    path = bag(mcap, with_pose(multirotor, far, multirotor.q))
    assert "--origin first" in refusal(read_recorded, path)
    recorded = read_recorded(path, origin="first")
    np.testing.assert_allclose(recorded.p_WP_W, multirotor.p - multirotor.p[0], atol=1e-8)


@pytest.mark.parametrize("yaw_rate", [0.1, 0.5])
def test_poses_of_the_world_in_the_body_are_refused_by_their_option_and_read_by_it(
    mcap: BagMaker, multirotor: Motion, yaw_rate: float
) -> None:
    m = with_pose(multirotor, multirotor.p, tilted(multirotor, 0.5 + yaw_rate * multirotor.t))
    q = so3.conjugate(m.q)
    path = bag(mcap, with_pose(m, -so3.rotate(q, m.p), q))
    assert "--quaternion inverse-pose" in refusal(read_recorded, path)
    check_same(path, m, quaternion="inverse-pose")


def test_samples_without_a_place_are_left_out_and_counted(
    mcap: BagMaker, multirotor: Motion
) -> None:
    p, q = multirotor.p.copy(), multirotor.q.copy()
    p[100:105], q[200] = np.nan, 0.0
    path = bag(mcap, with_pose(multirotor, p, q))
    recorded = read_recorded(path)
    kept = np.delete(np.arange(len(p)), [*range(100, 105), 200])
    np.testing.assert_allclose(recorded.p_WP_W, multirotor.p[kept], atol=1e-12)
    assert "6 samples without a place or attitude left out" in recorded.about.notes[0]
    p[100:150] = np.nan
    many = refusal(read_recorded, bag(mcap, with_pose(multirotor, p, q), "many"))
    assert "no sample for 1.02 s" in many
    assert "51 samples without a place or attitude left out" in many


def test_two_clocks_that_were_set_back_are_refused_by_name(
    mcap: BagMaker, multirotor: Motion
) -> None:
    stamps = [s - 400_000_000 * (k > 250) for k, s in enumerate(multirotor.stamps)]
    rows = sorted(
        (
            (s, mcap.pose_stamped(s, p, q))
            for s, p, q in zip(stamps, multirotor.p, multirotor.q, strict=True)
        ),
        key=lambda row: row[0],
    )
    path = mcap.write({"/vicon/pose": ("geometry_msgs/msg/PoseStamped", rows)})
    text = refusal(read_recorded, path)
    assert "was the clock set back? --to 4.62" in text


def test_tum_in_commas_is_no_euroc(tmp_path: Path, multirotor: Motion) -> None:
    rows = [
        f"{1.7e9 + t:.6f}," + ",".join(f"{x:.9f}" for x in (*p, *q))
        for t, p, q in zip(multirotor.t, multirotor.p, multirotor.q, strict=True)
    ]
    path = tmp_path / "vicon.csv"
    path.write_text("\n".join(rows) + "\n")
    recorded = read_recorded(path)
    assert recorded.about.kind == "TUM trajectory"
    np.testing.assert_allclose(recorded.p_WP_W, multirotor.p, atol=1e-8)


def test_upside_down_text_that_stands_in_the_other_order_is_refused(
    tmp_path: Path, multirotor: Motion
) -> None:
    t = multirotor.t
    rows = [f"{x:.3f} 0 {0.1 * x:.3f} 2 1 0 0 0.01" for x in t]
    path = tmp_path / "odd.txt"
    path.write_text("\n".join(rows) + "\n")
    text = refusal(read_recorded, path)
    assert "--quaternion wxyz" in text and "--mounting rest" in text
    assert read_recorded(path, quaternion="wxyz").q_WP[0, 3] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("late", "words"),
    [(0.3, "0.30 s late"), (-0.3, "0.30 s early"), (0.16, "0.16 s late"), (0.04, "")],
)
def test_attitudes_that_come_late_or_early_are_noted_but_for_the_lag_of_motors(
    mcap: BagMaker, late: float, words: str
) -> None:
    rate, t = 0.8, np.arange(0.0, 6.0, 0.02)

    def at(times: Array) -> Motion:
        m = motion(rate * times)
        m = Motion(times, m.p, m.q, rate * m.v, rate * m.w, rate**2 * m.a, rate**2 * m.alpha)
        return with_pose(m, m.p, tilted(m, 0.5 + 0.1 * times))

    m = with_pose(at(t), at(t).p, at(t - late).q)
    notes = read_recorded(bag(mcap, m)).about.notes
    assert [words in note for note in notes] == ([True] if words else [])


@pytest.mark.parametrize("delay", [0.04, 0.1])
def test_two_publishers_of_one_body_one_of_them_late_are_two_in_one(
    mcap: BagMaker, multirotor: Motion, delay: float
) -> None:
    """At half a metre a second, the late one is some centimetres behind."""
    m = multirotor
    late = np.stack([np.interp(m.t - delay, m.t, m.p[:, k]) for k in range(3)], axis=1)
    kind, rows = mcap.poses(m)
    rows = [
        *rows,
        *(
            (stamp + 10_000_000, mcap.pose_stamped(stamp + 10_000_000, p, q))
            for stamp, p, q in zip(m.stamps, late, m.q, strict=True)
        ),
    ]
    rows.sort(key=lambda row: row[0])
    text = refusal(read_recorded, mcap.write({"/vicon/pose": (kind, rows)}))
    assert "goes to and fro" in text and "--topic names one of them" in text


def test_a_small_flight_whose_tilts_are_those_of_a_larger_one_is_refused_with_the_ratio(
    mcap: BagMaker, multirotor: Motion
) -> None:
    """One camera alone knows no scale; at a fifth the flight hardly accelerates."""
    path = bag(mcap, with_pose(multirotor, 0.2 * multirotor.p, multirotor.q))
    assert "accelerations are 0.2" in refusal(read_recorded, path)


def test_times_that_run_too_fast_are_named_beside_the_scale_that_would_explain_them(
    mcap: BagMaker, multirotor: Motion
) -> None:
    faster = Motion(
        multirotor.t / 1.811, *(getattr(multirotor, n) for n in ("p", "q", "v", "w", "a", "alpha"))
    )
    text = refusal(read_recorded, bag(mcap, faster))
    assert "--scale 0.3048, or its times run 1.8 times too fast" in text


def test_a_flight_that_tilts_and_goes_nowhere_is_noted(mcap: BagMaker, multirotor: Motion) -> None:
    """Latitude and longitude in radians hardly move."""
    flat = multirotor.p * [1e-6, 1e-6, 1.0] + [0.83, 0.15, 0.0]
    recorded = read_recorded(bag(mcap, with_pose(multirotor, flat, multirotor.q)))
    assert any("deg off its accelerations" in note for note in recorded.about.notes)
    assert any("another unit (--scale)" in note for note in recorded.about.notes)


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (np.diag([1.0, 1.0, -1.0]), "with the opposite yaw"),
        (np.eye(3)[[2, 1, 0]], "with roll and yaw exchanged"),
    ],
)
def test_angles_that_were_mistaken_are_named(
    mcap: BagMaker, multirotor: Motion, mistake: Array, text: str
) -> None:
    """While it turns, no turn or reflection of the world explains an opposite yaw."""
    turning = tilted(multirotor, 0.5 + 0.3 * multirotor.t)
    rpy = so3.euler_from_matrix(so3.matrix_from_quaternion(turning))
    q = so3.quaternion_from_matrix(so3.matrix_from_euler(rpy @ mistake.T))
    path = bag(mcap, with_pose(multirotor, multirotor.p, q))
    assert text in refusal(read_recorded, path)


@pytest.mark.parametrize("late", [0.0, 0.06, 0.16])
def test_attitudes_of_a_slow_flight_that_are_late_are_noted(
    mcap: BagMaker, multirotor: Motion, late: float
) -> None:
    """At half the pace 0.16 s leave a hundredth of the tilts."""
    t, slow = 2.0 * multirotor.t, 0.5
    flight = with_pose(multirotor, multirotor.p, multirotor.q)
    flight = Motion(
        t, flight.p, flight.q, slow * flight.v, slow * flight.w, slow**2 * flight.a, flight.alpha
    )
    q = tilted(flight, 0.5 + 0.05 * t)
    k = round(late / 0.04)
    shifted = Motion(
        t, flight.p, np.roll(q, k, axis=0), *(getattr(flight, n) for n in ("v", "w", "a", "alpha"))
    )
    kept = slice(k, None)
    shifted = Motion(*(getattr(shifted, n)[kept] for n in ("t", "p", "q", "v", "w", "a", "alpha")))
    notes = read_recorded(bag(mcap, shifted)).about.notes
    assert any("s late against its accelerations" in each for each in notes) == (late > 0.1)
