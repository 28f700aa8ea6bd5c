# SPDX-License-Identifier: BSD-3-Clause
"""ROS 2 nodes that fly policies."""
