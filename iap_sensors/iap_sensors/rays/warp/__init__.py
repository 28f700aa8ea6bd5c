# SPDX-License-Identifier: BSD-3-Clause
"""Rays of many worlds by NVIDIA Warp, an extra."""
