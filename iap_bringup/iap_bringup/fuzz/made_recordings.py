# SPDX-License-Identifier: BSD-3-Clause
"""Recordings of other people's making: a folder in EuRoC's layout, a bag with ranges, and bags of poses."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from iap_bringup.fuzz.made_bags import POSE, ROS1, SECOND, SQLITE3, BagSample, MadeBags
from iap_bringup.fuzz.made_texts import RANGE_MAP
from iap_description.arrays import Array
from iap_description.process.extras import cv2

WIDTH, HEIGHT, FOCAL_LENGTH, BASELINE, DISTANCE = 320, 240, 160.0, 0.1, 2.0  # [px], [m]
START = 1_403_636_579_763_555_584  # [ns]
LEVEL = (0.0, 0.0, 0.0, 1.0)  # attitude, xyzw
IMU_STEP, IMAGE_STEP = 5_000_000, 50_000_000  # [ns]
DURATION = 0.5  # of a recording whose files are damaged [s]
R_BC: Array = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
LEVERS: tuple[Array, Array] = np.array([0.2, 0.05, 0.0]), np.array([0.2, -0.05, 0.0])
Levels = NDArray[np.uint8]


@dataclass
class Pair:
    """A stereo pair with an inertial unit.

    Attributes:
        stamps: of the images of both sides [ns].
        images: (HEIGHT, WIDTH) of both sides.
        imu_stamps: of the samples [ns].
        imu: (K, 6) samples: angular velocity [rad/s] and specific force [m/s^2].
        levers: (3,) places of the cameras on the unit [m].
    """

    stamps: tuple[list[int], list[int]]
    images: tuple[Levels, Levels]
    imu_stamps: list[int]
    imu: Array
    levers: tuple[Array, Array] = LEVERS

    def image(self, side: int, k: int) -> Levels:
        """An image with a mark of its number, so that every one is different."""
        image = self.images[side].copy()
        image[0, 0] = k
        return image


def resting(duration: float = 1.0) -> Pair:
    """A pair that stands still before a wall at `DISTANCE`."""
    rng = np.random.default_rng(1)
    wall = cv2.GaussianBlur(rng.uniform(0, 255, (HEIGHT, WIDTH + 40)), (0, 0), 2.0)
    wall = cv2.normalize(wall, wall, 0, 255, cv2.NORM_MINMAX)
    levels: Levels = wall.astype(np.uint8)
    disparity = round(FOCAL_LENGTH * BASELINE / DISTANCE)
    images = levels[:, :WIDTH].copy(), levels[:, disparity : WIDTH + disparity].copy()
    end = START + round(duration * SECOND)
    stamps = list(range(START, end + 1, IMAGE_STEP))
    imu_stamps = list(range(START - IMU_STEP, end + 1, IMU_STEP))
    noise = 0.006 * rng.normal(size=(len(imu_stamps), 6))
    imu = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 9.81]) + noise
    return Pair((stamps, list(stamps)), images, imu_stamps, imu)


def write_euroc(folder: Path, pair: Pair, *, truth: bool = True) -> Path:
    """Write a pair into the folder that holds ``mav0``, with the truth in all but attitude and motion."""
    for side in (0, 1):
        home = folder / "mav0" / f"cam{side}"
        (home / "data").mkdir(parents=True)
        (home / "sensor.yaml").write_text(camera_yaml(pair.levers[side]), encoding="utf-8")
        lines = ["#timestamp [ns],filename"]
        for k, stamp in enumerate(pair.stamps[side]):
            cv2.imwrite(str(home / "data" / f"{stamp}.png"), pair.image(side, k))
            lines.append(f"{stamp},{stamp}.png")
        (home / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = zip(pair.imu_stamps, pair.imu.tolist(), strict=True)
    write_table(folder / "mav0" / "imu0", imu_yaml(), rows)
    if truth:
        still = [1.0, 2.0, 3.0, 1.0, *[0.0] * 12]
        write_table(
            folder / "mav0" / "state_groundtruth_estimate0",
            placed("truth", np.eye(4)),
            ((stamp, still) for stamp in sorted(pair.imu_stamps)),
        )
    return folder


def write_table(folder: Path, about: str, rows: Iterable[tuple[int, Sequence[float]]]) -> None:
    """Write a sensor's description and its table of stamps and numbers."""
    folder.mkdir(parents=True)
    (folder / "sensor.yaml").write_text(about, encoding="utf-8")
    lines = [",".join(map(str, (stamp, *numbers))) for stamp, numbers in rows]
    (folder / "data.csv").write_text(
        "\n".join(["#timestamp [ns], ...", *lines, ""]), encoding="utf-8"
    )


