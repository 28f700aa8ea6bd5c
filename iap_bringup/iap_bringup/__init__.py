# SPDX-License-Identifier: BSD-3-Clause
"""All of it together: plant, loop, scenarios, recording, replay, command line and ROS nodes."""
