# SPDX-License-Identifier: BSD-3-Clause
"""`read_recorded`: any recording of a pose over time, by its kind of file, as a `RecordedTrajectory`.

Every kind has a row of `KINDS`, which makes `Samples`. What follows is the same for all: axes and unit, the
clock, what is cut off, left out or refused, and the mounting.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iap_description.arrays import Integers
from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_io.bags.storage_files import packing_of
from iap_io.flight_logs.flight_log import MOTORS, POSITION, SPECIFIC_FORCE, THRUST
from iap_io.flight_logs.readers import is_flight_log, is_table_log
from iap_io.trajectories.axes import in_enu, of_the_body, ordered
from iap_io.trajectories.bags import Bag, is_bag, opened
from iap_io.trajectories.clocks import delay_of, timed
from iap_io.trajectories.column_names import PLACE, QUATERNION
from iap_io.trajectories.gaps import (
    check_gaps,
    cut,
    without_frozen_ends,
    without_holds,
    without_lone_ends,
    without_repeats,
)
from iap_io.trajectories.leaps import without_leaps
from iap_io.trajectories.length_units import check_height, check_on_earth, doubtful_unit
from iap_io.trajectories.logged_bags import is_autopilots, log_of_bag
from iap_io.trajectories.logged_poses import ATTITUDES, flight_samples, read_log
from iap_io.trajectories.messages import BODY_LISTS, PATH, POINT, TRANSFORMS
from iap_io.trajectories.mounting import check_mounting, mounted, placed
from iap_io.trajectories.named_tables import read_named
from iap_io.trajectories.paths import read_path
from iap_io.trajectories.points import read_points
from iap_io.trajectories.pose_reading import PoseReading
from iap_io.trajectories.poses import read_body_list, read_poses
from iap_io.trajectories.recorded import Clock, RecordedTrajectory, without_contradictions
from iap_io.trajectories.samples import Samples, continuous, scaled
from iap_io.trajectories.still_channels import with_still_parts
from iap_io.trajectories.table_columns import header_of, in_order, is_ambiguous
from iap_io.trajectories.text_poses import CSV, read_euroc, read_kitti, read_tum, text_kind
from iap_io.trajectories.tilts import check_tilts
from iap_io.trajectories.topics import PoseTopic, choose, pose_topics
from iap_io.trajectories.transforms import read_transforms

_PACKED = (".lz4", ".zst", ".zstd", ".gz", ".bz2", ".xz", ".zip", ".7z", ".tar", ".tgz")
OF_AUTOPILOTS = {
    MOTORS,
    SPECIFIC_FORCE,
    THRUST,
}  # signals that make a flight log of a bag with poses
STILL_TILT = 0.005  # least x or y of a quaternion of a body that is not level
_log = logging.getLogger(__name__)


class PoseFile(NamedTuple):
    """A kind of file with poses.

    Attributes:
        fits: whether a path is of this kind.
        read: its samples, in its own axes and units.
        is_placed: whether its flights are distance to where a platform can fly them.
        has_topics: whether a file has several poses, of which one is named.
    """

    fits: Callable[[Path], bool]
    read: Callable[[Path, PoseReading], Samples]
    is_placed: bool = False
    has_topics: bool = False


def _has_names(path: Path) -> bool:
    """True if a table's names say its columns; EuRoC's and TUM's are by their order."""
    header = header_of(path)
    if header is None or (header.is_comment and is_ambiguous(header)):
        return False
    if path.suffix != CSV:
        return not in_order(header, (*PLACE, *QUATERNION)) or not header.is_comment
    orders = (QUATERNION, ("qw", "qx", "qy", "qz"))
    return not (header.is_comment and any(in_order(header, (*PLACE, *q)) for q in orders))


def _is_euroc(path: Path) -> bool:
    return path.suffix == CSV and text_kind(path) is None


def _read_bag(path: Path, reading: PoseReading) -> Samples:
    topic, _, body = (reading.topic or "").partition(":")
    if body:
        reading = reading.model_copy(update={"body": body})
    with opened(path) as bag:
        signal = (reading.topic or "").partition(":")[0]
        if is_autopilots(bag) and (signal in ATTITUDES or not pose_topics(bag.topics)):
            return flight_samples(log_of_bag(bag), reading)
        try:
            choice = choose(str(path), bag.topics, topic or None, bag.notes)
        except BadInput:
            log = log_of_bag(bag) if not topic and is_autopilots(bag) else None
            if (
                log is None
                or POSITION not in log.signals
                or not log.signals.keys() & OF_AUTOPILOTS
            ):
                raise
            note = f"of several topics with poses its flight log is taken ({log.kind}); --topic NAME takes one of them"
            return flight_samples(log.noted(note), reading)
        return _READERS.get(choice.msgtype, read_poses)(bag, choice, reading)


# Of types that `read_poses` does not read.
_READERS: dict[str, Callable[[Bag, PoseTopic, PoseReading], Samples]] = {
    POINT: read_points,
    PATH: read_path,
    **dict.fromkeys(BODY_LISTS, read_body_list),
    **dict.fromkeys(TRANSFORMS, read_transforms),
}

KINDS = {
    "bag": PoseFile(is_bag, _read_bag, has_topics=True),
    "flight log": PoseFile(is_flight_log, read_log, has_topics=True),
    "table": PoseFile(_has_names, read_named),
    "EuRoC ground truth": PoseFile(_is_euroc, read_euroc, is_placed=True),
    "TUM trajectory": PoseFile(lambda path: text_kind(path) == "tum", read_tum),
    "KITTI poses": PoseFile(lambda path: text_kind(path) == "kitti", read_kitti),
}