def camera_yaml(lever: Array) -> str:
    """``sensor.yaml`` of a camera at a place (3,) on the unit."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R_BC, lever
    cx, cy = 0.5 * (WIDTH - 1), 0.5 * (HEIGHT - 1)
    return (
        placed("camera", T)
        + f"rate_hz: 20\nresolution: [{WIDTH}, {HEIGHT}]\ncamera_model: pinhole\n"
        + f"intrinsics: [{FOCAL_LENGTH}, {FOCAL_LENGTH}, {cx}, {cy}]\n"
        + "distortion_model: radial-tangential\ndistortion_coefficients: [0.0, 0.0, 0.0, 0.0]\n"
    )


def imu_yaml() -> str:
    """``sensor.yaml`` of the unit."""
    return (
        placed("imu", np.eye(4))
        + "gyroscope_noise_density: 0.0017\ngyroscope_random_walk: 1.0e-05\n"
        + "accelerometer_noise_density: 0.02\naccelerometer_random_walk: 3.0e-3\n"
    )


def placed(kind: str, T: Array) -> str:
    """The beginning of ``sensor.yaml``: the kind of sensor, and its place (4, 4) on the body."""
    return f"sensor_type: {kind}\nT_BS:\n  cols: 4\n  rows: 4\n  data: {T.ravel().tolist()}\n"


def write_damageable_euroc(home: Path) -> None:
    """A pair in the layout of EuRoC, of a moment."""
    write_euroc(home / "euroc", resting(DURATION))


def write_wrench_bag(home: Path) -> None:
    """Poses that were commanded and measured, with the wrenches of both, in sqlite3."""
    bags, kind = MadeBags(home, SQLITE3), "geometry_msgs/msg/WrenchStamped"

    def wrench(t: int, topic: str, frame: str, *parts: tuple[float, float, float]) -> BagSample:
        message = bags.make(kind, bags.header(t, frame), bags.pair("Wrench", *parts))
        return BagSample(t, topic, kind, message)

    samples = list(_line(bags))
    for each in _line(bags):
        t, late = each.t, each.t + 1_000_000
        p = (0.005 * (t - START) / 1e7, 0.01, 1.0)
        samples.append(BagSample(late, "/flown", POSE, bags.pose_stamped(late, p, LEVEL)))
        samples.append(wrench(t, "/wrench", "base_link", (0.1, 0.0, 47.0), (0.0, 0.1, 0.0)))
        samples.append(wrench(t, "/felt", "map", (0.0, 0.1, 0.0), (0.0, 0.0, 0.01)))
    bags.write_samples(samples, "wrenches_db3")


def write_pose_bags(home: Path) -> None:
    """A line of half a second, as a bag of ROS 1 and as one of ROS 2 in sqlite3."""
    for kind, name in ((ROS1, "poses"), (SQLITE3, "poses_db3")):
        bags = MadeBags(home, kind)
        bags.write_samples(_line(bags), name)


def _line(bags: MadeBags) -> Iterator[BagSample]:
    for k in range(50):
        t = START + 10_000_000 * k
        yield BagSample(t, "/truth", POSE, bags.pose_stamped(t, (0.005 * k, 0.0, 1.0), LEVEL))


def write_range_bag(home: Path) -> None:
    """A turn on the spot among anchors for three seconds, as a bag of ROS 1."""
    bags = MadeBags(home, ROS1)
    bags.write_samples(_walk(bags), "walk")


def _walk(bags: MadeBags) -> Iterator[BagSample]:
    imu, ranged = "sensor_msgs/msg/Imu", "sensor_msgs/msg/Range"
    anchors = [(each["id"], np.array(each["position"])) for each in RANGE_MAP["anchors"]]
    zeros, rest, level = np.zeros(9), bags.xyz((0.0, 0.0, 0.0)), bags.quaternion(LEVEL)
    for k in range(300):
        t = START + 10_000_000 * k
        s = max(0.0, 0.01 * k - 1.0)
        p = np.array([np.sin(0.5 * s * s), 0.0, 1.0])
        a = np.cos(0.5 * s * s) - s * s * np.sin(0.5 * s * s) if s else 0.0
        f = bags.xyz((a, 0.0, 9.81))
        content = bags.header(t), level, zeros, rest, zeros, f, zeros
        yield BagSample(t, "/imu", imu, bags.make(imu, *content))
        yield BagSample(t, "/truth", POSE, bags.pose_stamped(t, p, LEVEL))
        name, place = anchors[k % len(anchors)]
        away = bags.header(t, name), 0, 0.1, 0.1, 50.0, float(np.linalg.norm(p - place))
        yield BagSample(t, "/uwb", ranged, bags.make(ranged, *away))
