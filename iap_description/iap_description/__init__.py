# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions: vehicles, worlds, states and the rotations and frames they are expressed in."""

__version__ = "0.5.0"
