# SPDX-License-Identifier: BSD-3-Clause
"""ROS 2 nodes over the same core as the command line; no formula here."""
