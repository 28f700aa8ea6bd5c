# SPDX-License-Identifier: BSD-3-Clause
"""Constants of the Earth, for where a scenario's world gives no others."""

GRAVITY = 9.81  # along -z of `map` [m/s^2]
