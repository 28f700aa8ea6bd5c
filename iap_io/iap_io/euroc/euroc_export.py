# SPDX-License-Identifier: BSD-3-Clause
"""A finished recording as a data set in EuRoC's layout, the same that is written during a run."""

from itertools import islice
from pathlib import Path

from iap_description.errors import BadInput
from iap_description.sensors.readings import ImageReading, Reading
from iap_description.sensors.sensor_info import CameraSensorInfo, ImuInfo
from iap_io.euroc.euroc_folder import EurocFolder
from iap_io.runs.run_folder import load_run
from iap_io.runs.topics import BAG
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_io.transports.pool import ImagePool
from iap_io.transports.table import PNG

BATCH = 60  # readings whose images are in memory at once; the data set does not depend on it


def export(run: Path, out: Path) -> None:
    """Write the data set of a run folder.

    Args:
        run: the run folder.
        out: the data set's folder; must not exist.

    Raises:
        BadInput: not a run folder, nothing in it for a data set, or `out` exists.
        RecordingFailed: the disk is full or cannot be written.
    """
    data = load_run(run)
    sensors = [each for each in data.meta.sensors if isinstance(each, ImuInfo | CameraSensorInfo)]
    if not sensors:
        raise BadInput(f"{run}: neither inertial units nor cameras were recorded")
    if out.exists():
        raise BadInput(f"{out}: exists already; data sets are never overwritten")
    folder, images = EurocFolder(out, data.meta), ImagePool()
    try:
        readings = read_sensors(run / BAG, sensors)
        while batch := list(islice(readings, BATCH)):
            _write(folder, images, batch)
        folder.add([vehicle.columns for vehicle in data.vehicles], [])
    finally:
        images.close()
        folder.close()


def _write(folder: EurocFolder, images: ImagePool, batch: list[Reading]) -> None:
    for reading in batch:
        if isinstance(reading, ImageReading) and (file := folder.image_file(reading)) is not None:
            images.begin(PNG, reading.pixels, file)
    images.finish()
    folder.add([], batch)
