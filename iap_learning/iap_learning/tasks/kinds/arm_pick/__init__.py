# SPDX-License-Identifier: BSD-3-Clause
"""A platform's arm takes a loose object with its gripper, carries it and sets it down at a place."""
