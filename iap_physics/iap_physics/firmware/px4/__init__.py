# SPDX-License-Identifier: BSD-3-Clause
"""PX4 in lockstep with the physics: MAVLink messages, and the sensors that it flies by."""
