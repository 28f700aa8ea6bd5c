# SPDX-License-Identifier: BSD-3-Clause
"""A data set in EuRoC's layout, a folder ``mav0`` for each body with an inertial unit or cameras.

euroc/drone_1/mav0/{cam0,cam1}/{data.csv,sensor.yaml,data/STAMP.png}  imu0/{data.csv,sensor.yaml}
    state_groundtruth_estimate0/{data.csv,sensor.yaml}  body.yaml

After "The EuRoC micro aerial vehicle datasets" (Burri et al., 2016): stamps in ns since `EPOCH_NS` before the run,
quaternions with w first, T_BS from the sensor to the body, whose frame is that of its first inertial unit, or the
body's own where it has none. The true places and velocities are in `map`.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from iap_description.arrays import Array
from iap_description.math import so3
from iap_description.sensors.readings import ImageReading, ImuReading, Reading
from iap_description.sensors.sensor_info import CameraSensorInfo, ImuInfo, SensorInfo
from iap_description.states import P, Q, V, W
from iap_io.bags.bag_writer import GrowingFile, RecordingFailed
from iap_io.euroc import euroc_text
from iap_io.euroc.euroc_text import EPOCH_NS
from iap_io.runs.column_messages import stamps_ns
from iap_io.runs.columns import Columns
from iap_io.runs.run_meta import RunMeta
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_io.wire.stamps import stamp_of_time

EUROC = "euroc"  # folder within the run folder


class EurocFolder:
    """Writes the data sets of all bodies of a run.

    Args:
        folder: must not exist.
        meta: the run.

    Raises:
        RecordingFailed: from here and every method, when the disk is full or cannot be written.
    """

    def __init__(self, folder: Path, meta: RunMeta) -> None:
        self._files: list[GrowingFile] = []
        self._images: dict[tuple[str, str], tuple[Path, GrowingFile]] = {}  # by topic and encoding
        self._imus: dict[str, tuple[GrowingFile, _Truth | None]] = {}  # by topic
        self._truths: list[tuple[int, _Truth]] = []  # vehicle and what is true of a body
        try:
            for i, vehicle in enumerate(meta.vehicles):
                home = folder / vehicle.name if len(meta.vehicles) > 1 else folder
                for body, name in enumerate(vehicle.bodies):
                    parent = f"{vehicle.name}/{name}"
                    carried = [each for each in meta.sensors if each.parent == parent]
                    self._add_body(home / name / "mav0", i, vehicle, body, carried)
        except OSError as error:
            raise RecordingFailed(f"{folder}: cannot be made: {error.strerror}") from error

    def _add_body(
        self,
        home: Path,
        number: int,
        vehicle: VehicleMeta,
        body: int,
        carried: Sequence[SensorInfo],
    ) -> None:
        imus = [each for each in carried if isinstance(each, ImuInfo)]
        cameras = [
            each for each in carried if isinstance(each, CameraSensorInfo) and _encoding(each)
        ]
        if not imus and not cameras:
            return
        T_BI = so3.transform(imus[0].p_BS_B, imus[0].q_BS) if imus else np.eye(4)
        name = f"{vehicle.name}/{vehicle.bodies[body]}"
        truth_home = home / "state_groundtruth_estimate0"
        texts = (euroc_text.truth_yaml(f"true state of {name}"), euroc_text.TRUTH_COLUMNS)
        truth = _Truth(self._table(truth_home, *texts), body, T_BI)
        self._truths.append((number, truth))
        (home / "body.yaml").write_text(f"comment: {name}, {vehicle.platform}\n")
        for i, imu in enumerate(imus):
            text = euroc_text.imu_yaml(imu, _on_body(T_BI, imu))
            table = self._table(home / f"imu{i}", text, euroc_text.IMU_COLUMNS)
            self._imus[imu.topic] = (table, truth if i == 0 else None)
        for i, camera in enumerate(cameras):
            text = euroc_text.camera_yaml(camera, _on_body(T_BI, camera))
            table = self._table(home / f"cam{i}", text, euroc_text.CAMERA_COLUMNS)
            images = home / f"cam{i}" / "data"
            images.mkdir()
            self._images[camera.topic, _encoding(camera)] = (images, table)

    def _table(self, home: Path, yaml: str, columns: str) -> GrowingFile:
        home.mkdir(parents=True)
        (home / "sensor.yaml").write_text(yaml)
        self._files.append(GrowingFile(home / "data.csv"))
        self._files[-1].append(columns)
        return self._files[-1]

    def image_file(self, reading: ImageReading) -> Path | None:
        """The file that an image shall be written to, by the caller, before `add`; None if it is no part of this."""
        images, _ = self._images.get((reading.source.topic, reading.encoding), (None, None))
        return None if images is None else images / f"{_stamp(reading)}.png"

    def add(self, columns: Sequence[Columns], readings: Sequence[Reading]) -> None:
        """Write readings, and the states (of every vehicle, or of none) up to the last of them."""
        lines: dict[GrowingFile, list[str]] = {}
        for reading in readings:
            stamp = _stamp(reading)
            if isinstance(reading, ImuReading) and reading.source.topic in self._imus:
                table, truth = self._imus[reading.source.topic]
                values = [*reading.w_WS_S.tolist(), *reading.f_S.tolist()]
                lines.setdefault(table, []).append(_line(stamp, values))
                if truth is not None:
                    truth.note(stamp, reading)
            elif isinstance(reading, ImageReading):
                key = (reading.source.topic, reading.encoding)
                if key in self._images:
                    lines.setdefault(self._images[key][1], []).append(f"{stamp},{stamp}.png\n")
        for number, truth in self._truths if columns else ():
            lines[truth.table] = truth.lines(columns[number])
        for table, text in lines.items():
            table.append("".join(text))

    def close(self) -> None:
        """Let go of the files; may be called again."""
        for file in self._files:
            file.close()


class _Truth:
    """The true states of the inertial unit I, at T_BI (4, 4), of the body B of an index; `table` gets them."""

    def __init__(self, table: GrowingFile, body: int, T_BI: Array) -> None:
        self.table = table
        self._body, self._p_BI_B = body, T_BI[:3, 3]
        self._q_BI = so3.quaternion_from_matrix(T_BI[:3, :3])
        self._stamps: list[int] = [-1]
        self._biases: list[Array] = [np.zeros(6)]  # none is known

    def note(self, stamp: int, reading: ImuReading) -> None:
        """Take the true biases of a sample."""
        if reading.gyro_bias is not None and reading.accel_bias is not None:
            self._stamps.append(stamp)
            self._biases.append(np.concatenate([reading.gyro_bias, reading.accel_bias]))

    def lines(self, c: Columns) -> list[str]:
        """Lines for the states, each with the bias of the last sample that is not younger."""
        x, stamps = c.x[:, self._body], EPOCH_NS + stamps_ns(c.t)
        arm_W = so3.rotate(x[:, Q], np.broadcast_to(self._p_BI_B, (len(x), 3)))
        q_WI = so3.multiply(x[:, Q], np.broadcast_to(self._q_BI, (len(x), 4)))
        v_W = x[:, V] + np.cross(x[:, W], arm_W)
        last = np.searchsorted(self._stamps, stamps, side="right") - 1
        biases = np.array(self._biases)[last]
        rows = np.hstack([x[:, P] + arm_W, np.roll(q_WI, 1, axis=1), v_W, biases])
        self._stamps, self._biases = self._stamps[-1:], self._biases[-1:]
        return [
            _line(stamp, row) for stamp, row in zip(stamps.tolist(), rows.tolist(), strict=True)
        ]


def _stamp(reading: Reading) -> int:
    return EPOCH_NS + stamp_of_time(reading.t)


def _encoding(camera: CameraSensorInfo) -> str:
    """Encoding of those images of a camera that belong to its data set; empty if none does."""
    return next((each for each in ("mono8", "rgb8") if each in camera.outputs), "")


def _on_body(T_BI: Array, sensor: SensorInfo) -> Array:
    T_IS: Array = np.linalg.inv(T_BI) @ so3.transform(sensor.p_BS_B, sensor.q_BS)
    return np.round(T_IS, 14) + 0.0  # an identity is one, without -0.0


def _line(stamp: int, values: list[float]) -> str:
    return f"{stamp},{','.join(map(repr, values))}\n"
