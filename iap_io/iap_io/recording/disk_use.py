# SPDX-License-Identifier: BSD-3-Clause
"""Space that a recording takes, estimated before it starts, and what is free for it."""

import os
import shutil
from pathlib import Path

from iap_description.sensors.sensor_info import (
    ENCODINGS,
    CameraSensorInfo,
    ImuInfo,
    LidarInfo,
    SensorInfo,
    UwbInfo,
)
from iap_io.bags.mcap_format import INDEX_ENTRY
from iap_io.recording.state_chunk import ODOMETRY_HZ, size_of
from iap_io.runs import topics
from iap_io.runs.run_meta import RecordingSettings, RunMeta
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_io.sensor_messages.camera_messages import BYTES
from iap_io.transports.table import PNG, taking, transports_of
from iap_io.wire.sample_views import OdometryMessage

SAMPLE_BYTES, ROUND_BYTES = 400, 1200  # bytes of a sample, and of a round of about ten ranges
IMU_LINE, TRUTH_LINE = 140, 340  # bytes in the tables of EuRoC's layout
INDEX = INDEX_ENTRY.itemsize  # bytes per message behind a chunk
POINT = 16  # bytes in a cloud


def disk_use(meta: RunMeta, recording: RecordingSettings, duration: float) -> int:
    """Bytes that a recording takes, within about a tenth; compressed images may take less.

    Args:
        meta: the run.
        recording: how it is recorded.
        duration: of the run [s].
    """
    rates = [_state_rate(vehicle, meta.control_hz) for vehicle in meta.vehicles]
    frames = size_of(topics.frames_layout(meta.vehicles)) + INDEX
    rates.append(frames * min(ODOMETRY_HZ, meta.control_hz))
    rates += [_sensor_rate(sensor, recording, meta.control_hz) for sensor in meta.sensors]
    return round(sum(rates) * duration)


def free_space(folder: Path) -> int:
    """Bytes that are free where a folder lies, or will lie once it is made."""
    place = Path(os.path.realpath(folder))
    there = next(each for each in (place, *place.parents) if each.is_dir())
    return shutil.disk_usage(there).free


def _state_rate(vehicle: VehicleMeta, control_hz: float) -> float:
    """Bytes per second of a vehicle's states, references and commands."""
    rate = 0.0
    for layout in topics.layouts(vehicle).values():
        size = size_of(layout) + INDEX
        is_odometry = layout.msgtype == OdometryMessage.TYPE
        rate += size * (min(ODOMETRY_HZ, control_hz) if is_odometry else control_hz)
    return rate


def _sensor_rate(meta: SensorInfo, recording: RecordingSettings, control_hz: float) -> float:
    """Bytes per second of a sensor, in the bag and beside it."""
    if isinstance(meta, ImuInfo):
        beside = IMU_LINE * meta.rate + TRUTH_LINE * control_hz if recording.euroc else 0.0
        return SAMPLE_BYTES * (2 if meta.has_bias else 1) * meta.rate + beside
    if isinstance(meta, LidarInfo):
        return (POINT * meta.points + SAMPLE_BYTES) * meta.rate
    if not isinstance(meta, CameraSensorInfo):
        return (ROUND_BYTES if isinstance(meta, UwbInfo) else SAMPLE_BYTES) * meta.rate
    size, kinds = 0.0, transports_of(recording.compression, recording.jpeg_quality)
    for output in meta.outputs:
        raw = meta.width * meta.height * BYTES[ENCODINGS[output]]
        transport = taking(kinds, ENCODINGS[output])
        size += raw * (1.0 if transport is None else transport.share) + 2 * SAMPLE_BYTES
        if recording.euroc and output in ("mono8", "rgb8"):
            size += raw * PNG.share
    return size * meta.rate
