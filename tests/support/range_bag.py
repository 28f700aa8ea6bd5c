# SPDX-License-Identifier: BSD-3-Clause
"""A ROS 1 bag of a walk with ranges and an inertial unit, in messages as KIT-ISAS has them, and its mapping.

The anchors' frame is upside down, and the truth is in a frame of its own, as there.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from iap_bringup.fuzz.made_bags import ROS1, BagSample, MadeBags
from iap_description.math import so3

STICK, RANGE = "fraunhofer_rtls_flare/msg/RTLSStick", "fraunhofer_rtls_flare/msg/RTLSRange"
FIELDS = {
    RANGE: "uint16 id\ngeometry_msgs/Point pos\nfloat32 range\nuint8 ra\n",
    STICK: f"std_msgs/Header header\nuint16 id\n{RANGE.replace('/msg', '')}[] ranges\n",
}
ANCHORS = {  # in the anchors' frame, z downwards [m]
    7475: (-4.0, -4.0, -2.5),
    20276: (4.0, -4.0, -0.2),
    9524: (4.0, 4.0, -2.4),
    10548: (-4.0, 4.0, -0.3),
    15155: (0.0, 5.0, -1.5),
}
BIASES = {7475: -0.07, 20276: 0.15, 9524: -0.08, 10548: 0.14, 15155: -0.02}
ANTENNA = np.array([0.1, -0.025, 0.0])
DOWN = np.array([1.0, -1.0, -1.0])
START = 1_664_959_676  # [s]
IMU_RATE, RANGE_RATE, TRUTH_RATE = 84.0, 16.0, 50.0  # [Hz]
NOISE, LONG = 0.075, 3.0  # of ranges: deviation, and what one in thirty is too long [m]
H = 1e-4  # of differences [s]
Change = Callable[[float, np.random.Generator], float]  # a range [m] -> what is recorded of it


def pose(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places (K, 3) and attitudes (K, 4) of the unit in a level frame: it stands for a second, then walks."""
    s = np.maximum(t - 1.0, 0.0)
    s = np.where(s < 2.0, 0.25 * s * s, s - 1.0)
    p = np.stack([2.0 * np.sin(0.5 * s), 1.5 * np.sin(0.8 * s), 1.3 + 0.2 * np.sin(1.1 * s)], -1)
    tilt = np.stack([0.15 * np.sin(0.9 * s), 0.1 * np.sin(1.3 * s), np.zeros(len(t))], -1)
    yaw = np.stack([np.zeros(len(t)), np.zeros(len(t)), 2.0 + 0.4 * s], -1)
    return p, so3.multiply(so3.quaternion_exp(yaw), so3.quaternion_exp(tilt))


def samples(t: np.ndarray) -> np.ndarray:
    """Angular velocities and specific forces (K, 6) at times, with biases and white noise."""
    (before, q_0), (here, q), (after, q_1) = pose(t - H), pose(t), pose(t + H)
    w = so3.quaternion_log(so3.multiply(so3.conjugate(q_0), q_1)) / (2.0 * H)
    a_W = (after - 2.0 * here + before) / H**2 + [0.0, 0.0, 9.81]
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(len(t), 6)) * [0.01, 0.01, 0.01, 0.05, 0.05, 0.05]
    return (
        np.hstack([w, so3.rotate(so3.conjugate(q), a_W)])
        + [0.005, -0.004, 0.003, 0.1, -0.1, 0.15]
        + noise
    )


def mapping(folder: Path, **changes: Any) -> Path:
    """The YAML file that explains the bag."""
    tree = {
        "imu": "/imu",
        "ranges": {
            "topic": "/rtls_flares",
            "each": "ranges",
            "anchor": "id",
            "range": "range",
            "valid": "ra",
            "deviation": 0.1,
            "antenna": ANTENNA.tolist(),
        },
        "anchors": [
            {"id": one, "position": list(p), "bias": BIASES[one]} for one, p in ANCHORS.items()
        ],
        "up": "-z",
        "truth": {"topic": "/truth", "turned": True},
        **changes,
    }
    path = folder / "map.yaml"
    path.write_text(yaml.safe_dump({k: v for k, v in tree.items() if v is not None}))
    return path


def write_bag(folder: Path, duration: float, change: Change = lambda d, rng: d) -> Path:
    """The bag; ranges can be changed on their way into it."""
    bags = MadeBags(folder, ROS1, FIELDS)
    messages = sorted(_messages(bags, duration, change), key=lambda each: each[0])
    return bags.write_samples((BagSample(_ns(t), *rest) for t, *rest in messages), "walk")


def _ns(t: float) -> int:
    return round((START + t) * 1e9)


def _messages(
    bags: MadeBags, duration: float, change: Change
) -> list[tuple[float, str, str, Any]]:
    def header(t: float) -> Any:
        return bags.header(_ns(t), "")

    types, vector, quaternion = bags.store.types, bags.xyz, bags.quaternion
    out = []
    t = np.arange(0.0, duration, 1.0 / IMU_RATE)
    for each, row in zip(t, samples(t), strict=True):
        imu = types["sensor_msgs/msg/Imu"](
            header(each),
            quaternion((0.0, 0.0, 0.0, 1.0)),
            np.full(9, -1.0),
            vector(row[:3]),
            np.zeros(9),
            vector(row[3:]),
            np.zeros(9),
        )
        out.append((each, "/imu", "sensor_msgs/msg/Imu", imu))
    rng = np.random.default_rng(5)
    t = np.arange(0.01, duration, 1.0 / RANGE_RATE)
    p, q = pose(t)
    tags = p + so3.rotate(q, np.broadcast_to(ANTENNA, p.shape))
    for each, tag in zip(t, tags, strict=True):
        found = [_range(types, one, tag, rng, change) for one in ANCHORS]
        out.append((each, "/rtls_flares", STICK, types[STICK](header(each), 1, found)))
    t = np.arange(0.0, duration, 1.0 / TRUTH_RATE)
    p, q = pose(t)
    turn = so3.quaternion_exp(np.array([2.2, 1.9, 0.3]))
    p, q = (
        so3.rotate(np.broadcast_to(turn, q.shape), p),
        so3.multiply(np.broadcast_to(turn, q.shape), q),
    )
    for each, place, attitude in zip(t, p, q, strict=True):
        transform = types["geometry_msgs/msg/Transform"](vector(place), quaternion(attitude))
        kind = "geometry_msgs/msg/TransformStamped"
        out.append((each, "/truth", kind, types[kind](header(each), "tracker", transform)))
    return out


def _range(
    types: Any, anchor: int, tag: np.ndarray, rng: np.random.Generator, change: Change
) -> Any:
    position = np.array(ANCHORS[anchor])
    d = np.linalg.norm(tag - DOWN * position) + BIASES[anchor] + NOISE * rng.standard_normal()
    d += LONG * (rng.random() < 1.0 / 30.0)
    point = types["geometry_msgs/msg/Point"](*map(float, position))
    return types[RANGE](anchor, point, float(change(d, rng)), int(rng.random() < 0.95))
