# SPDX-License-Identifier: BSD-3-Clause
"""Sensors and a data set: a flight with inertial units and ranges, written as others write theirs.

You see the files of the data set, the rates of its sensors, and the noise that the gyroscopes show at rest.
Run it with: python examples/04_sensors_and_data_set.py
"""

import sys

import numpy as np

from iap_io.runs.run_folder import load_run
from iap_io.sensor_messages.sensor_reader import read_sensors
from iap_simulation import record

DURATION = 2.0 if "--quick" in sys.argv else 10.0  # [s]

# Sets of sensors have names: iap list sensors. Each of the three aircraft gets them.
result = record("hover", sensors="imu,uwb", duration=DURATION, seed=4)
print(f"folder: {result.folder}")
for path in sorted(result.folder.iterdir()):
    print(f"  {path.name}")

# The readings are in the bag, as ROS 2 messages. Every reading says where it comes from and when.
sensors = load_run(result.folder).meta.sensors
readings = {}
for reading in read_sensors(result.folder / "bag", sensors):
    readings.setdefault(reading.source.topic, []).append(reading)

for topic, values in sorted(readings.items()):
    times = [each.t for each in values]
    print(f"{topic}: {len(values)} readings, {(len(times) - 1) / (times[-1] - times[0]):.0f} Hz")

# Inertial readings have the measured values and the biases that were in them.
topic = next(name for name in readings if name.endswith("drone_1/imu"))
rates = np.array([each.w_WS_S for each in readings[topic]])
print(f"{topic}: gyroscope {np.degrees(rates.std(axis=0).max()):.3f} deg/s standard deviation")
