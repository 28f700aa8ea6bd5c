# SPDX-License-Identifier: BSD-3-Clause
"""Sensor readings as serialised ROS messages, written and read."""
