# SPDX-License-Identifier: BSD-3-Clause
"""Recorded flights of one's own in place of those by hand that ship with the suite: which is flown where."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iap_bringup.experiments.manual_flights import COURSES, Course
from iap_description.errors import BadInput
from iap_io.trajectories.bags import STORAGE_SUFFIXES
from iap_io.trajectories.reader import read_recorded


@dataclass(frozen=True)
class Given:
    """A recording and where it is flown.

    Attributes:
        path: of the recording.
        scene: where it is flown.
        offset: (3,) that brings it to the middle of the free volume, at its own height [m].
        duration: [s].
    """

    path: Path
    scene: str
    offset: tuple[float, float, float]
    duration: float


def recordings(folder: Path) -> list[Path]:
    """Recordings in a folder, by name: its rosbag2 bags; without any its ROS 1 bags; without any its CSV files.

    So a flight that is there in several forms is flown once.

    Raises:
        BadInput: no such folder, or nothing in it.
    """
    if not folder.is_dir():
        raise BadInput(f"--flights {folder}: no such folder")
    entries = sorted(folder.iterdir())
    kinds = (
        [each for each in entries if _is_rosbag2(each)],
        [each for each in entries if each.suffix == ".bag"],
        [each for each in entries if each.suffix == ".csv"],
    )
    for found in kinds:
        if found:
            return found
    raise BadInput(f"--flights {folder}: no rosbag2 folder, .bag or .csv file")


def given_flights(folder: Path) -> dict[str, Given]:
    """One recording for each scene that is flown in by hand; with fewer recordings than scenes they come again.

    Raises:
        BadInput: nothing to fly, a recording that cannot be read, or one that does not fit into its scene.
    """
    found = recordings(folder)
    return {
        scene: placed(found[i % len(found)], course)
        for i, (scene, course) in enumerate(COURSES.items())
    }


def placed(path: Path, course: Course) -> Given:
    """A recording in the middle of a course's free volume; it is moved sideways only, and not scaled.

    Raises:
        BadInput: it cannot be read, or it does not fit.
    """
    recorded = read_recorded(path)
    low, high = recorded.p_WP_W.min(axis=0), recorded.p_WP_W.max(axis=0)
    free = np.array(course.volume)
    offset = np.round(free.mean(axis=0) - 0.5 * (low + high), 3)
    offset[2] = 0.0
    if (low + offset < free[0]).any() or (high + offset > free[1]).any():
        size = " x ".join(f"{extent:.1f}" for extent in high - low)
        room = " x ".join(f"{extent:.1f}" for extent in free[1] - free[0])
        heights = f"heights {low[2]:.1f} to {high[2]:.1f} m"
        raise BadInput(
            f"{path}: {size} m at {heights} does not fit into {course.scene}: {room} m from"
            f" {free[0, 2]:.1f} to {free[1, 2]:.1f} m"
        )
    x, y, z = offset.tolist()
    return Given(path, course.scene, (x, y, z), recorded.duration)


def _is_rosbag2(path: Path) -> bool:
    if path.is_dir():
        return any(each.suffix in STORAGE_SUFFIXES for each in path.iterdir())
    return path.suffix in STORAGE_SUFFIXES
