# SPDX-License-Identifier: BSD-3-Clause
"""Inertial units, magnetometers, and the attitude filter on them."""
