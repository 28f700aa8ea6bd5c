# SPDX-License-Identifier: BSD-3-Clause
"""Sensors mounted on vehicles or in the world, and when each takes a sample."""
