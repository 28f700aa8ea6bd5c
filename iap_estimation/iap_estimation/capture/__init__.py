# SPDX-License-Identifier: BSD-3-Clause
"""A filter of a motion capture and an inertial unit."""
