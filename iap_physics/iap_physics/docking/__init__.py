# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of aircraft that dock, many side by side: contact of probe and socket by their geometry, and the latch."""
