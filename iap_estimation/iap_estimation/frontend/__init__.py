# SPDX-License-Identifier: BSD-3-Clause
"""Tracks of points seen by a stereo pair: corners followed in time and from left to right."""
