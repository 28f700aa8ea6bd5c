# SPDX-License-Identifier: BSD-3-Clause
"""Progress and outcome of a docking, each condition from both sides; in Python, as compiled loops have them."""

import math
from typing import Any

import numpy as np
import pytest

from iap_description.vehicles.latch import Approach, PortFrame, approach, is_caught
from iap_physics.engines.engine import DIVERGED, RUNNING
from iap_simulation.docking.outcome import (
    START,
    DockingInstant,
    DockingLimits,
    DockingProgress,
    follow,
    outcome,
    status_of,
)
from iap_simulation.modules.outcome import (
    ModuleApproach,
    ModuleDockingInstant,
    ModuleDockingLimits,
    module_approach,
)
from iap_simulation.modules.outcome import outcome as module_outcome
from iap_simulation.tasks.outcomes import (
    ARRIVED,
    COLLIDED,
    CRASHED,
    NOT_CALM,
    OUT_OF_BOUNDS,
    TIME_IS_UP,
    TOO_FAST,
    TOO_FORCEFUL,
)

DOCKED = np.array([[0.0, 0.0, 2.0], [0.5, 0.0, 2.0]])
LIMITS = DockingLimits(
    calm_time=3.0, settle=6.0, distance=0.1, speed=0.2, rate=0.3, peak_force=30.0, within=10.0,
    fatal_force=60.0, away=1.0, seconds=20.0, docked_W=DOCKED,
)  # fmt: skip
PORTS = (
    PortFrame(np.array([0.2, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])),
    PortFrame(np.zeros(3), np.array([1.0, 0.0, 0.0])),
)


def plain(compiled: Any) -> Any:
    """The Python function that is compiled."""
    return compiled.py_func


def row(place: np.ndarray, **parts: Any) -> np.ndarray:
    x = np.zeros(13)
    x[:3], x[6] = place, 1.0
    x[7:10], x[10:] = parts.get("v", 0.0), parts.get("w", 0.0)
    return x


def instant(t: float = 1.0, **keys: Any) -> DockingInstant:
    values = {
        "status": RUNNING, "target": row(DOCKED[0]), "chaser": row(DOCKED[1]),
        "force": 0.0, "caught": math.nan, "locked": True,
    }  # fmt: skip
    return DockingInstant(t, **{**values, **keys})


def followed(*instants: DockingInstant) -> DockingProgress:
    progress = START
    for each in instants:
        progress = plain(follow)(progress, each, PORTS, LIMITS)
    return progress


@pytest.mark.parametrize(
    ("parts", "is_calm"),
    [
        ({}, True),
        ({"target": row(DOCKED[0], v=[0.0, 0.19, 0.0])}, True),
        ({"target": row(DOCKED[0], v=[0.0, 0.21, 0.0])}, False),
        ({"chaser": row(DOCKED[1], v=[0.0, 0.21, 0.0])}, False),
        ({"target": row(DOCKED[0], w=[0.0, 0.0, 0.29])}, True),
        ({"target": row(DOCKED[0], w=[0.0, 0.0, 0.31])}, False),
        ({"chaser": row(DOCKED[1], w=[0.31, 0.0, 0.0])}, False),
        ({"chaser": row(DOCKED[1] + [0.0, 0.0, 0.19])}, True),  # the mean of both counts
        ({"chaser": row(DOCKED[1] + [0.0, 0.0, 0.21])}, False),
        (
            {
                "chaser": row(DOCKED[1] + [0.0, 0.3, 0.0]),
                "target": row(DOCKED[0] - [0.0, 0.3, 0.0]),
            },
            True,
        ),
        ({"locked": False}, False),
    ],
)
def test_a_pair_is_calm_while_it_is_locked_slow_and_near_its_place(
    parts: dict, is_calm: bool
) -> None:
    assert math.isnan(followed(instant(**parts)).calm) != is_calm


def test_calm_and_lock_count_from_their_last_begin() -> None:
    wild = {"target": row(DOCKED[0], v=[1.0, 0.0, 0.0])}
    progress = followed(
        instant(1.0), instant(2.0), instant(3.0, **wild), instant(4.0), instant(5.0)
    )
    assert (progress.lock, progress.calm) == (1.0, 4.0)
    progress = followed(instant(1.0), instant(2.0, locked=False), instant(3.0), instant(4.0))
    assert (progress.lock, progress.calm) == (3.0, 3.0)


