# SPDX-License-Identifier: BSD-3-Clause
"""`read_recorded`: any recording of a pose over time, by file type and topic, as a `RecordedTrajectory`."""

from pathlib import Path

from iap_description.errors import BadInput
from iap_io.trajectories.bags import STORAGE_SUFFIXES, opened
from iap_io.trajectories.euroc import read_euroc
from iap_io.trajectories.messages import POINT
from iap_io.trajectories.poses import read_points, read_poses
from iap_io.trajectories.recorded import RecordedTrajectory, without_contradictions
from iap_io.trajectories.samples import MAX_GAP, from_ned, ordered, to_recorded
from iap_io.trajectories.topics import choose

CONVENTIONS = ("enu", "ned")


def read_recorded(
    path: Path | str,
    *,
    topic: str | None = None,
    convention: str | None = None,
    max_gap: float = MAX_GAP,
) -> RecordedTrajectory:
    """Read a recorded command or flight.

    Args:
        path: a ROS 1 bag, a rosbag2 folder or storage file, or a EuRoC ground-truth CSV.
        topic: the topic to read, for a pair of Points that of the positions; by default it is
            found by type and name.
        convention: one of CONVENTIONS, the frames of the recording's numbers; by default NED/FRD
            for the original simulator's pair of Points, which is defined so, and ENU/FLU for
            everything else.
        max_gap: longest time without a sample that is accepted [s].

    Raises:
        BadInput: the file cannot be read or does not hold what is asked for.
    """
    path = Path(path)
    if convention not in (None, *CONVENTIONS):
        raise BadInput(f"{path}: --convention {convention}: choose {' or '.join(CONVENTIONS)}")
    if not path.exists():
        raise BadInput(f"{path}: no such file or folder")
    if path.is_dir() or path.suffix in (".bag", *STORAGE_SUFFIXES):
        return _read_bag(path, topic, convention, max_gap)
    if path.suffix != ".csv":
        raise BadInput(f"{path}: neither a .bag, .mcap, .db3 or .csv file nor a rosbag2 folder")
    if topic is not None:
        raise BadInput(f"{path}: --topic {topic}: a CSV file has no topics")
    return read_euroc(path, convention=convention or "enu", max_gap=max_gap)


def _read_bag(
    path: Path, topic: str | None, convention: str | None, max_gap: float
) -> RecordedTrajectory:
    with opened(path) as bag:
        choice = choose(str(path), bag.topics, topic)
        is_pair = choice.msgtype == POINT
        samples = read_points(bag, choice, max_gap) if is_pair else read_poses(bag, choice)
    if (convention or ("ned" if is_pair else "enu")) == "ned":
        samples = from_ned(samples)
    return without_contradictions(to_recorded(*ordered(samples), max_gap=max_gap))