def _kind_of(path: Path, reading: PoseReading) -> PoseFile:
    """The kind of a file, by its first bytes or by what the user says of it.

    Raises:
        BadInput: there is none, or what is said of it is of other kinds.
    """
    kind = next((kind for kind in KINDS.values() if kind.fits(path)), None)
    if (reading.topic or "").partition(":")[0] in ATTITUDES and is_table_log(path):
        kind = KINDS["flight log"]
    has_topics = kind is not None and kind.has_topics
    if reading.columns is not None and has_topics:
        raise BadInput(
            f"{path}: --columns {reading.columns}: it has topics and no columns; --topic chooses one"
        )
    if reading.columns is not None:
        kind = KINDS["table"]
    if kind is None and (path.suffix in _PACKED or packing_of(path)):
        raise BadInput(f"{path}: it is packed: unpack it, and name what comes out of it")
    if kind is None:
        raise BadInput(
            f"{path}: neither a .bag, .mcap, .db3 or .csv file nor a rosbag2 folder, nor TUM (8 columns) or"
            f" KITTI (12) text; --columns names the columns of another table"
        )
    if reading.topic is not None and not kind.has_topics:
        raise BadInput(
            f"{path}: --topic {reading.topic}: a {path.suffix[1:].upper()} file has no topics"
        )
    return kind


def read_recorded(
    path: Path | str, reading: PoseReading | None = None, *, follows: bool = True, **keys: object
) -> RecordedTrajectory:
    """Read a recorded command or flight.

    Args:
        path: a ROS 1 bag, a rosbag2 folder or storage file, a EuRoC ground-truth CSV, TUM or KITTI text.
        reading: what the user says of it; nothing is said by default.
        follows: whether a vehicle shall follow it; else what no vehicle does is noted and kept.
        keys: of `PoseReading`, instead of it.

    Raises:
        BadInput: the file cannot be read, is ambiguous, or does not hold what is asked for.
    """
    path = Path(path)
    reading = reading or validate(PoseReading, keys, source=str(path))
    if not path.exists():
        raise BadInput(f"{path}: no such file or folder")
    kind = _kind_of(path, reading)
    samples = kind.read(path, reading)
    check_on_earth(samples, reading)
    samples = ordered(scaled(samples, reading), reading.quaternion)
    samples = in_enu(of_the_body(samples), reading.convention or samples.about.convention)
    samples, stamps = cut(*timed(samples, reading), reading)
    samples, stamps = without_lone_ends(samples, stamps, reading)
    samples, stamps = without_holds(samples, stamps, reading.bridge)
    samples, stamps = without_frozen_ends(samples, stamps)
    samples = with_still_parts(samples, stamps)
    samples, stamps = without_repeats(*without_leaps(samples, stamps, reading, follows=follows))
    if follows:
        samples = check_tilts(doubtful_unit(samples, stamps), stamps, reading)
        check_height(samples, is_placed=kind.is_placed)
    if follows and not kind.is_placed:
        samples = check_mounting(samples, stamps, reading.mounting)
    if kind.is_placed:
        samples, stamps = placed(samples, stamps, reading.mounting)
    else:
        samples = mounted(samples, reading.mounting, follows=follows)
    recorded = without_contradictions(_trajectory(samples, stamps, reading.bridge))
    for note in recorded.about.notes:
        _log.warning("%s: %s", recorded.source, note)
    return recorded


def _trajectory(samples: Samples, stamps: Integers, bridge: float) -> RecordedTrajectory:
    """Ordered samples as a `RecordedTrajectory`.

    Raises:
        BadInput: fewer than two samples are left, or there is a gap longer than `bridge` [s].
    """
    if len(stamps) < 2:
        raise BadInput(f"{samples.source}: all samples have one stamp; a replay needs at least 2")
    t = (stamps - stamps[0]) * 1e-9
    if not (np.ptp(samples.p, axis=0).any() or np.ptp(samples.q, axis=0).any()):
        samples = samples.noted("it never moves: a hover, or a tracker that sees no body")
    elif np.abs(samples.q[:, :2]).max() > STILL_TILT and not np.ptp(samples.q, axis=0).any():
        samples = samples.noted("its attitude never changes while it moves: was it measured?")
    samples = samples.noted(*check_gaps(samples.source, t, bridge, samples.about.notes))
    clock: Clock = "bag" if samples.header_ns is None else "header"
    about = replace(
        samples.about,
        samples=len(t),
        duration_s=float(t[-1]),
        speed_max_mps=_speed(samples, t),
        bounds_m=tuple(
            zip(samples.p.min(axis=0).tolist(), samples.p.max(axis=0).tolist(), strict=True)
        ),
    )
    return RecordedTrajectory(
        t=t,
        p_WP_W=samples.p,
        q_WP=continuous(samples.q),
        source=samples.source,
        clock="file" if samples.bag_ns is None else clock,
        start_ns=int(stamps[0]),
        about=about,
        delay_ns=0 if clock == "bag" else delay_of(samples),
        v_WP_W=samples.v,
        w_WP_P=samples.w,
        a_WP_W=samples.a,
        alpha_WP_P=samples.alpha,
    )


def _speed(samples: Samples, t: np.ndarray[Any, Any]) -> float:
    """Largest speed over a tenth of a second [m/s]."""
    later = np.minimum(np.searchsorted(t, t + 0.1), len(t) - 1)
    distance = np.linalg.norm(samples.p[later] - samples.p, axis=1)
    return float((distance / np.maximum(t[later] - t, 0.1)).max())
