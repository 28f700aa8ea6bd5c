# SPDX-License-Identifier: BSD-3-Clause
"""Makes the sample recording that ships with the suite: a spiral in wind, commands and flight as two pose topics.

./iap run three_star_spiral --gains paper --set wind.speed=3 --set wind.turbulence=5 --out FLIGHT --no-plot
python tools/make_sample_flight.py FLIGHT iap_bringup/iap_bringup/data/sample_flight
"""

import sys
from pathlib import Path

import numpy as np
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from iap_io.runs.run_folder import load_run

RATE = 25  # [Hz]
POSE = "geometry_msgs/msg/PoseStamped"


def main(run: Path, out: Path) -> None:
    """Write the poses of a run's reference and platform at RATE."""
    store = get_typestore(Stores.ROS2_JAZZY)
    vehicle = load_run(run).vehicles[0]
    columns = vehicle.columns
    ticks = np.arange(0, len(columns.t), round(1.0 / (RATE * (columns.t[1] - columns.t[0]))))
    topics = {
        "/reference/pose": columns.reference[ticks, :7],
        "/actual/pose": columns.x[ticks, 0, :7],
    }
    with Writer(out, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connections = {name: writer.add_connection(name, POSE, typestore=store) for name in topics}
        for i, t in enumerate(columns.t[ticks]):
            for name, poses in topics.items():
                stamp = round(1e9 * t)
                message = _pose(store, stamp, poses[i])
                writer.write(connections[name], stamp, store.serialize_cdr(message, POSE))


def _pose(store, stamp: int, pose: np.ndarray):  # noqa: ANN001, ANN202 - rosbags makes the types at run time
    types = store.types
    position = types["geometry_msgs/msg/Point"](*map(float, pose[:3]))
    orientation = types["geometry_msgs/msg/Quaternion"](*map(float, pose[3:]))
    time = types["builtin_interfaces/msg/Time"](sec=stamp // 10**9, nanosec=stamp % 10**9)
    header = types["std_msgs/msg/Header"](stamp=time, frame_id="map")
    return types[POSE](
        header=header,
        pose=types["geometry_msgs/msg/Pose"](position=position, orientation=orientation),
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
