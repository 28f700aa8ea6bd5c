# SPDX-License-Identifier: BSD-3-Clause
"""Bytes: serialised messages, bags, data sets, trajectories and run folders; the base of ROS nodes."""