@pytest.mark.parametrize(
    ("begin", "end", "force", "succeeds"),
    [
        (10.0, 13.0, 30.0, True),
        (10.0, 12.99, 0.0, False),
        (10.01, 13.1, 0.0, False),
        (5.0, 9.0, 30.1, False),
    ],
)
def test_a_docking_succeeds_that_is_locked_in_time_calm_for_long_and_gentle(
    begin: float, end: float, force: float, succeeds: bool
) -> None:
    progress = followed(instant(begin, force=force), instant(end))
    assert progress.succeeded == succeeds and progress.force_peak == force


def test_the_closing_speed_of_the_first_touch_is_that_of_the_instant_before_it() -> None:
    """The probe's aircraft looks along x at the socket, whose axis points back at it."""
    ports = (
        PortFrame(np.zeros(3), np.array([1.0, 0.0, 0.0])),
        PortFrame(np.zeros(3), np.array([-1.0, 0.0, 0.0])),
    )

    def at(t: float, speed: float, force: float) -> DockingInstant:
        return instant(t, chaser=row(DOCKED[1], v=[speed, 0.0, 0.0]), force=force, locked=False)

    progress = START
    for each in (at(0.0, 0.3, 0.0), at(0.1, 0.5, 7.0), at(0.2, 0.7, 5.0), at(0.3, 0.9, 0.0)):
        progress = plain(follow)(progress, each, ports, LIMITS)
    assert (progress.closing, progress.closing_speed) == (pytest.approx(0.9), pytest.approx(0.3))
    assert (progress.force_peak, progress.succeeded) == (7.0, False)
    at_once = plain(follow)(START, at(0.0, 0.4, 1.0), ports, LIMITS)
    assert at_once.closing_speed == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("now", "progress", "ends"),
    [
        (instant(status=DIVERGED), {"succeeded": True}, DIVERGED),
        (instant(), {"succeeded": True, "force_peak": 99.0}, ARRIVED),
        (instant(), {"force_peak": 60.1}, TOO_FORCEFUL),
        (instant(), {"force_peak": 59.9}, RUNNING),
        (instant(10.0), {"lock": 4.0}, NOT_CALM),
        (instant(9.99), {"lock": 4.0}, RUNNING),
        (instant(target=row(DOCKED[0] + [0.0, 1.01, 0.0])), {}, OUT_OF_BOUNDS),
        (instant(chaser=row(DOCKED[1] + [0.0, 0.0, 1.01])), {}, OUT_OF_BOUNDS),
        (instant(chaser=row(DOCKED[1] + [0.0, 0.0, 0.99])), {}, RUNNING),
        (instant(10.0), {}, TIME_IS_UP),  # without a lock
        (instant(9.99), {}, RUNNING),
        (instant(19.99), {"lock": 15.0}, RUNNING),
        (instant(20.0), {"lock": 15.0}, TIME_IS_UP),
    ],
)
def test_a_docking_ends_by_what_happened_first(
    now: DockingInstant, progress: dict, ends: int
) -> None:
    assert plain(outcome)(now, START._replace(**progress), LIMITS) == ends


def test_a_time_limit_below_that_of_the_lock_counts() -> None:
    assert plain(outcome)(instant(5.0), START, LIMITS._replace(seconds=5.0)) == TIME_IS_UP


@pytest.mark.parametrize(
    ("status", "tilt_deg", "height", "expected"),
    [
        (RUNNING, 89.0, 0.11, RUNNING),
        (RUNNING, 91.0, 0.11, CRASHED),
        (RUNNING, 0.0, 0.09, CRASHED),
        (DIVERGED, 180.0, 0.0, DIVERGED),
    ],
)
def test_an_aircraft_upside_down_or_on_the_ground_has_crashed(
    status: int, tilt_deg: float, height: float, expected: int
) -> None:
    for axis in (0, 1):
        x = row(np.array([0.0, 0.0, height]))
        x[3 + axis], x[6] = np.sin(np.radians(0.5 * tilt_deg)), np.cos(np.radians(0.5 * tilt_deg))
        assert plain(status_of)(status, x, 0.1) == expected


# latches


