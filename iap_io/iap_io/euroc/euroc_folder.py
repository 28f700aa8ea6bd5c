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
from iap_io.runs.column_messages import stamps_ns
from iap_io.runs.columns import Columns
from iap_io.runs.run_meta import RunMeta
from iap_io.runs.vehicle_meta import VehicleMeta
from iap_io.wire.stamps import stamp_of_time

# The beginning of a run, in 2014 as EuRoC's own: readers of such folders take stamp 0 for none, sort names of images as
# texts, and cut a fixed number of digits off them.
EPOCH_NS = 1_400_000_000_000_000_000
LENS_NAMES = {"plumb_bob": "radial-tangential"}  # of models whose names differ
CAMERA_COLUMNS = "#timestamp [ns],filename\n"
IMU_COLUMNS = (
    "#timestamp [ns],w_RS_S_x [rad s^-1],w_RS_S_y [rad s^-1],w_RS_S_z [rad s^-1],"
    "a_RS_S_x [m s^-2],a_RS_S_y [m s^-2],a_RS_S_z [m s^-2]\n"
)
TRUTH_COLUMNS = (
    "#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], q_RS_y [],"
    " q_RS_z [], v_RS_R_x [m s^-1], v_RS_R_y [m s^-1], v_RS_R_z [m s^-1], b_w_RS_S_x [rad s^-1],"
    " b_w_RS_S_y [rad s^-1], b_w_RS_S_z [rad s^-1], b_a_RS_S_x [m s^-2], b_a_RS_S_y [m s^-2],"
    " b_a_RS_S_z [m s^-2]\n"
)
EUROC = "euroc"  # folder within the run folder


def camera_yaml(meta: CameraSensorInfo, T_BS: Array) -> str:
    """``sensor.yaml`` of a camera; `T_BS` (4, 4) is its place on the inertial unit."""
    fx, _, cx, _, fy, cy = meta.K[:6]
    distortion = list(meta.D[:4]) + [k3 for k3 in meta.D[4:] if k3 != 0.0]  # EuRoC's own have four
    return (
        _head("camera", meta.topic, T_BS)
        + f"rate_hz: {meta.rate:g}\n"
        + f"resolution: [{meta.width}, {meta.height}]\n"
        + "camera_model: pinhole\n"
        + f"intrinsics: {_numbers([fx, fy, cx, cy])} #fu, fv, cu, cv\n"
        + f"distortion_model: {LENS_NAMES.get(meta.distortion_model, meta.distortion_model)}\n"
        + f"distortion_coefficients: {_numbers(distortion)}\n"
    )


def imu_yaml(meta: ImuInfo, T_BS: Array) -> str:
    """``sensor.yaml`` of an inertial unit."""
    return (
        _head("imu", meta.topic, T_BS)
        + f"rate_hz: {meta.rate:g}\n"
        + f"gyroscope_noise_density: {_number(meta.gyro_noise)} # [ rad / s / sqrt(Hz) ]\n"
        + f"gyroscope_random_walk: {_number(meta.gyro_walk)} # [ rad / s^2 / sqrt(Hz) ]\n"
        + f"accelerometer_noise_density: {_number(meta.accel_noise)} # [ m / s^2 / sqrt(Hz) ]\n"
        + f"accelerometer_random_walk: {_number(meta.accel_walk)} # [ m / s^3 / sqrt(Hz) ]\n"
    )


def truth_yaml(comment: str) -> str:
    """``sensor.yaml`` of the ground truth."""
    return _head("visual-inertial", comment, np.eye(4))


def _head(kind: str, comment: str, T_BS: Array) -> str:
    return (
        f"sensor_type: {kind}\ncomment: {comment}\n"
        f"T_BS:\n  cols: 4\n  rows: 4\n  data: {_numbers(T_BS.ravel().tolist())}\n"
    )


def _numbers(values: list[float]) -> str:
    return f"[{', '.join(map(_number, values))}]"


def _number(value: float) -> str:
    """A number as every YAML reads it: many take 1e-05 for a text, but 1.0e-05 for a number."""
    text = repr(value)
    return text if "." in text else text.replace("e", ".0e")


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
        texts = (truth_yaml(f"true state of {name}"), TRUTH_COLUMNS)
        truth = _Truth(self._table(truth_home, *texts), body, T_BI)
        self._truths.append((number, truth))
        (home / "body.yaml").write_text(f"comment: {name}, {vehicle.platform}\n")
        for i, imu in enumerate(imus):
            text = imu_yaml(imu, _on_body(T_BI, imu))
            table = self._table(home / f"imu{i}", text, IMU_COLUMNS)
            self._imus[imu.topic] = (table, truth if i == 0 else None)
        for i, camera in enumerate(cameras):
            text = camera_yaml(camera, _on_body(T_BI, camera))
            table = self._table(home / f"cam{i}", text, CAMERA_COLUMNS)
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