def test_a_probe_in_a_socket_has_depth_radius_angle_and_closing_speed() -> None:
    """The socket looks up; the probe hangs down at 0.3 rad and sinks and turns, 0.05 m deep and 0.02 m aside."""
    probe = PortFrame(np.array([0.0, 0.0, -0.4]), np.array([0.0, 0.0, -1.0]))
    socket = PortFrame(np.array([0.1, 0.0, 0.2]), np.array([0.0, 0.0, 1.0]))
    end = np.array([0.1, 0.02, 0.15])
    x_p, x_s = (
        row(np.zeros(3), v=[0.3, 0.0, -0.5], w=[0.0, 2.0, 0.0]),
        row(np.zeros(3), v=[0.0, 0.0, 0.1]),
    )
    x_p[3], x_p[6] = np.sin(0.15), np.cos(0.15)
    down = np.array([0.0, 0.4 * np.sin(0.3), -0.4 * np.cos(0.3)])
    x_p[:3] = end - down
    pose = plain(approach)(x_p, x_s, probe, socket)
    np.testing.assert_allclose(pose[:3], [0.05, 0.02, 0.3], atol=1e-12)
    # w x r of the probe's end has x and z alone: w_y r_z and -w_y r_x with r_x = 0
    assert pose.closing == pytest.approx(0.6)
    x_p[10:] = [3.0, 0.0, 0.0]
    assert plain(approach)(x_p, x_s, probe, socket).closing == pytest.approx(0.6 - 3.0 * down[1])


@pytest.mark.parametrize(
    ("change", "catches"),
    [
        ({}, True), ({"depth": 0.0099}, False), ({"radius": 0.0201}, False), ({"angle": 0.301}, False),
        ({"closing": 0.51}, False), ({"closing": -0.51}, False), ({"closing": -0.49}, True),
    ],
)  # fmt: skip
def test_a_latch_catches_what_is_deep_near_straight_and_slow_enough(
    change: dict, catches: bool
) -> None:
    pose = Approach(0.01, 0.02, 0.3, 0.5)._replace(**change)
    assert plain(is_caught)(pose, 0.01, 0.02, 0.3, 0.5) == catches


# modules

MODULES = ModuleDockingLimits(closing_speed=0.2, overlap=0.02, size=0.5, away=1.0, seconds=30.0)
NEAR = ModuleApproach(gap=0.1, aside=0.01, distance=0.1, closing=0.1)


@pytest.mark.parametrize(
    ("t", "approach_", "flags", "ends"),
    [
        (1.0, {}, "", RUNNING),
        (1.0, {"closing": 0.21}, "caught", TOO_FAST),
        (1.0, {"closing": 0.2}, "caught", RUNNING),
        (1.0, {"closing": math.nan}, "caught", TOO_FAST),
        (1.0, {"closing": 0.21}, "", RUNNING),
        (1.0, {}, "given_up joined", CRASHED),
        (1.0, {}, "joined", ARRIVED),
        (99.0, {"gap": -1.0, "distance": 9.0}, "caught", RUNNING),  # it will be joined
        (1.0, {"gap": -0.021, "aside": 0.49}, "", COLLIDED),
        (1.0, {"gap": -0.019, "aside": 0.49}, "", RUNNING),
        (1.0, {"gap": -0.021, "aside": 0.51}, "", RUNNING),  # beside the leader
        (1.0, {"distance": 1.01}, "", OUT_OF_BOUNDS),
        (29.99, {"distance": 0.99}, "", RUNNING),
        (30.0, {}, "", TIME_IS_UP),
    ],
)
def test_a_docking_of_modules_ends_by_what_happened_first(
    t: float, approach_: dict, flags: str, ends: int
) -> None:
    states = [name in flags.split() for name in ("caught", "joined", "given_up")]
    now = ModuleDockingInstant(t, RUNNING, NEAR._replace(**approach_), *states)
    assert plain(module_outcome)(now, MODULES) == ends
    assert plain(module_outcome)(now._replace(status=DIVERGED), MODULES) == DIVERGED


def test_a_follower_has_a_gap_along_the_face_and_an_offset_aside() -> None:
    """The leader is yawed by 90 deg, so that its face along x looks along y of the world."""
    leader, follower = (
        row(np.array([1.0, 2.0, 3.0])),
        row(np.array([1.03, 2.7, 2.96]), v=[0.5, -0.3, 0.2]),
    )
    leader[5], leader[6] = np.sqrt(0.5), np.sqrt(0.5)
    leader[7:10] = [0.0, 0.1, 0.0]
    home, normal = np.array([0.5, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])
    pose = plain(module_approach)(leader, follower, home, normal)
    np.testing.assert_allclose(pose, [0.2, 0.05, np.hypot(0.2, 0.05), 0.4])
